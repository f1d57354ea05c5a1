import { expect, test } from 'vitest'
import { afterAttempt, newDeliveryState } from './delivery-state.ts'
import type { AttemptResult } from './outcome.ts'
import { retryPolicyOf } from './retry-policy.ts'

const policy = retryPolicyOf({ schedule: 'event-grid' }, 1)
const timeToLiveMs = 86_400_000
const published = Date.parse('2026-03-01T12:00:00.000Z')
const fresh = newDeliveryState(
  { id: 'orders-to-billing', generation: 7 },
  { topic: 'orders', partition: 3, offset: 42 },
  published,
)

function failed(startedAt: number): AttemptResult {
  return {
    outcome: 'Busy',
    status: 503,
    error: 'the answer was 503',
    responseBody: Buffer.from('later'),
    startedAt,
    endedAt: startedAt + 900,
  }
}

test('an event that was just read has no attempts, and nothing is made up about them', () => {
  expect(fresh).toEqual({
    subscriptionId: 'orders-to-billing',
    generation: 7,
    source: { topic: 'orders', partition: 3, offset: 42 },
    publishTime: published,
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
  })
})

test('A9: the first attempt counts as one, and the time to live begins with it', () => {
  expect(afterAttempt(fresh, failed(published + 5_000), policy)).toEqual({
    ...fresh,
    attempts: 1,
    firstAttemptTime: published + 5_000,
    lastAttemptTime: published + 5_000,
    expiryTime: published + 5_000 + timeToLiveMs,
    lastOutcome: 'Busy',
    lastStatus: 503,
    lastError: 'the answer was 503',
  })
})

test('a later attempt counts one more; the first time, the expiry, redrives and hops stay', () => {
  const first = { ...afterAttempt(fresh, failed(published), policy), redrives: 2, hops: 5 }
  const cutOff = { ...failed(published + 10_000), outcome: 'Canceled' as const, status: null, error: null }
  expect(afterAttempt(first, cutOff, policy)).toEqual({
    ...first,
    attempts: 2,
    lastAttemptTime: published + 10_000,
    lastOutcome: 'Canceled',
    lastStatus: null,
    lastError: null,
  })
})

test('an expiry that was moved on stays where it is', () => {
  const held = { ...afterAttempt(fresh, failed(published), policy), expiryTime: published + timeToLiveMs + 3_600_000 }
  expect(afterAttempt(held, failed(published + 10_000), policy).expiryTime).toBe(held.expiryTime)
})

test('B1: without a time to live there is no expiry', () => {
  const endless = retryPolicyOf({ schedule: 'backoff' }, 1)
  expect(afterAttempt(fresh, failed(published), endless).expiryTime).toBeNull()
})

test('A9: a time to live that the subscription got meanwhile counts from the first attempt', () => {
  const endless = retryPolicyOf({ schedule: 'backoff' }, 1)
  const first = afterAttempt(fresh, failed(published), endless)
  expect(afterAttempt(first, failed(published + 15_000), policy).expiryTime).toBe(published + timeToLiveMs)
})

test('a first attempt whose time is unknown stays unknown', () => {
  const damaged = { ...fresh, attempts: 3 }
  expect(afterAttempt(damaged, failed(published), policy)).toMatchObject({
    attempts: 4,
    firstAttemptTime: null,
    lastAttemptTime: published,
    expiryTime: published + timeToLiveMs,
  })
})
