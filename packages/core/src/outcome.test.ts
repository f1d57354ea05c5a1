import { expect, test } from 'vitest'
import { outcomeOfStatus, outcomes } from './outcome.ts'
import type { Outcome } from './outcome.ts'

test('A18: success is exactly 200 to 204', () => {
  const delivered = Array.from({ length: 1_000 }, (_, status) => status).filter(
    (status) => outcomeOfStatus(status) === 'Delivered',
  )
  expect(delivered).toEqual([200, 201, 202, 203, 204])
})

test.each<readonly [number, Outcome]>([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [413, 'PayloadTooLarge'],
  [404, 'NotFound'],
  [410, 'NotFound'],
  [408, 'TimedOut'],
  [429, 'Busy'],
  [503, 'Busy'],
  ...[199, 205, 206, 300, 301, 302, 304, 307, 402, 405, 409, 411, 412, 414, 500, 502, 504, 599].map(
    (status) => [status, 'GenericError'] as const,
  ),
])('A16: %i is %s', (status, outcome) => {
  expect(outcomeOfStatus(status)).toBe(outcome)
})

test('A16: the names on the wire, without those that never come from a webhook', () => {
  expect(outcomes.toSorted()).toEqual(
    (
      'BadRequest Busy Canceled Delivered Forbidden GenericError NotFound PayloadTooLarge Probation ResolutionError ' +
      'SocketError TimedOut Unauthorized'
    ).split(' '),
  )
})
