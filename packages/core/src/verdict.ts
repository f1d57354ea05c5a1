import type { AttemptResult } from './outcome.ts'
import type { DelayStep, EndpointKind, RetryPolicy } from './retry-policy.ts'

/**
 * What happens to an event next. Decided here as a value, carried out in one place for dispatcher and retrier
 * alike. Times are ms since the epoch.
 */
export type Verdict =
  | { readonly kind: 'done' }
  /** Attempt again at `dueAt`; until then the event waits in a tier. */
  | { readonly kind: 'retry'; readonly dueAt: number }
  /** Wait until `dueAt` without counting an attempt. */
  | { readonly kind: 'park'; readonly dueAt: number }
  /**
   * Due, but not to be attempted now: the event leaves the tier, which all subscriptions share, for the topic of its
   * own subscription, uncounted. `stopped`: the subscription rests, and its time to live stands still meanwhile.
   * `rate`: its requests are limited, and take their turns there.
   */
  | { readonly kind: 'hold'; readonly because: 'window-full' | 'rate' | 'stopped'; readonly dueAt: number }
  /** Attempt again at `dueAt`; until then the event stays where it is, and its partition waits for it. */
  | { readonly kind: 'retry-in-place'; readonly dueAt: number }
  /** Stop the subscription at this event. */
  | { readonly kind: 'block'; readonly reason: DeadLetterReason }
  | { readonly kind: 'dead-letter'; readonly reason: DeadLetterReason }
  /** Exhausted, and dead-lettering is off: counted and gone. */
  | { readonly kind: 'drop'; readonly reason: DeadLetterReason }

/** Why an event is not attempted again; the names go on the wire as they stand. */
export const deadLetterReasons = [
  'MaxDeliveryAttemptsExceeded',
  'TimeToLiveExceeded',
  'UndeliverableDueToHttpBadRequest',
  'UndeliverableDueToHttpUnauthorized',
  'UndeliverableDueToHttpForbidden',
  'UndeliverableDueToHttpRequestEntityTooLarge',
  'UndeliverableDueToHttpGone',
  'UndeliverableDueToHttpStatus',
  'UndeliverableDueToProbationCausedByClientError',
  'DestinationInvalid',
  'EventMalformed',
  'DeliveryMetadataMalformed',
  'RecordTooLarge',
  'SubscriptionDeleted',
  'SkippedByOperator',
] as const

export type DeadLetterReason = (typeof deadLetterReasons)[number]

/** How a subscription wants exhaustion and waiting handled. */
export interface Handling {
  /** `allowed`: go on without the event. `prohibited`: stop at it. */
  readonly faultTolerance: 'allowed' | 'prohibited'
  /** Whether exhausted events become dead letters (else they are dropped). */
  readonly deadLettering: boolean
  /** Whether a waiting event leaves its partition (`none`) or holds it (`key`, `partition`). */
  readonly order: 'none' | 'key' | 'partition'
}

/**
 * The verdict right after an attempt. `attempts` counts it (1 after the first). The number of attempts is checked
 * here, the time to live only when the next attempt falls due (`verdictWhenDue`, row A10).
 *
 * `random` is a number in [0, 1): the share of the step's randomness that this wait gets.
 */
export function verdictAfterAttempt(
  result: AttemptResult,
  attempts: number,
  policy: RetryPolicy,
  handling: Handling,
  random: number,
): Verdict {
  if (result.outcome === 'Delivered') return { kind: 'done' }
  if (result.status !== null && policy.neverOn.has(result.status)) {
    return exhausted(reasonOfStatus(result.status), handling)
  }
  const delayMs = delayAfter(attempts, result, policy, random)
  if (delayMs === null || attempts >= policy.maxAttempts) return exhausted('MaxDeliveryAttemptsExceeded', handling)
  const inPlace = handling.faultTolerance === 'prohibited' || handling.order !== 'none'
  return { kind: inPlace ? 'retry-in-place' : 'retry', dueAt: Math.ceil(result.endedAt + delayMs) }
}

/** The verdict when an attempt falls due, or null when it may be made. `expiryTime` is null without a time to live. */
export function verdictWhenDue(
  { attempts, expiryTime }: { readonly attempts: number; readonly expiryTime: number | null },
  policy: Pick<RetryPolicy, 'maxAttempts'>,
  now: number,
  handling: Handling,
): Verdict | null {
  // A revision may have lowered the maximum while the event was parked, and no number ever passes it.
  if (attempts >= policy.maxAttempts) return exhausted('MaxDeliveryAttemptsExceeded', handling)
  if (expiryTime !== null && now >= expiryTime) return exhausted('TimeToLiveExceeded', handling)
  return null
}

/** The gap after the n-th attempt in ms, counted from the moment its outcome was known; null when the schedule ends. */
function delayAfter(attempts: number, result: AttemptResult, policy: RetryPolicy, random: number): number | null {
  const step = delayStepAfter(attempts, policy)
  if (step === null) return null
  const minimumMs = policy.minimumWaits ? minimumWaitMs(result.status, policy.endpoint) * policy.timeScale : 0
  return Math.max(step.baseMs, minimumMs) + random * step.spreadMs
}

/** The schedule's step after the n-th attempt, null when it has ended. */
export function delayStepAfter(attempts: number, policy: RetryPolicy): DelayStep | null {
  return policy.delays[attempts - 1] ?? (policy.repeatLast ? policy.delays.at(-1) : undefined) ?? null
}

/** Row A19: how long Event Grid waits at least after a status; 10 s also when there was none. */
function minimumWaitMs(status: number | null, endpoint: EndpointKind): number {
  switch (status) {
    case 401:
    case 404:
      return endpoint === 'azure' ? 300_000 : 10_000
    case 408:
      return 120_000
    case 503:
      return 30_000
    default:
      return 10_000
  }
}

/** What becomes of an event that is not attempted again. */
export function exhausted(reason: DeadLetterReason, handling: Handling): Verdict {
  if (handling.faultTolerance === 'prohibited') return { kind: 'block', reason }
  return { kind: handling.deadLettering ? 'dead-letter' : 'drop', reason }
}

/** Rows A4 and A13: the reason of an event that its status forbids to retry. */
function reasonOfStatus(status: number): DeadLetterReason {
  switch (status) {
    case 400:
      return 'UndeliverableDueToHttpBadRequest'
    case 401:
      return 'UndeliverableDueToHttpUnauthorized'
    case 403:
      return 'UndeliverableDueToHttpForbidden'
    case 410:
      return 'UndeliverableDueToHttpGone'
    case 413:
      return 'UndeliverableDueToHttpRequestEntityTooLarge'
    default:
      return 'UndeliverableDueToHttpStatus'
  }
}
