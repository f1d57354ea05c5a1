import { describe, expect, test } from 'vitest'
import { newDeliveryState } from './delivery-state.ts'
import type { Outcome } from './outcome.ts'
import { probationPolicyOf } from './probation-policy.ts'
import { countedAttempts, verdictOnProbation } from './probation-skip.ts'
import { retryPolicyOf } from './retry-policy.ts'
import type { RetrySpec } from './retry-policy.ts'

const handling = { faultTolerance: 'allowed', order: 'none', deadLettering: true } as const
const policy = probationPolicyOf({}, 1)
const now = 1_000_000

function state(attempts: number, skips = 0) {
  const fresh = newDeliveryState({ id: 'a', generation: 1 }, { topic: 'orders', partition: 0, offset: 0 }, 0)
  return {
    ...fresh,
    attempts,
    skips,
    lastOutcome: 'Busy',
    lastStatus: 503,
    lastError: 'busy',
    lastAttemptTime: 5,
  } as const
}

function rest(untilIn: number, cause: Outcome = 'Busy', lengthMs = 10_000) {
  return { probation: { cause, failingSince: 1, since: 2, until: now + untilIn, lengthMs }, policy }
}

function skip(attempts: number, skips: number, spec: RetrySpec, given = rest(4_000), random = 0) {
  return verdictOnProbation(state(attempts, skips), retryPolicyOf(spec, 1), handling, given, now, random)
}

const list: RetrySpec = { schedule: { delaysMs: [1_000, 20_000], repeatLast: false } }

describe('A8, A12: a retry that falls due on probation', () => {
  test('is skipped, counted, and keeps what its last attempt came to', () => {
    const skipped = skip(1, 0, { schedule: 'event-grid' })
    expect(skipped.state).toEqual({ ...state(1), skips: 1, lastOutcome: 'Probation' })
    // 30 s: the second step of the schedule.
    expect(skipped.verdict).toEqual({ kind: 'park', dueAt: now + 30_000 })
  })

  test('waits until the later of its next step and the end plus a spread', () => {
    expect(skip(1, 0, { schedule: 'event-grid' }, rest(45_000)).verdict).toEqual({ kind: 'park', dueAt: now + 45_000 })
    // The spread is a tenth of the probation, at least 1 s and at most 1 min.
    const due = (lengthMs: number) => skip(1, 0, list, rest(45_000, 'Busy', lengthMs), 0.5).verdict
    expect(due(10_000)).toEqual({ kind: 'park', dueAt: now + 45_500 })
    expect(due(60_000)).toEqual({ kind: 'park', dueAt: now + 48_000 })
    expect(due(10_800_000)).toEqual({ kind: 'park', dueAt: now + 75_000 })
  })

  test("in Event Grid's schedules the next step is the next one and skips count against the maximum", () => {
    expect(countedAttempts({ attempts: 3, skips: 2 }, retryPolicyOf({ schedule: 'event-grid' }, 1))).toBe(5)
    expect(countedAttempts({ attempts: 3, skips: 2 }, retryPolicyOf({ schedule: 'event-grid-kubernetes' }, 1))).toBe(5)
    expect(skip(1, 1, { schedule: 'event-grid', maxAttempts: 3 })).toMatchObject({
      verdict: { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' },
      state: { attempts: 1, skips: 2, lastOutcome: 'Probation' },
    })
    expect(skip(1, 2, { schedule: 'event-grid', maxAttempts: 3 })).toMatchObject({
      verdict: { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' },
      state: { skips: 2 },
    })
  })

  test('elsewhere it is the same step once more, and no skip counts', () => {
    expect(countedAttempts({ attempts: 3, skips: 2 }, retryPolicyOf(list, 1))).toBe(3)
    expect(skip(2, 50, list).verdict).toEqual({ kind: 'park', dueAt: now + 20_000 })
  })

  test.each(['Unauthorized', 'Forbidden', 'BadRequest', 'PayloadTooLarge'] as const)(
    'A17: one caused by %s gives it up without an attempt',
    (cause) => {
      const given = skip(2, 0, list, rest(1, cause))
      expect(given.verdict).toEqual({ kind: 'dead-letter', reason: 'UndeliverableDueToProbationCausedByClientError' })
      expect(given.state).toMatchObject({ attempts: 2, skips: 1, lastOutcome: 'Probation', lastStatus: 503 })
      const dropping = { ...handling, deadLettering: false }
      const dropped = verdictOnProbation(state(2), retryPolicyOf(list, 1), dropping, rest(1, cause), now, 0)
      expect(dropped.verdict.kind).toBe('drop')
    },
  )

  test('which causes do so is a setting', () => {
    const own = { ...rest(1, 'Unauthorized'), policy: probationPolicyOf({ clientErrors: ['NotFound'] }, 1) }
    expect(verdictOnProbation(state(2), retryPolicyOf(list, 1), handling, own, now, 0).verdict.kind).toBe('park')
    const gone = { ...own, probation: { ...own.probation, cause: 'NotFound' as const } }
    expect(verdictOnProbation(state(2), retryPolicyOf(list, 1), handling, gone, now, 0).verdict.kind).toBe(
      'dead-letter',
    )
  })

  test('A10: a time to live that is over comes first', () => {
    const over = { ...state(1), expiryTime: now }
    expect(verdictOnProbation(over, retryPolicyOf(list, 1), handling, rest(1, 'Unauthorized'), now, 0)).toEqual({
      verdict: { kind: 'dead-letter', reason: 'TimeToLiveExceeded' },
      state: over,
    })
  })
})
