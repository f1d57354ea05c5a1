import type { DeliveryState } from './delivery-state.ts'
import type { Probation } from './probation.ts'
import type { ProbationPolicy } from './probation-policy.ts'
import type { RetryPolicy } from './retry-policy.ts'
import { delayStepAfter, exhausted, verdictWhenDue } from './verdict.ts'
import type { Handling, Verdict } from './verdict.ts'

export interface Skipped {
  readonly verdict: Verdict
  readonly state: DeliveryState
}

/**
 * What becomes of a retry that falls due while its endpoint is on probation (design, "Tiers"; event-grid.md 3.4): it is
 * skipped once, until the later of its next step and the end of the probation plus a spread, so that not all of them
 * come at the same moment. `random` is a number in [0, 1). Limits that are reached at that moment come first.
 *
 * A probation that the event's own kind of failure caused, for which waiting is no help, ends its delivery at once.
 */
export function verdictOnProbation(
  state: DeliveryState,
  retry: RetryPolicy,
  handling: Handling,
  rest: { readonly probation: Probation; readonly policy: ProbationPolicy },
  now: number,
  random: number,
): Skipped {
  const over = verdictWhenDue(
    { attempts: countedAttempts(state, retry), expiryTime: state.expiryTime },
    retry,
    now,
    handling,
  )
  if (over !== null) return { verdict: over, state }
  const skipped: DeliveryState = { ...state, skips: state.skips + 1, lastOutcome: 'Probation' }
  if (rest.policy.clientErrors.has(rest.probation.cause)) {
    return { verdict: exhausted('UndeliverableDueToProbationCausedByClientError', handling), state: skipped }
  }
  const counted = countedAttempts(skipped, retry)
  const step = delayStepAfter(counted, retry)
  if (step === null || counted >= retry.maxAttempts) {
    return { verdict: exhausted('MaxDeliveryAttemptsExceeded', handling), state: skipped }
  }
  const { until, lengthMs } = rest.probation
  const nextStep = now + step.baseMs + random * step.spreadMs
  const dueAt = Math.ceil(Math.max(nextStep, until + random * spreadMs(lengthMs, retry.timeScale)))
  return { verdict: { kind: 'park', dueAt }, state: skipped }
}

/**
 * How many attempts count against the maximum, and which step comes next: in Event Grid's schedules those that were
 * skipped too (as Microsoft support describes it), elsewhere only the requests that were made.
 */
export function countedAttempts(
  { attempts, skips }: Pick<DeliveryState, 'attempts' | 'skips'>,
  retry: RetryPolicy,
): number {
  const { schedule } = retry
  return schedule === 'event-grid' || schedule === 'event-grid-kubernetes' ? attempts + skips : attempts
}

/** A tenth of the probation, at least 1 s and at most 1 min. */
function spreadMs(lengthMs: number, timeScale: number): number {
  return Math.min(Math.max(lengthMs / 10, 1_000 * timeScale), 60_000 * timeScale)
}
