import type { JsonText } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'
import type { Posted, Poster } from '@barnabas/webhook'
import { XMLParser } from 'fast-xml-parser'
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

function writeOf(posted: Posted, credentials: AlibabaCredentials): TargetWrite {
  if (posted.kind === 'unanswered') return unavailable(posted.problem)
  const { status } = posted
  if (status >= 300 && status < 400) return unavailable(`answered ${status}; redirects are not followed`)
  const { message, error } = posted.isBodyCut ? nothing : documentOf(posted.body)
  if (status === 201 && message !== null) return accepted
  if (status < 400 || error === null) return unavailable(`answered ${status}, and not as Simple Message Queue does`)
  const text = withoutCredentials(error.message, credentials)
  if (finalCodes.has(error.code)) return refused(error.code, text)
  return unavailable(`answered ${status} ${withoutCredentials(error.code, credentials)}: ${text}`)
}

interface SmqDocument {
  readonly message: { readonly id: string } | null
  readonly error: { readonly code: string; readonly message: string } | null
}

const nothing: SmqDocument = { message: null, error: null }

// No entities: an answer needs none but XML's own five, and those of a document type may grow without end.
const parser = new XMLParser({ parseTagValue: false, processEntities: false })

function documentOf(body: string): SmqDocument {
  // The parser closes by itself what is left open.
  if (!/<\/(Message|Error)>\s*$/.test(body)) return nothing
  let read: unknown
  try {
    read = parser.parse(body)
  } catch {
    return nothing
  }
  const message = memberOf(read, 'Message')
  const error = memberOf(read, 'Error')
  const id = textOf(message, 'MessageId')
  const code = textOf(error, 'Code')
  return {
    message: id === '' ? null : { id },
    error: code === '' ? null : { code, message: textOf(error, 'Message') },
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function textOf(value: unknown, name: string): string {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : ''
}
