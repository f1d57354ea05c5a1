import { describe, expect, test } from 'vitest'
import { check } from './check.ts'
import type { Attempt, Ending, Fate, FaultWindow, Ledger, Letter } from './ledger.ts'
import type { Rule } from './violation.ts'

const policy = { delaysMs: [500, 1_000, 2_000], maxAttempts: 4, timeoutMs: 1_000 }
const ok: Fate = { kind: 'ok' }
const failsOnce: Fate = { kind: 'fails', times: 1 }
const hopeless: Fate = { kind: 'always-fails' }

type Shorthand = readonly [number: number, at: number, status: number | null]

/** Answers come 10 ms after their request; no answer comes for a status of null. */
function attemptsOf(shorthands: readonly Shorthand[]): Attempt[] {
  return shorthands.map(([number, at, status]) => ({
    id: 'e',
    number,
    together: status === 413 ? 2 : 1,
    at,
    notBefore: at,
    answeredAt: status === null ? null : at + 10,
    closedAt: null,
    status,
  }))
}

const letter = (at: number, attempts = 4, reason = 'MaxDeliveryAttemptsExceeded'): Letter => ({
  id: 'e',
  at,
  attempts,
  reason,
})
const exhausted: readonly Shorthand[] = [
  [1, 0, 503],
  [2, 510, 503],
  [3, 1_520, 503],
  [4, 3_530, 503],
]
const outage = (from: number, to: number): FaultWindow => ({ kind: 'kill-broker', from, to, isPartialOutage: true })
const kill = (from: number, to = from + 2_000): FaultWindow => ({ kind: 'kill', from, to })

interface Case {
  readonly fate: Fate
  readonly attempts: readonly Shorthand[]
  readonly letters?: readonly Letter[]
  readonly windows?: readonly FaultWindow[]
  readonly copies?: number
  readonly endings?: readonly Ending[]
  /** When the connection of the first attempt ended. */
  readonly closedAt?: number
  /** When the receiver had looked last before the first attempt. */
  readonly notBefore?: number
}

function ledgerOf({
  fate,
  attempts,
  letters = [],
  windows = [],
  endings = [],
  copies = 1,
  closedAt,
  notBefore,
}: Case): Ledger {
  const moment = 1_000_000
  const first = {
    ...(closedAt === undefined ? {} : { closedAt: moment + closedAt }),
    ...(notBefore === undefined ? {} : { notBefore: moment + notBefore }),
  }
  return {
    policy,
    sent: new Map([['e', { copies, fate }]]),
    attempts: attemptsOf(attempts.map(([number, at, status]) => [number, moment + at, status])).map((attempt, index) =>
      index === 0 ? { ...attempt, ...first } : attempt,
    ),
    letters: letters.map((each) => ({ ...each, at: moment + each.at })),
    windows: windows.map((each) => ({ ...each, from: moment + each.from, to: moment + each.to })),
    endings,
  }
}

describe('nothing is wrong with', () => {
  test.each<[string, Case]>([
    ['a delivery', { fate: ok, attempts: [[1, 0, 200]] }],
    [
      'a retry that comes exactly when it is due',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 510, 200],
        ],
      },
    ],
    [
      'a retry after no answer',
      {
        fate: { kind: 'hangs', times: 1 },
        attempts: [
          [1, 0, null],
          [2, 1_500, 200],
        ],
      },
    ],
    [
      'a batch that was split, before each of its attempts and long before they are due',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 413],
          [1, 11, 413],
          [1, 22, 503],
          [2, 540, 413],
          [2, 551, 200],
        ],
      },
    ],
    [
      'a count that skips one, for the split of its batch was not heard',
      {
        fate: ok,
        attempts: [
          [1, 0, 413],
          [2, 5_000, 200],
        ],
        closedAt: 11,
      },
    ],
    ['a dead letter after the last attempt', { fate: hopeless, attempts: exhausted, letters: [letter(3_540)] }],
    [
      'one attempt again, in flight at a kill',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [1, 2_500, 200],
        ],
        windows: [kill(5)],
      },
    ],
    [
      'every attempt once more that was made while one of several brokers was away',
      {
        fate: { kind: 'fails', times: 2 },
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [1, 9_000, 503],
          [2, 9_510, 503],
          [3, 10_520, 200],
        ],
        windows: [outage(-1_000, 3_000)],
      },
    ],
    [
      'one attempt again whose answer was cut off, without a fault of ours',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [2, 600, 200],
        ],
        closedAt: 12,
      },
    ],
    [
      'a retry that was due, although the receiver saw the attempt before it late and its answer was not heard',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 400, 200],
        ],
        closedAt: 12,
        notBefore: -100,
      },
    ],
    [
      'a retry that was due for its sender, although a receiver that stood still answered the attempt before it later',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 400, 200],
        ],
        notBefore: -1_000,
      },
    ],
    [
      'two again, with two kills',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [1, 2_500, 200],
          [1, 5_000, 200],
        ],
        windows: [kill(5), kill(2_600)],
      },
    ],
    [
      'a number that goes back, at a kill between a write and its commit',
      {
        fate: { kind: 'fails', times: 2 },
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [1, 1_000, 503],
          [3, 1_520, 200],
        ],
        windows: [kill(20)],
      },
    ],
    [
      'a first attempt that never arrived, while the receiver was gone',
      { fate: ok, attempts: [[2, 600, 200]], windows: [kill(0)] },
    ],
    [
      'a dead letter of an event whose receiver was gone',
      { fate: ok, attempts: [[4, 5_000, 503]], letters: [letter(5_100)], windows: [kill(4_000)] },
    ],
    [
      'an event that its producer wrote twice',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [1, 3, 200],
        ],
        copies: 2,
      },
    ],
    [
      'a dead letter twice, at a kill',
      { fate: hopeless, attempts: exhausted, letters: [letter(3_540), letter(6_000)], windows: [kill(3_545)] },
    ],
  ])('%s', (_, each) => {
    expect(check(ledgerOf(each))).toEqual([])
  })
})

describe('one thing is wrong with', () => {
  test.each<[string, Rule, Case]>([
    ['an event without an attempt', 'lost', { fate: ok, attempts: [] }],
    [
      'an event that was never taken, a kill or not',
      'lost',
      { fate: failsOnce, attempts: [[1, 0, 503]], windows: [kill(5)] },
    ],
    [
      'an attempt above the maximum, a kill or not',
      'above-maximum',
      {
        fate: hopeless,
        attempts: [...exhausted, [5, 9_000, 503]],
        letters: [letter(9_100)],
        windows: [kill(3_500), kill(8_900)],
      },
    ],
    [
      'a dead letter before the last attempt',
      'above-maximum',
      {
        fate: hopeless,
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
        ],
        letters: [letter(600, 2)],
      },
    ],
    [
      'a dead letter that counts too far',
      'above-maximum',
      { fate: hopeless, attempts: exhausted, letters: [letter(3_540, 5)] },
    ],
    [
      'a retry 1 ms early',
      'early',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 509, 200],
        ],
      },
    ],
    [
      'a retry 1 ms early, a kill or not',
      'early',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 509, 200],
        ],
        windows: [kill(5)],
      },
    ],
    [
      'a third attempt early',
      'early',
      {
        fate: { kind: 'fails', times: 2 },
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [3, 1_519, 200],
        ],
      },
    ],
    [
      'one attempt more than there are kills',
      'extra',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [1, 2_500, 200],
          [1, 5_000, 200],
        ],
        windows: [kill(5)],
      },
    ],
    [
      'a retry 1 ms early, by when the receiver may have seen the attempt before it',
      'early',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [2, 399, 200],
        ],
        closedAt: 12,
        notBefore: -100,
      },
    ],
    [
      'an attempt again whose answer was heard',
      'extra',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [2, 600, 200],
        ],
        closedAt: 5_000,
      },
    ],
    [
      'every attempt once more, with a kill that leaves no broker to go on with',
      'extra',
      {
        fate: { kind: 'fails', times: 2 },
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [1, 9_000, 503],
          [2, 9_510, 503],
          [3, 10_520, 200],
        ],
        windows: [kill(-1_000)],
      },
    ],
    [
      'more again than there were attempts while one of several brokers was away',
      'extra',
      {
        fate: { kind: 'fails', times: 2 },
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [1, 9_000, 503],
          [2, 9_510, 503],
          [3, 10_520, 200],
        ],
        windows: [outage(12_200, 13_000)],
      },
    ],
    [
      'an attempt after its delivery, long after the kill',
      'extra',
      {
        fate: ok,
        attempts: [
          [1, 0, 200],
          [2, 60_000, 200],
        ],
        windows: [kill(20_000)],
      },
    ],
    [
      'a dead letter twice, with a kill at the first attempt only',
      'extra',
      {
        fate: hopeless,
        attempts: exhausted,
        letters: [letter(13_540), letter(33_540)],
        windows: [kill(-30_000, -29_000)],
      },
    ],
    [
      'a count that starts anew',
      'extra',
      {
        fate: hopeless,
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [1, 20_000, 503],
          [2, 20_510, 503],
          [3, 21_520, 503],
          [4, 23_530, 503],
        ],
        letters: [letter(23_540)],
        windows: [kill(19_000)],
      },
    ],
    [
      'a split that takes the place of an attempt',
      'out-of-order',
      {
        fate: ok,
        attempts: [
          [1, 0, 413],
          [2, 5_000, 200],
        ],
      },
    ],
    [
      'a split that nothing comes after',
      'lost',
      {
        fate: ok,
        attempts: [[1, 0, 413]],
      },
    ],
    [
      'a count that skips one',
      'out-of-order',
      {
        fate: failsOnce,
        attempts: [
          [1, 0, 503],
          [3, 5_000, 200],
        ],
      },
    ],
    [
      'a delivery and a dead letter',
      'extra',
      {
        fate: hopeless,
        attempts: [
          [1, 0, 503],
          [2, 510, 503],
          [3, 1_520, 503],
          [4, 3_530, 200],
        ],
        letters: [letter(3_540)],
      },
    ],
    [
      'a dead letter of an event that would have been taken',
      'given-up',
      { fate: ok, attempts: [], letters: [letter(5_000, 0, 'EventMalformed')] },
    ],
    [
      'a service that ends by itself, although another took its place and every event is there',
      'ended',
      {
        fate: ok,
        attempts: [[1, 0, 200]],
        endings: [{ service: 'dispatcher', pid: 17, status: 1, at: 5, backAt: 3_000, lastLine: 'a bug' }],
      },
    ],
  ])('%s: %s', (_, rule, each) => {
    expect(check(ledgerOf(each)).map((found) => found.rule)).toEqual([rule])
  })

  test('what was never sent', () => {
    const ledger = { ...ledgerOf({ fate: ok, attempts: [[1, 0, 200]] }), sent: new Map() }
    expect(check(ledger)).toEqual([{ id: 'e', rule: 'unknown', message: 'was never sent' }])
  })

  test('a service that ends by itself is said with its status and its last line', () => {
    const endings = [{ service: 'dispatcher', pid: 17, status: 1, at: 5, backAt: 3_000, lastLine: 'a bug' }]
    expect(check(ledgerOf({ fate: ok, attempts: [[1, 0, 200]], endings }))).toEqual([
      { id: null, rule: 'ended', message: 'a dispatcher (17) ended by itself with status 1: a bug' },
    ])
  })
})
