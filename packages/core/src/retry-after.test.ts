import { describe, expect, test } from 'vitest'
import { obeyingRetryAfter, parseRetryAfter } from './retry-after.ts'
import type { Verdict } from './verdict.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const day = 86_400_000

test.each([
  ['0', now],
  ['120', now + 120_000],
  [' 7 ', now + 7_000],
  ['31536000', now + 365 * day],
  ['9'.repeat(400), now + 31_536_000_000_000],
  ['Sun, 01 Mar 2026 12:02:00 GMT', now + 120_000],
  ['Sunday, 01-Mar-26 12:02:00 GMT', now + 120_000],
  ['Sun Mar  1 12:02:00 2026', now + 120_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['Fri, 31 Dec 9999 23:59:59 GMT', Date.parse('9999-12-31T23:59:59Z')],
])('Retry-After: %s', (value, at) => {
  expect(parseRetryAfter(value, now)).toBe(at)
})

test.each([
  '',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '10s',
  'soon',
  '2026-03-01T12:02:00Z',
  'Sun, 01 Mar 2026 12:02:00 +0100',
  'Sun, 01 Mar 2026 12:02:00',
  'Sun, 41 Mar 2026 12:02:00 GMT',
  'Sun, 01 Foo 2026 12:02:00 GMT',
  'Sun, 01 Mar 2026 25:02:00 GMT',
  '1'.repeat(100_000),
  '１２０',
])('Retry-After: %s says nothing', (value) => {
  expect(parseRetryAfter(value, now)).toBeNull()
})

describe('the later of schedule and Retry-After, at most the time to live', () => {
  const retry: Verdict = { kind: 'retry', dueAt: now + 30_000 }
  const dueIn = (retryAfterMs: number | undefined, timeToLiveMs: number | null) => {
    const result = { endedAt: now, ...(retryAfterMs === undefined ? {} : { retryAfter: now + retryAfterMs }) }
    const verdict = obeyingRetryAfter(retry, result, timeToLiveMs === null ? null : now + timeToLiveMs)
    return 'dueAt' in verdict ? verdict.dueAt - now : null
  }

  test.each([
    [undefined, day, 30_000],
    [0, day, 30_000],
    [-5_000, day, 30_000],
    [29_999, day, 30_000],
    [30_001, day, 30_001],
    [600_000, day, 600_000],
    [365 * day, day, day],
    [Infinity, day, day],
    // A schedule goes on beyond the time to live, which is looked at when the retry falls due (row A10).
    [600_000, 20_000, 30_000],
    // Without a time to live a day is the most.
    [3_600_000, null, 3_600_000],
    [365 * day, null, day],
  ])('asked for %s ms with a time to live of %s ms: %i ms', (retryAfterMs, timeToLiveMs, dueInMs) => {
    expect(dueIn(retryAfterMs, timeToLiveMs)).toBe(dueInMs)
  })

  test.each([{ kind: 'done' }, { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' }] as const)(
    'what is not retried is not changed: %j',
    (verdict) => {
      expect(obeyingRetryAfter(verdict, { endedAt: now, retryAfter: now + 1_000 }, null)).toBe(verdict)
    },
  )

  test('a retry in place waits as long', () => {
    const verdict = { kind: 'retry-in-place', dueAt: now } as const
    expect(obeyingRetryAfter(verdict, { endedAt: now, retryAfter: now + 1_000 }, null)).toEqual({
      kind: 'retry-in-place',
      dueAt: now + 1_000,
    })
  })
})
