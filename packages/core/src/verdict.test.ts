import { describe, expect, test } from 'vitest'
import { outcomeOfStatus } from './outcome.ts'
import type { AttemptResult, Outcome } from './outcome.ts'
import { retryPolicyOf, retryPresets } from './retry-policy.ts'
import type { RetryPolicy } from './retry-policy.ts'
import { deadLetterReasons, verdictAfterAttempt, verdictWhenDue } from './verdict.ts'
import type { Handling } from './verdict.ts'

const second = 1_000
const startedAt = Date.parse('2026-03-01T12:00:00.000Z')
const endedAt = startedAt + 700

const skipping: Handling = { faultTolerance: 'allowed', deadLettering: true, order: 'none' }
const handlings = {
  skipping,
  dropping: { ...skipping, deadLettering: false },
  blocking: { ...skipping, faultTolerance: 'prohibited' },
  'blocking without dead letters': { ...skipping, faultTolerance: 'prohibited', deadLettering: false },
  'ordered by key': { ...skipping, order: 'key' },
  'ordered by partition': { ...skipping, order: 'partition' },
} as const satisfies Record<string, Handling>

const policies: Readonly<Record<string, RetryPolicy>> = {
  ...Object.fromEntries(retryPresets.map((schedule) => [schedule, retryPolicyOf({ schedule }, 1)])),
  list: retryPolicyOf({ schedule: { delaysMs: [second, 10 * second], repeatLast: false } }, 1),
}

function result(outcome: Outcome, status: number | null): AttemptResult {
  return { outcome, status, error: null, responseBody: null, startedAt, endedAt }
}

function answered(status: number): AttemptResult {
  return result(outcomeOfStatus(status), status)
}

/** The wait in ms that follows an attempt. */
function waitMs(policy: RetryPolicy, attempts: number, attempt: AttemptResult, random = 0): number {
  const verdict = verdictAfterAttempt(attempt, attempts, policy, skipping, random)
  if (verdict.kind !== 'retry') throw new Error(`a retry was expected, not ${JSON.stringify(verdict)}`)
  return verdict.dueAt - attempt.endedAt
}

describe.each(Object.entries(policies))('%s', (name, policy) => {
  test.each([200, 201, 202, 203, 204])('A18: %i is done', (status) => {
    expect(verdictAfterAttempt(answered(status), 1, policy, skipping, 0)).toEqual({ kind: 'done' })
  })

  test.each([205, 206, 301, 302, 304, 404, 408, 409, 418, 429, 500, 502, 503, 504])('A3: %i is retried', (status) => {
    expect(verdictAfterAttempt(answered(status), 1, policy, skipping, 0).kind).toBe('retry')
  })

  test.each(['TimedOut', 'SocketError', 'ResolutionError', 'Canceled', 'GenericError'] as const)(
    'A3: %s without a status is retried',
    (outcome) => {
      expect(verdictAfterAttempt(result(outcome, null), 1, policy, skipping, 0).kind).toBe('retry')
    },
  )

  const isWebhookTable = name === 'event-grid' || name === 'list'
  test.each([
    [400, 'UndeliverableDueToHttpBadRequest'],
    [401, 'UndeliverableDueToHttpUnauthorized'],
    [403, 'UndeliverableDueToHttpForbidden'],
    [410, 'UndeliverableDueToHttpGone'],
    [413, 'UndeliverableDueToHttpRequestEntityTooLarge'],
  ] as const)(`A4, A13, C2: %i is ${isWebhookTable ? 'never' : 'always'} retried`, (status, reason) => {
    const verdict = verdictAfterAttempt(answered(status), 1, policy, skipping, 0)
    if (isWebhookTable) expect(verdict).toEqual({ kind: 'dead-letter', reason })
    else expect(verdict.kind).toBe('retry')
  })

  test('A9: the last attempt that is allowed is the last', () => {
    const limited = { ...policy, maxAttempts: 2 }
    expect(verdictAfterAttempt(answered(500), 1, limited, skipping, 0).kind).toBe('retry')
    const exhausted = { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' }
    expect(verdictAfterAttempt(answered(500), 2, limited, skipping, 0)).toEqual(exhausted)
    expect(verdictAfterAttempt(answered(500), 3, limited, skipping, 0)).toEqual(exhausted)
    expect(verdictAfterAttempt(answered(200), 3, limited, skipping, 0)).toEqual({ kind: 'done' })
  })

  test('A8: never early, and late by the randomness of the step at most', () => {
    for (const [index, { baseMs, spreadMs }] of policy.delays.slice(0, policy.maxAttempts - 1).entries()) {
      for (const random of [0, 0.1, 0.5, 0.999, 1 - 2 ** -53]) {
        const wait = waitMs(policy, index + 1, answered(500), random)
        expect(wait).toBeGreaterThanOrEqual(baseMs)
        expect(wait).toBeLessThanOrEqual(baseMs + spreadMs)
        expect(wait).toBeCloseTo(baseMs + random * spreadMs, -1)
      }
    }
  })
})

test('A6: a delay counts from the moment the outcome was known', () => {
  const hanging = { ...result('TimedOut', null), endedAt: startedAt + 30 * second }
  expect(verdictAfterAttempt(hanging, 1, policies['event-grid']!, skipping, 0)).toEqual({
    kind: 'retry',
    dueAt: startedAt + 40 * second,
  })
})

test('a due time is a whole number of milliseconds, never before the delay is over', () => {
  const attempt = { ...answered(500), endedAt: endedAt + 0.25 }
  const verdict = verdictAfterAttempt(attempt, 1, policies['event-grid']!, skipping, 0)
  expect(verdict).toEqual({ kind: 'retry', dueAt: endedAt + 10 * second + 1 })
})

test('A13: a status that is not retried gives its own reason on the last attempt too', () => {
  const policy = { ...policies['event-grid']!, maxAttempts: 1 }
  expect(verdictAfterAttempt(answered(413), 1, policy, skipping, 0)).toEqual({
    kind: 'dead-letter',
    reason: 'UndeliverableDueToHttpRequestEntityTooLarge',
  })
})

test('A4: `neverOn` is what the subscription says, and other statuses share one reason', () => {
  const policy = { ...policies['event-grid']!, neverOn: new Set([404, 500]) }
  for (const status of [404, 500]) {
    expect(verdictAfterAttempt(answered(status), 1, policy, skipping, 0)).toEqual({
      kind: 'dead-letter',
      reason: 'UndeliverableDueToHttpStatus',
    })
  }
  expect(verdictAfterAttempt(answered(400), 1, policy, skipping, 0).kind).toBe('retry')
})

describe('A19: minimum waits', () => {
  const eventGrid = policies['event-grid']!

  test.each([
    [1, 401, 300],
    [1, 404, 300],
    [4, 404, 300],
    [5, 404, 600],
    [1, 408, 120],
    [1, 503, 30],
    [1, 500, 10],
  ])('of an Azure resource endpoint after attempt %i and status %i: %i s', (attempts, status, seconds) => {
    const azure = retryPolicyOf({ schedule: 'event-grid', endpoint: 'azure' }, 1)
    expect(waitMs(azure, attempts, answered(status))).toBe(seconds * second)
  })

  test.each([
    // [after attempt, status, seconds]
    [1, 408, 120],
    [1, 503, 30],
    [1, 404, 10],
    [1, 429, 10],
    [1, 500, 10],
    [1, null, 10],
    [2, 408, 120],
    [2, 503, 30],
    [2, 500, 30],
    [3, 408, 120],
    [3, 503, 60],
    [4, 408, 300],
  ])('after attempt %i and status %s: %i s', (attempts, status, seconds) => {
    const attempt = status === null ? result('TimedOut', null) : answered(status)
    expect(waitMs(eventGrid, attempts, attempt)).toBe(seconds * second)
  })

  test.each([
    [408, 120],
    [503, 30],
    [404, 10],
    [500, 10],
    [null, 10],
  ])('on a schedule that waits less, status %s waits %i s', (status, seconds) => {
    const policy = { ...eventGrid, delays: [{ baseMs: second, spreadMs: 0 }] }
    const attempt = status === null ? result('SocketError', null) : answered(status)
    expect(waitMs(policy, 1, attempt)).toBe(seconds * second)
  })

  test('A8: the randomness of the step comes on top', () => {
    expect(waitMs(eventGrid, 1, answered(408), 0.5)).toBe(120 * second + 500)
  })

  test('they are scaled with everything else', () => {
    const policy = retryPolicyOf({ schedule: 'event-grid' }, 0.01)
    expect(waitMs(policy, 1, answered(408))).toBe(1_200)
    expect(waitMs(policy, 1, answered(503))).toBe(300)
    expect(waitMs(policy, 1, answered(500))).toBe(100)
  })

  test.each([
    ['event-grid-kubernetes', 60],
    ['backoff', 10],
    ['exponential-decay', 1],
    ['list', 1],
  ])('B1, B2, C3: %s knows none', (name, seconds) => {
    for (const status of [408, 503, 500]) expect(waitMs(policies[name]!, 1, answered(status))).toBe(seconds * second)
  })
})

describe('fault tolerance and order', () => {
  test.each([
    ['skipping', 'retry'],
    ['dropping', 'retry'],
    ['blocking', 'retry-in-place'],
    ['blocking without dead letters', 'retry-in-place'],
    ['ordered by key', 'retry-in-place'],
    ['ordered by partition', 'retry-in-place'],
  ] as const)('A3: %s waits by %s', (handling, kind) => {
    const verdict = verdictAfterAttempt(answered(500), 1, policies['backoff']!, handlings[handling], 0)
    expect(verdict).toEqual({ kind, dueAt: endedAt + 10 * second })
  })

  test.each([
    ['skipping', 'dead-letter'],
    ['dropping', 'drop'],
    ['blocking', 'block'],
    ['blocking without dead letters', 'block'],
    ['ordered by key', 'dead-letter'],
    ['ordered by partition', 'dead-letter'],
  ] as const)('B4: %s ends in %s', (name, kind) => {
    const handling = handlings[name]
    const eventGrid = policies['event-grid']!
    expect(verdictAfterAttempt(answered(500), 30, eventGrid, handling, 0)).toEqual({
      kind,
      reason: 'MaxDeliveryAttemptsExceeded',
    })
    expect(verdictAfterAttempt(answered(400), 1, eventGrid, handling, 0)).toEqual({
      kind,
      reason: 'UndeliverableDueToHttpBadRequest',
    })
    const state = { attempts: 1, expiryTime: endedAt }
    expect(verdictWhenDue(state, eventGrid, endedAt, handling)).toEqual({ kind, reason: 'TimeToLiveExceeded' })
    expect(verdictAfterAttempt(answered(204), 30, eventGrid, handling, 0)).toEqual({ kind: 'done' })
  })
})

test.each([
  ['without a time to live', null, null],
  ['a moment before the end', endedAt + 1, null],
  ['at the end', endedAt, 'TimeToLiveExceeded'],
  ['long after the end', 0, 'TimeToLiveExceeded'],
])('A10: when an attempt falls due %s', (_, expiryTime, reason) => {
  expect(verdictWhenDue({ attempts: 1, expiryTime }, { maxAttempts: 30 }, endedAt, skipping)).toEqual(
    reason && { kind: 'dead-letter', reason },
  )
})

test('A9: a maximum that was lowered while the event was parked is kept: no number passes it', () => {
  const parked = { attempts: 3, expiryTime: null }
  expect(verdictWhenDue(parked, { maxAttempts: 4 }, endedAt, skipping)).toBeNull()
  const exhausted = { kind: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' }
  expect(verdictWhenDue(parked, { maxAttempts: 3 }, endedAt, skipping)).toEqual(exhausted)
  expect(verdictWhenDue(parked, { maxAttempts: 1 }, endedAt, skipping)).toEqual(exhausted)
})

test('A10: the time to live is not looked at right after an attempt', () => {
  const policy = { ...policies['event-grid']!, timeToLiveMs: 1 }
  expect(verdictAfterAttempt(answered(500), 1, policy, skipping, 0).kind).toBe('retry')
})

test('A13: the reasons are those on the wire', () => {
  expect(deadLetterReasons.filter((reason) => reason.startsWith('Undeliverable')).toSorted()).toEqual([
    'UndeliverableDueToHttpBadRequest',
    'UndeliverableDueToHttpForbidden',
    'UndeliverableDueToHttpGone',
    'UndeliverableDueToHttpRequestEntityTooLarge',
    'UndeliverableDueToHttpStatus',
    'UndeliverableDueToHttpUnauthorized',
    'UndeliverableDueToProbationCausedByClientError',
  ])
  expect(deadLetterReasons).toEqual(
    expect.arrayContaining(['DestinationInvalid', 'EventMalformed', 'DeliveryMetadataMalformed']),
  )
})
