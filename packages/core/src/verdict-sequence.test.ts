import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRetryHeaders, retryHeaders } from './delivery-headers.ts'
import { afterAttempt, newDeliveryState } from './delivery-state.ts'
import { outcomeOfStatus } from './outcome.ts'
import { retryPolicyOf, retryPresets } from './retry-policy.ts'
import type { RetryPolicy, RetrySpec } from './retry-policy.ts'
import { verdictAfterAttempt, verdictWhenDue } from './verdict.ts'
import type { Handling, Verdict } from './verdict.ts'

// Whole lives of an event, from its first attempt to its end. Between two attempts what is known about it goes
// through headers, as it does through a tier.

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const begin = Date.parse('2026-03-01T12:00:00.000Z')
const handling: Handling = { faultTolerance: 'allowed', deadLettering: true, order: 'none' }

interface Receiver {
  /** The status of the n-th attempt (from 1); null for none at all. */
  readonly status?: (attemptNumber: number) => number | null
  /** How long an attempt takes. */
  readonly attemptMs?: number
  readonly random?: () => number
  /** When the event was published, by its producer's clock. */
  readonly published?: number
}

interface Life {
  /** Seconds from the first attempt to each attempt. */
  readonly attemptsAt: number[]
  readonly end: Verdict
  /** Seconds from the first attempt to the end. */
  readonly endsAt: number
}

function live(policy: RetryPolicy, receiver: Receiver = {}): Life {
  const { status = () => 500, attemptMs = 0, random = () => 0, published = begin - 5 } = receiver
  const attemptsAt: number[] = []
  const position = { topic: 'orders', partition: 3, offset: 42 }
  let state = newDeliveryState({ id: 'orders-to-billing', generation: 1 }, position, published)
  let now = begin
  for (;;) {
    const late = verdictWhenDue(state, policy, now, handling)
    if (late !== null) return { attemptsAt, end: late, endsAt: (now - begin) / second }
    attemptsAt.push((now - begin) / second)
    if (attemptsAt.length > 1_000) throw new Error('it never ends')
    const answer = status(attemptsAt.length)
    const outcome = answer === null ? 'TimedOut' : outcomeOfStatus(answer)
    const result = {
      outcome,
      status: answer,
      error: null,
      responseBody: null,
      startedAt: now,
      endedAt: now + attemptMs,
    }
    state = afterAttempt(state, result, policy)
    expect(state).toMatchObject({ attempts: attemptsAt.length, firstAttemptTime: begin, lastAttemptTime: now })
    const verdict = verdictAfterAttempt(result, state.attempts, policy, handling, random())
    if (verdict.kind !== 'retry') return { attemptsAt, end: verdict, endsAt: (result.endedAt - begin) / second }

    const decoded = decodeRetryHeaders(retryHeaders({}, { ...state, hops: state.hops + 1 }, verdict.dueAt))
    if (decoded.kind !== 'state') throw new Error(decoded.message)
    state = decoded.state
    now = decoded.dueAt
  }
}

const attemptsExceeded = { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' }
const timeToLiveExceeded = { kind: 'dead-letter', reason: 'TimeToLiveExceeded' }
const eventGridAttempts = [0, 10, 40, 100, 400, 1_000, 2_800, 6_400, 17_200, 38_800, 82_000]

interface Case {
  readonly title: string
  readonly spec: RetrySpec
  readonly receiver?: Receiver
  readonly attemptsAt: readonly number[]
  readonly end: object
  readonly endsAt: number
}

const cases: readonly Case[] = [
  {
    title: 'A6, A10: event-grid makes 11 attempts and dead-letters when the 12th falls due',
    spec: { schedule: 'event-grid' },
    attemptsAt: eventGridAttempts,
    end: timeToLiveExceeded,
    endsAt: 125_200,
  },
  {
    title: 'A9: 10 attempts within 30 minutes are 6 attempts',
    spec: { schedule: 'event-grid', maxAttempts: 10, timeToLiveMs: 30 * minute },
    attemptsAt: eventGridAttempts.slice(0, 6),
    end: timeToLiveExceeded,
    endsAt: 2_800,
  },
  {
    title: 'A9: 4 attempts end right after the fourth',
    spec: { schedule: 'event-grid', maxAttempts: 4 },
    attemptsAt: eventGridAttempts.slice(0, 4),
    end: attemptsExceeded,
    endsAt: 100,
  },
  {
    title: 'A9: a single attempt',
    spec: { schedule: 'event-grid', maxAttempts: 1 },
    attemptsAt: [0],
    end: attemptsExceeded,
    endsAt: 0,
  },
  {
    title: 'A10: a time to live of a minute still lets the attempts that fall due within it be made',
    spec: { schedule: 'event-grid', timeToLiveMs: minute },
    attemptsAt: [0, 10, 40],
    end: timeToLiveExceeded,
    endsAt: 100,
  },
  {
    title: 'A3: success ends it',
    spec: { schedule: 'event-grid' },
    receiver: { status: (attemptNumber) => (attemptNumber === 4 ? 204 : 500) },
    attemptsAt: eventGridAttempts.slice(0, 4),
    end: { kind: 'done' },
    endsAt: 100,
  },
  {
    title: 'A4, A13: a status that is not retried ends it at once, also later',
    spec: { schedule: 'event-grid' },
    receiver: { status: (attemptNumber) => (attemptNumber === 3 ? 410 : 500) },
    attemptsAt: [0, 10, 40],
    end: { kind: 'dead-letter', reason: 'UndeliverableDueToHttpGone' },
    endsAt: 40,
  },
  {
    title: 'A19: 408 waits at least 2 minutes, 503 at least 30 seconds',
    spec: { schedule: 'event-grid', maxAttempts: 5 },
    receiver: { status: (attemptNumber) => [408, 503, 503, 408, 500][attemptNumber - 1]! },
    attemptsAt: [0, 120, 150, 210, 510],
    end: attemptsExceeded,
    endsAt: 510,
  },
  {
    title: 'A5: the time of an attempt comes on top of the delay',
    spec: { schedule: 'event-grid', maxAttempts: 4 },
    receiver: { status: () => null, attemptMs: 30 * second },
    attemptsAt: [0, 40, 100, 190],
    end: attemptsExceeded,
    endsAt: 220,
  },
  {
    title: 'A8: with half of the randomness',
    spec: { schedule: 'event-grid', maxAttempts: 6 },
    receiver: { random: () => 0.5 },
    attemptsAt: [0, 10.5, 42, 105, 410, 1_015],
    end: attemptsExceeded,
    endsAt: 1_015,
  },
  {
    title: 'A8: with all of the randomness there are 11 attempts still',
    spec: { schedule: 'event-grid' },
    receiver: { random: () => 1 - 2 ** -53 },
    attemptsAt: [0, 11, 44, 110, 420, 1_030, 2_840, 6_450, 17_260, 38_870, 82_080],
    end: timeToLiveExceeded,
    endsAt: 125_290,
  },
  {
    title: 'C3: kubernetes tries after a minute, then every ten, 30 times',
    spec: { schedule: 'event-grid-kubernetes' },
    attemptsAt: [0, ...Array.from({ length: 29 }, (_, index) => 60 + 600 * index)],
    end: attemptsExceeded,
    endsAt: 16_860,
  },
  {
    title: 'C4: kubernetes within two hours',
    spec: { schedule: 'event-grid-kubernetes', timeToLiveMs: 2 * hour },
    attemptsAt: [0, ...Array.from({ length: 12 }, (_, index) => 60 + 600 * index)],
    end: timeToLiveExceeded,
    endsAt: 7_260,
  },
  {
    title: 'C2: kubernetes retries even what a webhook refuses for good',
    spec: { schedule: 'event-grid-kubernetes', maxAttempts: 3 },
    receiver: { status: () => 400 },
    attemptsAt: [0, 60, 660],
    end: attemptsExceeded,
    endsAt: 660,
  },
  ...[[0, [0, 10, 20, 30]] as const, [0.5, [0, 15, 30, 45]] as const, [1 - 2 ** -53, [0, 20, 40, 60]] as const].map(
    ([random, attemptsAt]) => ({
      title: `B1: backoff makes 3 retries after 10–20 s (random ${random.toFixed(3)})`,
      spec: { schedule: 'backoff' } as const,
      receiver: { random: () => random },
      attemptsAt,
      end: attemptsExceeded,
      endsAt: attemptsAt[3],
    }),
  ),
  {
    title: 'B1: MaximumRetryAttempts ends backoff before its own three retries',
    spec: { schedule: 'backoff', maxAttempts: 3, timeToLiveMs: 10 * minute },
    attemptsAt: [0, 10, 20],
    end: attemptsExceeded,
    endsAt: 20,
  },
  {
    title: 'B1: MaximumEventAgeInSeconds ends backoff when the next attempt would fall due',
    spec: { schedule: 'backoff', maxAttempts: 4, timeToLiveMs: 25 * second },
    attemptsAt: [0, 10, 20],
    end: timeToLiveExceeded,
    endsAt: 30,
  },
  {
    title: 'B1: backoff by itself ends by its attempts, however long they take',
    spec: { schedule: 'backoff' },
    receiver: { status: () => null, attemptMs: 10 * minute },
    attemptsAt: [0, 610, 1_220, 1_830],
    end: attemptsExceeded,
    endsAt: 2_430,
  },
  {
    title: 'B1: backoff retries what a webhook refuses for good, too',
    spec: { schedule: 'backoff' },
    receiver: { status: () => 400 },
    attemptsAt: [0, 10, 20, 30],
    end: attemptsExceeded,
    endsAt: 30,
  },
  {
    title: 'B2: MaximumRetryAttempts ends exponential-decay before its age does',
    spec: { schedule: 'exponential-decay', maxAttempts: 3, timeToLiveMs: 1_200 * second },
    attemptsAt: [0, 1, 3],
    end: attemptsExceeded,
    endsAt: 3,
  },
  {
    title: 'B2: MaximumEventAgeInSeconds ends exponential-decay before its attempts do',
    spec: { schedule: 'exponential-decay', maxAttempts: 177, timeToLiveMs: 1_200 * second },
    attemptsAt: [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023],
    end: timeToLiveExceeded,
    endsAt: 1_535,
  },
  {
    title: 'a list is taken as written, then ends',
    spec: { schedule: { delaysMs: [second, 10 * second, 5 * minute], repeatLast: false } },
    attemptsAt: [0, 1, 11, 311],
    end: attemptsExceeded,
    endsAt: 311,
  },
  {
    title: 'a list that is cut short by its attempts',
    spec: { schedule: { delaysMs: [second, 10 * second, 5 * minute], repeatLast: false }, maxAttempts: 2 },
    attemptsAt: [0, 1],
    end: attemptsExceeded,
    endsAt: 1,
  },
  {
    title: 'a list is not lengthened by its attempts',
    spec: { schedule: { delaysMs: [second], repeatLast: false }, maxAttempts: 9 },
    attemptsAt: [0, 1],
    end: attemptsExceeded,
    endsAt: 1,
  },
  {
    title: 'a list whose last delay repeats, until the attempts end',
    spec: { schedule: { delaysMs: [second, 10 * second], repeatLast: true }, maxAttempts: 5 },
    attemptsAt: [0, 1, 11, 21, 31],
    end: attemptsExceeded,
    endsAt: 31,
  },
  {
    title: 'a list whose last delay repeats, until the time to live ends',
    spec: { schedule: { delaysMs: [second, 10 * second], repeatLast: true }, timeToLiveMs: 25 * second },
    attemptsAt: [0, 1, 11, 21],
    end: timeToLiveExceeded,
    endsAt: 31,
  },
]

test.each(cases)('$title', ({ spec, receiver, attemptsAt, end, endsAt }) => {
  expect(live(retryPolicyOf(spec, 1), receiver)).toEqual({ attemptsAt, end, endsAt })
})

test('B2: exponential-decay makes 176 retries in 86,015 s', () => {
  const { attemptsAt, end, endsAt } = live(retryPolicyOf({ schedule: 'exponential-decay' }, 1))
  expect(attemptsAt).toHaveLength(177)
  const gaps = attemptsAt.slice(1).map((at, index) => at - attemptsAt[index]!)
  expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, ...Array.from({ length: 167 }, () => 512)])
  expect({ end, endsAt }).toEqual({ end: attemptsExceeded, endsAt: 86_015 })
})

test('B2: with a receiver that hangs for 30 s the day ends exponential-decay first', () => {
  const hanging = { status: () => null, attemptMs: 30 * second }
  const { attemptsAt, end, endsAt } = live(retryPolicyOf({ schedule: 'exponential-decay' }, 1), hanging)
  expect(attemptsAt).toHaveLength(167)
  expect(attemptsAt.at(-1)).toBe(85_875)
  expect({ end, endsAt }).toEqual({ end: timeToLiveExceeded, endsAt: 86_417 })
})

test.each(retryPresets)('a time scale of 0.01 makes %s a hundred times faster, and nothing else', (schedule) => {
  const hanging = (scale: number) => ({ status: () => null, attemptMs: 30 * second * scale, random: () => 0.25 })
  const real = live(retryPolicyOf({ schedule }, 1), hanging(1))
  const fast = live(retryPolicyOf({ schedule }, 0.01), hanging(0.01))
  expect(fast.end).toEqual(real.end)
  expect(fast.attemptsAt).toHaveLength(real.attemptsAt.length)
  for (const [index, at] of fast.attemptsAt.entries()) {
    // Each due time is rounded up to a whole millisecond.
    const exact = real.attemptsAt[index]! / 100
    expect(at).toBeGreaterThanOrEqual(exact - 1e-9)
    expect(at).toBeLessThanOrEqual(exact + index / second + 1e-9)
  }
})

test.each([
  ['years ago', Date.parse('1998-02-03T04:05:06Z')],
  ['before any calendar', -1],
  ['in an hour', begin + hour],
  ['in a hundred years', Date.parse('2126-03-01T12:00:00Z')],
  ['when no calendar has a day for', Number.MAX_SAFE_INTEGER],
])(
  'A9, A10: an event that was published %s, by a clock that goes wrong, lives no shorter and no longer',
  (_when, published) => {
    for (const schedule of retryPresets) {
      for (const maxAttempts of [30, 4]) {
        const policy = retryPolicyOf({ schedule, maxAttempts, timeToLiveMs: 30 * minute }, 1)
        expect(live(policy, { published }), schedule).toEqual(live(policy))
      }
    }
  },
)

test('A6, A8, A9, B1, B2, C3: whatever happens, no attempt is early, none is beyond the limits, and it ends', () => {
  const statuses = fc.constantFrom(null, 205, 302, 400, 404, 408, 410, 429, 500, 503)
  fc.assert(
    fc.property(
      fc.constantFrom(...retryPresets),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 1_440 }),
      fc.array(statuses, { minLength: 1, maxLength: 8 }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 30_000 }),
      (schedule, maxAttempts, timeToLiveMinutes, answers, randoms, attemptMs) => {
        const policy = retryPolicyOf({ schedule, maxAttempts, timeToLiveMs: timeToLiveMinutes * minute }, 1)
        let drawn = 0
        const { attemptsAt, end } = live(policy, {
          status: (attemptNumber) => answers[attemptNumber % answers.length]!,
          attemptMs,
          random: () => randoms[drawn++ % randoms.length]!,
        })
        expect(['dead-letter']).toContain(end.kind)
        expect(attemptsAt.length).toBeLessThanOrEqual(maxAttempts)
        for (const [index, at] of attemptsAt.entries()) {
          if (index === 0) continue
          expect(at).toBeLessThan(timeToLiveMinutes * 60)
          const { baseMs, spreadMs } = policy.delays[index - 1] ?? policy.delays.at(-1)!
          const waitMs = Math.round((at - attemptsAt[index - 1]!) * second) - attemptMs
          expect(waitMs).toBeGreaterThanOrEqual(baseMs)
          expect(waitMs).toBeLessThanOrEqual(Math.max(baseMs, policy.minimumWaits ? 120_000 : 0) + spreadMs)
        }
      },
    ),
  )
})
