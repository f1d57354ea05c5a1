import { describe, expect, test } from 'vitest'
import { check } from './check.ts'
import type { Attempt, Fate, FaultWindow, Ledger, Sent } from './ledger.ts'

const policy = { delaysMs: [500, 1_000, 2_000], maxAttempts: 4, timeoutMs: 1_000 }
const moment = 1_000_000

type Shorthand = readonly [id: string, number: number, at: number, status: number | null]

interface Case {
  /** Answers come 10 ms after their request; no answer comes for a status of null. */
  readonly attempts: readonly Shorthand[]
  /** By event: when it became one. */
  readonly letters?: Readonly<Record<string, number>>
  readonly windows?: readonly FaultWindow[]
  /** Of the first event. */
  readonly copies?: number
  /** Of each event in the order of the topic; default the same for all. */
  readonly lanes?: readonly string[]
  /** How long before the last attempt the receiver had looked. */
  readonly lookedMs?: number
  /** How long after the answer of the last attempt its connection ended. */
  readonly closedMs?: number
}

const kill = (from: number, to = from + 2_000): FaultWindow => ({ kind: 'kill', from, to })
const freeze = (from: number, to = from + 2_000): FaultWindow => ({ kind: 'freeze', from, to, leavesZombie: true })

/** The events are called by the letters of the alphabet, as they stand on their topic. */
function ledgerOf({
  attempts,
  letters = {},
  windows = [],
  copies = 1,
  lanes = ['l', 'l', 'l'],
  ...last
}: Case): Ledger {
  const ids = [...new Set([...attempts.map(([id]) => id), ...Object.keys(letters)])].toSorted()
  const fateOf = (id: string): Fate => {
    const times = attempts.filter(([each, , , status]) => each === id && status === 503).length
    return letters[id] !== undefined ? { kind: 'always-fails' } : times > 0 ? { kind: 'fails', times } : { kind: 'ok' }
  }
  const sentOf = (id: string, index: number): Sent => ({
    copies: index === 0 ? copies : 1,
    fate: fateOf(id),
    turn: { lane: lanes[index]!, offset: 10 + index },
  })
  return {
    policy,
    // What was sent is not in the order of the topic for being in a map.
    sent: new Map(ids.map((id, index) => [id, sentOf(id, index)] as const).toReversed()),
    attempts: attempts.map(([id, number, at, status], index): Attempt => {
      const isLast = index === attempts.length - 1
      const answeredAt = status === null ? null : moment + at + 10
      return {
        id,
        number,
        together: 1,
        at: moment + at,
        notBefore: moment + at - (isLast ? (last.lookedMs ?? 0) : 0),
        answeredAt,
        closedAt: isLast && last.closedMs !== undefined ? answeredAt! + last.closedMs : null,
        status,
      }
    }),
    letters: Object.entries(letters).map(([id, at]) => ({
      id,
      attempts: 4,
      reason: 'MaxDeliveryAttemptsExceeded',
      at: moment + at,
    })),
    windows: windows.map((window) => ({ ...window, from: moment + window.from, to: moment + window.to })),
    endings: [],
  }
}

const exhausted: readonly Shorthand[] = [
  ['a', 1, 0, 503],
  ['a', 2, 510, 503],
  ['a', 3, 1_520, 503],
  ['a', 4, 3_530, 503],
]
/** The first event is taken at its second attempt, the second is begun then, and the first comes once more. */
const again = (at: number): readonly Shorthand[] => [
  ['a', 1, 0, 503],
  ['a', 2, 5_000, 200],
  ['b', 1, 5_020, 200],
  ['a', 2, at, 200],
]
/** A window that excuses that it came once more, but not that it did so behind the second. */
const atFirstAttempt = kill(-2_000, 100)

describe('in turn is', () => {
  test.each<[string, Case]>([
    [
      'one after the other, the next as soon as the one before it is taken',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['a', 2, 510, 200],
          ['b', 1, 520, 200],
          ['c', 1, 530, 200],
        ],
      },
    ],
    [
      'the next as soon as the one before it is a dead letter',
      { attempts: [...exhausted, ['b', 1, 3_560, 200]], letters: { a: 3_560 } },
    ],
    [
      'another lane, while one waits',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 5, 200],
          ['a', 2, 510, 200],
          ['c', 1, 520, 200],
        ],
        lanes: ['l', 'another', 'l'],
      },
    ],
    [
      'one that comes again with those behind it, after a kill',
      {
        attempts: [
          ['a', 1, 0, 200],
          ['b', 1, 20, 503],
          ['a', 1, 2_500, 200],
          ['b', 1, 2_520, 503],
          ['b', 2, 3_040, 200],
          ['c', 1, 3_060, 200],
        ],
        windows: [kill(30)],
      },
    ],
    [
      'one that comes again long after the kill, for others before it came again first',
      { attempts: again(60_000), windows: [kill(5_030)] },
    ],
    [
      'a late one of a process that stood still, whenever it comes',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 300, 200],
          ['a', 2, 510, 200],
          ['c', 1, 520, 200],
        ],
        windows: [freeze(100)],
      },
    ],
    [
      'one again that its receiver may have seen late, before the next was begun',
      { attempts: again(5_040), lookedMs: 20, windows: [atFirstAttempt] },
    ],
    [
      'one again whose sender may have given it up long before',
      { attempts: again(30_000), closedMs: 5, windows: [atFirstAttempt] },
    ],
    [
      'the second copy that its producer wrote, behind the next',
      {
        attempts: [
          ['a', 1, 0, 200],
          ['b', 1, 20, 200],
          ['a', 1, 5_000, 200],
        ],
        copies: 2,
      },
    ],
  ])('%s', (_, each) => {
    expect(check(ledgerOf(each))).toEqual([])
  })
})

describe('out of turn is', () => {
  test.each<[string, string, Case]>([
    [
      'the next while the one before it waits for its retry',
      'b',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 20, 200],
          ['a', 2, 510, 200],
          ['c', 1, 520, 200],
        ],
      },
    ],
    [
      'the next while the one before it is under way',
      'b',
      {
        attempts: [
          ['a', 1, 0, 200],
          ['b', 1, 9, 200],
        ],
      },
    ],
    [
      'the next but one, although the one before it has ended',
      'c',
      {
        attempts: [
          ['b', 1, -50, 200],
          ['c', 1, -30, 200],
          ['a', 1, -60, 503],
          ['a', 2, 510, 200],
        ],
        lanes: ['l', 'another', 'l'],
      },
    ],
    [
      'a retry of one whose first attempt alone a process that stood still explains',
      'b',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 300, 503],
          ['b', 2, 5_000, 200],
          ['a', 2, 6_000, 200],
        ],
        windows: [freeze(100, 200)],
      },
    ],
    [
      'the next before the one before it is a dead letter',
      'b',
      { attempts: [...exhausted, ['b', 1, 3_550, 200]], letters: { a: 3_560 } },
    ],
    [
      'the next while the one before it waits, a kill or not',
      'b',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 300, 200],
          ['a', 2, 510, 200],
        ],
        windows: [kill(100)],
      },
    ],
    [
      'the next long before a process stood still',
      'b',
      {
        attempts: [
          ['a', 1, 0, 503],
          ['b', 1, 300, 200],
          ['a', 2, 5_100, 200],
        ],
        windows: [freeze(5_000)],
      },
    ],
    [
      'one that comes again behind the next, for a fault that touches neither',
      'a',
      { attempts: again(30_000), windows: [atFirstAttempt] },
    ],
  ])('%s', (_, id, each) => {
    expect(check(ledgerOf(each)).map((found) => [found.id, found.rule])).toEqual([[id, 'order']])
  })
})
