import type { JsonText } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'
import type { Posted, Poster } from '@barnabas/webhook'
import { z } from 'zod'
import { smqMessage, smqRequest } from './smq-request.ts'
import type { LetterPosition } from './smq-request.ts'
import { accepted, refused, unavailable, withoutCredentials } from './target-write.ts'
import type { TargetWrite } from './target.ts'

const timeoutMs = 30_000

export interface SmqClientOptions {
  /** Scheme, host and port: `https://ACCOUNT.mns.REGION.aliyuncs.com`. */
  readonly endpoint: string
  readonly queue: string
  readonly credentials: AlibabaCredentials
  readonly poster: Poster
  /** ms since the epoch; Simple Message Queue refuses what is 15 minutes off. */
  readonly now: () => number
}

/** Writes dead letters into a queue of Simple Message Queue, formerly MNS (row B7). */
export interface SmqClient {
  /**
   * Makes one try. Never rejects. Whoever tries again after `unavailable` may write a letter twice: an answer that was
   * lost on its way looks the same as none.
   */
  write(letter: JsonText, position: LetterPosition, signal: AbortSignal): Promise<TargetWrite>
}

export function createSmqClient({ endpoint, queue, credentials, poster, now }: SmqClientOptions): SmqClient {
  return {
    async write(letter, position, signal) {
      const { path, headers, body } = smqRequest(smqMessage(letter, position), { queue, credentials, now: now() })
      return writeOf(await poster.post(endpoint + path, { headers, body, timeoutMs, signal }), credentials)
    },
  }
}

/**
 * Errors of Simple Message Queue that no retry mends, because they are about the message or because the queue is not
 * there. Every other one is about credentials, clock, load or the network, and goes by or is mended.
 */
const finalCodes = new Set([
  'InvalidArgument',
  'InvalidQueueName',
  'MalformedXML',
  'QueueNameLengthError',
  'QueueNotExist',
])

async function writeOf(posted: Posted, credentials: AlibabaCredentials): Promise<TargetWrite> {
  if (posted.kind === 'unanswered') return unavailable(posted.problem)
  const { status } = posted
  if (status >= 300 && status < 400) return unavailable(`answered ${status}; redirects are not followed`)
  const document = posted.isBodyCut ? undefined : await documentOf(posted.body)
  if (status === 201 && answerOfMessage.safeParse(document).success) return accepted
  const error = answerOfError.safeParse(document).data?.Error
  if (status < 400 || error === undefined) {
    return unavailable(`answered ${status}, and not as Simple Message Queue does`)
  }
  const text = withoutCredentials(error.Message, credentials)
  if (finalCodes.has(error.Code)) return refused(error.Code, text)
  return unavailable(`answered ${status} ${withoutCredentials(error.Code, credentials)}: ${text}`)
}

const answerOfMessage = z.object({ Message: z.object({ MessageId: z.string().min(1) }) })
const answerOfError = z.object({ Error: z.object({ Code: z.string().min(1), Message: z.string().catch('') }) })

/** Undefined for what is no XML. */
async function documentOf(body: string): Promise<unknown> {
  // The parser closes by itself what is left open.
  if (!/<\/(Message|Error)>\s*$/.test(body)) return undefined
  // Loaded by who has a queue: it would be a part of every start.
  const { XMLParser } = await import('fast-xml-parser')
  // No entities: an answer needs none but XML's own five, and those of a document type may grow without end.
  const parser = new XMLParser({ parseTagValue: false, processEntities: false })
  try {
    return parser.parse(body)
  } catch {
    return undefined
  }
}
