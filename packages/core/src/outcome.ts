/**
 * What an attempt came to: `Delivered`, one of Event Grid's `lastDeliveryOutcome` values (row A16), or
 * `GenericError`. The names go on the wire as they stand.
 */
export const outcomes = [
  'Delivered',
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'PayloadTooLarge',
  'NotFound',
  'TimedOut',
  'Busy',
  'GenericError',
  'ResolutionError',
  'SocketError',
  'Canceled',
  'Probation',
] as const

export type Outcome = (typeof outcomes)[number]

/** One attempt, reported as a value by whoever made it. Times are ms since the epoch. */
export interface AttemptResult {
  readonly outcome: Outcome
  /** The HTTP status, null when no answer head arrived. */
  readonly status: number | null
  /** One line of at most 1 KiB without secrets, null for a success. */
  readonly error: string | null
  /** The first 1 KiB of the answer's body as it arrived, null when there was none. */
  readonly responseBody: Buffer | null
  readonly startedAt: number
  /** When the outcome was known; for a time-out the deadline. Delays count from here. */
  readonly endedAt: number
  /** The moment that a `Retry-After` on 429 or 503 named; absent without one that can be read. */
  readonly retryAfter?: number
  /** A `ResolutionError` of an address that may not be gone to: `error` names it, and what allows it. */
  readonly forbiddenAddress?: true
}

/** What an attempt is reported as; one that its deadline ended may bring an answer yet (design, promise 2). */
export interface AttemptReport extends AttemptResult {
  /** Resolves with what was answered late, or null when nothing was within its time (row A7). Never rejects. */
  readonly lateAnswer?: Promise<AttemptResult | null>
  /** It was no attempt: no request can be built, and `error` says why (`verdictWithoutRequest`). */
  readonly isNoRequest?: true
}

/** The outcome that an HTTP status stands for: rows A16 and A18 (success is exactly 200–204). */
export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status <= 204) return 'Delivered'
  switch (status) {
    case 400:
      return 'BadRequest'
    case 401:
      return 'Unauthorized'
    case 403:
      return 'Forbidden'
    case 413:
      return 'PayloadTooLarge'
    case 404:
    case 410:
      return 'NotFound'
    case 408:
      return 'TimedOut'
    case 429:
    case 503:
      return 'Busy'
    default:
      return 'GenericError'
  }
}
