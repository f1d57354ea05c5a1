import { newDeliveryState } from '@barnabas/core'
import { describe, expect, test } from 'vitest'
import type { AttemptResult, DeadLetterReason, Verdict } from '@barnabas/core'
import { createReporter } from './report.ts'
import type { DeliveryCounts } from './report.ts'

const subscription = { id: 'orders', generation: 7 }
const noCounts: DeliveryCounts = {
  attempt() {},
  matched() {},
  verdict() {},
  withdrawn() {},
  parked() {},
  deadLettered() {},
  dropped() {},
  late() {},
}

test('the sentence of a failed attempt names its subscription, and the next attempt (row A21)', () => {
  const told: string[] = []
  const info = (_fields: object, message: string) => void told.push(message)
  const counts = noCounts
  const report = createReporter({ debug() {}, info, warn() {}, error() {} }, counts)
  const endedAt = Date.parse('2026-03-01T12:00:00.000Z')
  report({
    state: { ...newDeliveryState(subscription, { topic: 't', partition: 0, offset: 1 }, 0), attempts: 1 },
    event: null,
    subscription: null,
    result: {
      outcome: 'Busy',
      status: 503,
      error: 'answered 503',
      responseBody: null,
      startedAt: endedAt - 5,
      endedAt,
    },
    verdict: { kind: 'retry', dueAt: endedAt + 1_000 },
    latenessMs: null,
  })
  expect(told).toEqual(['orders: attempt 1: Busy (503), next attempt at 2026-03-01T12:00:01.000Z'])
})

describe('A21: what is counted', () => {
  const at = Date.parse('2026-03-01T12:00:00.000Z')
  const answered = (outcome: AttemptResult['outcome']): AttemptResult => ({
    outcome,
    status: null,
    error: null,
    responseBody: null,
    startedAt: at,
    endedAt: at + 40,
  })
  const reason: DeadLetterReason = 'TimeToLiveExceeded'

  test.each<[string, number, AttemptResult | null, Verdict, string[]]>([
    [
      'a first attempt that succeeds',
      1,
      answered('Delivered'),
      { kind: 'done' },
      ['attempt', 'matched', 'verdict done'],
    ],
    ['a later one', 2, answered('Delivered'), { kind: 'done' }, ['attempt', 'verdict done']],
    [
      'one that fails',
      1,
      answered('Busy'),
      { kind: 'retry', dueAt: at + 9 },
      ['attempt', 'matched', 'verdict retry', 'parked 9'],
    ],
    ['one that waits on', 1, null, { kind: 'park', dueAt: at + 9 }, ['verdict park', 'parked 9']],
    ['one that is held', 1, null, { kind: 'hold', because: 'stopped', dueAt: at }, ['verdict hold']],
    ['a retry that is withdrawn', 1, null, { kind: 'done' }, ['verdict done', 'withdrawn']],
    ['a dead letter', 2, null, { kind: 'dead-letter', reason }, ['verdict dead-letter', `dead letter ${reason}`]],
    [
      'one that no request could be built for',
      0,
      null,
      { kind: 'drop', reason: 'DestinationInvalid' },
      ['matched', 'verdict drop', 'dropped DestinationInvalid'],
    ],
    ['one that is dropped', 2, null, { kind: 'drop', reason }, ['verdict drop', `dropped ${reason}`]],
  ])('of %s', (_what, attempts, result, verdict, expected) => {
    const counted: string[] = []
    const report = createReporter(
      { debug() {}, info() {}, warn() {}, error() {} },
      {
        attempt: ({ durationMs }) => void counted.push(durationMs === 40 ? 'attempt' : 'wrong'),
        matched: () => void counted.push('matched'),
        verdict: (_id, kind) => void counted.push(`verdict ${kind}`),
        withdrawn: () => void counted.push('withdrawn'),
        parked: (_id, publishTime, dueAt) => void counted.push(`parked ${dueAt - publishTime}`),
        deadLettered: (_id, why) => void counted.push(`dead letter ${why}`),
        dropped: (_id, why) => void counted.push(`dropped ${why}`),
        late: () => void counted.push('late'),
      },
    )
    const state = { ...newDeliveryState(subscription, { topic: 't', partition: 0, offset: 1 }, at), attempts }
    report({ state, event: null, subscription: null, result, verdict, latenessMs: null })
    expect(counted).toEqual(expected)
  })
})
