import type { JsonText } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'
import type { Posted, Poster } from '@barnabas/webhook'
import { z } from 'zod'
import { busCalls, busEvent, busLimits, busRequest } from './bus-request.ts'
import { accepted, inTurn, refused, unavailable, withoutCredentials } from './target-write.ts'
import type { TargetWrite } from './target.ts'

const timeoutMs = 30_000

export interface BusClientOptions {
  /** Scheme, host and port: `https://ACCOUNT.eventbridge.REGION.aliyuncs.com`. */
  readonly endpoint: string
  readonly bus: string
  readonly credentials: AlibabaCredentials
  readonly poster: Poster
  /** ms since the epoch. */
  readonly now: () => number
  /** Another text each time. */
  readonly nonce: () => string
}

/** Writes dead letters to another event bus of EventBridge (row B7). */
export interface BusClient {
  /**
   * Makes one try for each event, in as few calls as EventBridge allows, one after the other; the results stand in the
   * order of the events. Events of a call that is refused as a whole are tried one by one, so that the one that is at
   * fault takes none with it. Never rejects. Whoever tries again after `unavailable` may write an event twice: an answer
   * that was lost on its way looks the same as none.
   */
  put(events: readonly JsonText[], signal: AbortSignal): Promise<readonly TargetWrite[]>
}

export function createBusClient({ endpoint, bus, credentials, poster, now, nonce }: BusClientOptions): BusClient {
  async function call(events: readonly JsonText[], signal: AbortSignal): Promise<readonly TargetWrite[]> {
    const { path, headers, body } = busRequest(events, { credentials, now: now(), nonce: nonce() })
    const posted = await poster.post(endpoint + path, { headers, body, timeoutMs, signal })
    const results = resultsOf(posted, events.length, credentials)
    if (events.length === 1 || results[0]?.kind !== 'refused' || isPerEntry(posted)) return results
    return inTurn(
      events.map((event) => [event]),
      (single) => call(single, signal),
    )
  }

  return {
    async put(events, signal) {
      const sized = events.map((event) => busEvent(event, bus))
      const written = await inTurn(busCalls(sized.filter(fits)), (part) => call(part, signal))
      const next = written.values()
      return sized.map((event) => (fits(event) ? (next.next().value ?? unavailable('not tried')) : tooLarge(event)))
    },
  }
}

const fits = (event: JsonText): boolean => event.length <= busLimits.eventBytesMax

function tooLarge({ length }: JsonText): TargetWrite {
  return refused(
    'EventTooLarge',
    `the event has ${length} bytes, more than the ${busLimits.eventBytesMax} of an event bus`,
  )
}

const entry = z.object({ ErrorCode: z.string().nullish(), ErrorMessage: z.string().nullish() })
const answerOfEntries = z.object({ FailedEntryCount: z.int(), EntryList: z.array(entry) })
const answerOfError = z.object({ code: z.string().min(1), message: z.string().optional() })

/** An error of these is not about the event: the credentials, the load, the service. It goes by, or is mended. */
const passingCodes =
  /access|auth|signature|credential|token|throttl|toomany|limit|internal|unavailable|busy|timeout|notenable/i

const isPerEntry = (posted: Posted): boolean => posted.kind === 'answered' && posted.status < 400

function resultsOf(posted: Posted, count: number, credentials: AlibabaCredentials): readonly TargetWrite[] {
  const all = (result: TargetWrite) => Array<TargetWrite>(count).fill(result)
  if (posted.kind === 'unanswered') return all(unavailable(posted.problem))
  const { status } = posted
  if (status >= 300 && status < 400) return all(unavailable(`answered ${status}; redirects are not followed`))
  const body = posted.isBodyCut ? undefined : jsonOf(posted.body)
  const strange = () => all(unavailable(`answered ${status}, and not as EventBridge does`))
  if (status >= 400) {
    const error = answerOfError.safeParse(body).data
    if (error === undefined) return strange()
    return all(failure(status, error.code, error.message ?? '', credentials))
  }
  const answer = answerOfEntries.safeParse(body).data
  if (status !== 200 || answer === undefined) return strange()
  const failed = answer.EntryList.filter(({ ErrorCode }) => isSaid(ErrorCode)).length
  // What does not add up says of no event that it was accepted.
  if (answer.EntryList.length !== count || failed !== answer.FailedEntryCount) return strange()
  return answer.EntryList.map(({ ErrorCode, ErrorMessage }) =>
    isSaid(ErrorCode) ? failure(status, ErrorCode, ErrorMessage ?? '', credentials) : accepted,
  )
}

const isSaid = (text: string | null | undefined): text is string => typeof text === 'string' && text !== ''

function failure(status: number, code: string, message: string, credentials: AlibabaCredentials): TargetWrite {
  const text = withoutCredentials(message, credentials)
  const name = withoutCredentials(code, credentials)
  const isPassing = status === 401 || status === 403 || status === 429 || status >= 500 || passingCodes.test(code)
  return isPassing ? unavailable(`answered ${status} ${name}: ${text}`) : refused(name, text)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
