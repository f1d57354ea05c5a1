import type { AttemptResult, Outcome } from './outcome.ts'
import type { RetryPolicy } from './retry-policy.ts'

/** Where an event came from: its position on a source topic. */
export interface SourcePosition {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/**
 * What is known about the delivery of one event to one subscription. It travels in headers with the event, so
 * that a crash or a rebalance never resets it. Times are ms since the epoch.
 */
export interface DeliveryState {
  readonly subscriptionId: string
  readonly generation: number
  readonly source: SourcePosition
  /** Timestamp of the source record. */
  readonly publishTime: number
  /** Requests made since publication or the last redrive. */
  readonly attempts: number
  readonly firstAttemptTime: number | null
  readonly lastAttemptTime: number | null
  /** When the time to live ends; null without one, or before the first attempt. */
  readonly expiryTime: number | null
  readonly lastOutcome: Outcome | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  /** Attempts that were skipped because the endpoint was on probation. */
  readonly skips: number
  /** How often the event was sent again; 0 for never. */
  readonly redrives: number
  /** Writes of this event to tiers so far. */
  readonly hops: number
}

/** The state of an event that was just read from its source topic: nothing was attempted yet. */
export function newDeliveryState(
  subscription: { readonly id: string; readonly generation: number },
  source: SourcePosition,
  publishTime: number,
): DeliveryState {
  return {
    subscriptionId: subscription.id,
    generation: subscription.generation,
    source,
    publishTime,
    attempts: 0,
    firstAttemptTime: null,
    lastAttemptTime: null,
    expiryTime: null,
    lastOutcome: null,
    lastStatus: null,
    lastError: null,
    skips: 0,
    redrives: 0,
    hops: 0,
  }
}

/** The state after one more attempt. The time to live begins with the first attempt (interface, `barnabas-expiry-time`). */
export function afterAttempt(state: DeliveryState, result: AttemptResult, policy: RetryPolicy): DeliveryState {
  // After damage the time of an earlier first attempt may be unknown, and stays so.
  const firstAttemptTime = state.attempts === 0 ? result.startedAt : state.firstAttemptTime
  const timeToLiveBegins = firstAttemptTime ?? result.startedAt
  return {
    ...state,
    attempts: state.attempts + 1,
    firstAttemptTime,
    lastAttemptTime: result.startedAt,
    expiryTime: state.expiryTime ?? (policy.timeToLiveMs === null ? null : timeToLiveBegins + policy.timeToLiveMs),
    lastOutcome: result.outcome,
    lastStatus: result.status,
    lastError: result.error,
  }
}
