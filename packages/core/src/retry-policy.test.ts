import { expect, test } from 'vitest'
import { retryLimitsOf, retryPolicyOf, withEventGridDefaults } from './retry-policy.ts'
import type { RetrySpec } from './retry-policy.ts'

test('A6, A8: event-grid waits longer and longer, plus at most a tenth and at most 10 s', () => {
  const policy = retryPolicyOf({ schedule: 'event-grid' }, 1)
  expect(policy.delays.map(({ baseMs }) => baseMs / 1_000)).toEqual([
    10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200,
  ])
  expect(policy.delays.map(({ spreadMs }) => spreadMs)).toEqual([
    1_000, 3_000, 6_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000,
  ])
  expect(policy).toMatchObject({
    schedule: 'event-grid',
    repeatLast: true,
    maxAttempts: 30,
    timeToLiveMs: 86_400_000,
    minimumWaits: true,
  })
  expect([...policy.neverOn]).toEqual([400, 401, 403, 410, 413])
})

test('C2, C3: event-grid-kubernetes waits a minute, then ten again and again, and retries every status', () => {
  const policy = retryPolicyOf({ schedule: 'event-grid-kubernetes' }, 1)
  expect(policy).toEqual({
    schedule: 'event-grid-kubernetes',
    delays: [
      { baseMs: 60_000, spreadMs: 0 },
      { baseMs: 600_000, spreadMs: 0 },
    ],
    repeatLast: true,
    maxAttempts: 30,
    timeToLiveMs: 86_400_000,
    neverOn: new Set(),
    minimumWaits: false,
    endpoint: 'webhook',
    timeScale: 1,
  })
})

test('B1: backoff retries three times, each after 10–20 s', () => {
  const policy = retryPolicyOf({ schedule: 'backoff' }, 1)
  expect(policy).toEqual({
    schedule: 'backoff',
    delays: [
      { baseMs: 10_000, spreadMs: 10_000 },
      { baseMs: 10_000, spreadMs: 10_000 },
      { baseMs: 10_000, spreadMs: 10_000 },
    ],
    repeatLast: false,
    maxAttempts: 4,
    timeToLiveMs: null,
    neverOn: new Set(),
    minimumWaits: false,
    endpoint: 'webhook',
    timeScale: 1,
  })
})

test('B2: exponential-decay doubles up to 512 s, of which there are 167', () => {
  const policy = retryPolicyOf({ schedule: 'exponential-decay' }, 1)
  const seconds = policy.delays.map(({ baseMs }) => baseMs / 1_000)
  expect(seconds.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256])
  expect(seconds.slice(9)).toEqual(Array.from({ length: 167 }, () => 512))
  expect(policy).toMatchObject({ repeatLast: false, maxAttempts: 177, timeToLiveMs: 86_400_000, minimumWaits: false })
  expect(policy.neverOn.size).toBe(0)
})

test('a list is taken as written and ends', () => {
  const policy = retryPolicyOf({ schedule: { delaysMs: [1_000, 10_000, 300_000], repeatLast: false } }, 1)
  expect(policy).toMatchObject({ schedule: 'list', repeatLast: false, maxAttempts: 4, timeToLiveMs: null })
  expect(policy.delays).toEqual([1_000, 10_000, 300_000].map((baseMs) => ({ baseMs, spreadMs: 0 })))
  expect([...policy.neverOn]).toEqual([400, 401, 403, 410, 413])
})

test('what is set takes the place of what the schedule says', () => {
  const policy = retryPolicyOf({ schedule: 'event-grid', maxAttempts: 10, timeToLiveMs: 1_800_000, neverOn: [] }, 1)
  expect(policy).toMatchObject({ maxAttempts: 10, timeToLiveMs: 1_800_000, neverOn: new Set() })
})

test('a time scale multiplies delays, randomness and the time to live', () => {
  const policy = retryPolicyOf({ schedule: 'event-grid' }, 0.01)
  expect(policy.delays[0]).toEqual({ baseMs: 100, spreadMs: 10 })
  expect(policy.delays.at(-1)).toEqual({ baseMs: 432_000, spreadMs: 100 })
  expect(policy).toMatchObject({ maxAttempts: 30, timeToLiveMs: 864_000, timeScale: 0.01 })
})

test('A9: limits shorten a schedule, never lengthen it', () => {
  expect(retryLimitsOf('event-grid')).toEqual({
    maxAttempts: 30,
    timeToLiveMinMs: 60_000,
    timeToLiveMaxMs: 86_400_000,
  })
  expect(retryLimitsOf('event-grid-kubernetes').maxAttempts).toBe(30)
  expect(retryLimitsOf('backoff').maxAttempts).toBe(4)
  expect(retryLimitsOf('exponential-decay').maxAttempts).toBe(177)
  expect(retryLimitsOf({ delaysMs: [1, 2], repeatLast: false }).maxAttempts).toBe(3)
  expect(retryLimitsOf({ delaysMs: [1, 2], repeatLast: true }).maxAttempts).toBe(10_000)
})

const engine = { maxAttempts: 12, timeToLiveMs: 7_200_000 }
test.each<[string, RetrySpec, object]>([
  ['takes the place of what is not said', { schedule: 'event-grid', notation: 'event-grid' }, engine],
  ['on Kubernetes too', { schedule: 'event-grid-kubernetes', notation: 'event-grid-kubernetes' }, engine],
  [
    'is overridden by the subscription, one by one',
    { schedule: 'event-grid', notation: 'event-grid', maxAttempts: 30 },
    { maxAttempts: 30, timeToLiveMs: 7_200_000 },
  ],
  [
    'is overridden by the subscription, both',
    { schedule: 'event-grid', notation: 'event-grid', maxAttempts: 1, timeToLiveMs: 60_000 },
    { maxAttempts: 1, timeToLiveMs: 60_000 },
  ],
  ['says nothing of our notation', { schedule: 'event-grid' }, { maxAttempts: 30, timeToLiveMs: 86_400_000 }],
  [
    'says nothing of another schedule',
    { schedule: 'exponential-decay', notation: 'event-grid' },
    { maxAttempts: 177, timeToLiveMs: 86_400_000 },
  ],
])('C4: a limit of the engine %s', (_what, spec, limits) => {
  expect(retryPolicyOf(withEventGridDefaults(spec, engine), 1)).toMatchObject(limits)
})
