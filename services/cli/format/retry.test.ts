import { retryPolicyOf } from '@barnabas/core'
import { expect, test } from 'vitest'
import { delaysText, limitsText } from './retry.ts'

test.each([
  [
    'event-grid',
    '10s (+ up to 1s), 30s (+ up to 3s), 1m (+ up to 6s), 5m (+ up to 10s), 10m (+ up to 10s), 30m (+ up to 10s), ' +
      '1h (+ up to 10s), 3h (+ up to 10s), 6h (+ up to 10s), then every 12h (+ up to 10s)',
    '30 attempts, or 1d after the first attempt',
  ],
  ['event-grid-kubernetes', '1m, then every 10m', '30 attempts, or 1d after the first attempt'],
  ['backoff', '3 × 10s (+ up to 10s)', '4 attempts'],
  [
    'exponential-decay',
    '1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 167 × 512s',
    '177 attempts, or 1d after the first attempt',
  ],
  [{ delaysMs: [1_000, 1_000, 90_000], repeatLast: false }, '2 × 1s, 90s', '4 attempts'],
  [{ delaysMs: [5_000], repeatLast: true }, 'every 5s', ''],
] as const)('%j waits %s', (schedule, delays, limits) => {
  const policy = retryPolicyOf({ schedule }, 1)
  expect(delaysText(policy)).toBe(delays)
  expect(limitsText(policy)).toBe(limits)
})
