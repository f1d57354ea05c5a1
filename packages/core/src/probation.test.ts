import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Outcome } from './outcome.ts'
import { probationDefaults, probationPolicyOf } from './probation-policy.ts'
import {
  afterEndByHand,
  afterFailure,
  afterSuccess,
  eventMark,
  healthy,
  isFailure,
  probationOf,
  settleMs,
  takenOver,
  trialWindow,
} from './probation.ts'
import type { Health } from './probation.ts'

const policy = probationPolicyOf({}, 1)
const second = 1_000
const minute = 60 * second

/** Attempts that took no time, one after the other. */
function fail(
  own: Health,
  at: number,
  event = String(at),
  outcome: Outcome = 'GenericError',
  others: readonly Health[] = [],
) {
  return afterFailure(own, others, { event, outcome, startedAt: at, endedAt: at }, policy)
}

function failTimes(count: number, outcome: Outcome = 'GenericError', from = 1): Health {
  return Array.from({ length: count }, (_, index) => from + index).reduce(
    (own, at) => fail(own, at, String(at), outcome),
    healthy,
  )
}

describe('A12: how it begins', () => {
  test('after ten failures of different events in a row, not after nine', () => {
    expect(probationOf([failTimes(9)])).toBeNull()
    expect(probationOf([failTimes(10)])).toEqual({
      cause: 'GenericError',
      failingSince: 1,
      since: 10,
      until: 10 + 10 * second,
      lengthMs: 10 * second,
    })
  })

  test('the failures of one event count once, however many they are and whoever sees them', () => {
    const one = Array.from({ length: 100 }).reduce<Health>((own, _, index) => fail(own, index, 'same'), healthy)
    const other = Array.from({ length: 100 }).reduce<Health>(
      (own, _, index) => fail(own, index, 'same', 'Busy', [one]),
      healthy,
    )
    expect(probationOf([one, other])).toBeNull()
    expect(other.failing?.events).toEqual(['same'])
  })

  test('a success in between begins the count anew, in this process and in every other that hears of it', () => {
    const nine = failTimes(9)
    expect(probationOf([fail(afterSuccess(nine, 10), 11)])).toBeNull()
    const elsewhere = afterSuccess(healthy, 10)
    const after = fail(nine, 11, '11', 'Busy', [elsewhere])
    expect(after.failing).toEqual({ since: 11, events: ['11'] })
  })

  test('several processes count together', () => {
    const five = failTimes(5)
    const four = [11, 12, 13, 14].reduce((own, at) => fail(own, at, String(at), 'Busy', [five]), healthy)
    expect(probationOf([five, four])).toBeNull()
    expect(probationOf([five, fail(four, 15, '15', 'Busy', [five])])?.failingSince).toBe(1)
  })

  test('an attempt that began before the latest success says nothing of what came after it', () => {
    const own = afterSuccess(healthy, 100)
    const late = Array.from({ length: 20 }).reduce<Health>(
      (health, _, index) =>
        afterFailure(health, [], { event: String(index), outcome: 'TimedOut', startedAt: 90, endedAt: 30_090 }, policy),
      own,
    )
    expect(late).toBe(own)
  })

  test('`after` is a setting', () => {
    const once = probationPolicyOf({ after: 1 }, 1)
    const health = afterFailure(healthy, [], { event: 'a', outcome: 'Busy', startedAt: 1, endedAt: 2 }, once)
    expect(probationOf([health])?.cause).toBe('Busy')
  })

  test('what we cut off ourselves is no failure', () => {
    expect(
      ['Delivered', 'Canceled', 'Probation', 'Busy', 'BadRequest', 'GenericError'].filter((outcome) =>
        isFailure({ outcome: outcome as Outcome }),
      ),
    ).toEqual(['Busy', 'BadRequest', 'GenericError'])
  })
})

describe('A17: how long it lasts', () => {
  test.each([
    ['Busy', 10 * second],
    ['NotFound', 5 * minute],
    ['SocketError', 30 * second],
    ['ResolutionError', 5 * minute],
    ['TimedOut', 10 * second],
    ['Unauthorized', 5 * minute],
    ['Forbidden', 5 * minute],
    // What the table does not name.
    ['GenericError', 10 * second],
    ['BadRequest', 10 * second],
    ['PayloadTooLarge', 10 * second],
  ] as const)('%s: %i ms at first', (outcome, lengthMs) => {
    const probation = probationOf([failTimes(10, outcome)])
    expect(probation).toMatchObject({ cause: outcome, lengthMs, until: 10 + lengthMs })
  })

  test.each([
    ['GenericError', ['10s', '60s', '300s', '900s', '3600s', '10800s', '10800s']],
    ['SocketError', ['30s', '60s', '300s', '900s', '3600s', '10800s', '10800s']],
    ['NotFound', ['300s', '900s', '3600s', '10800s', '10800s']],
  ] as const)('%s: every trial that fails lengthens it in steps, up to hours', (outcome, lengths) => {
    let health = failTimes(10, outcome)
    const seen: string[] = []
    for (const _ of lengths) {
      const { lengthMs, until, since } = probationOf([health])!
      expect(since).toBe(10)
      seen.push(`${lengthMs / 1_000}s`)
      health = fail(health, until, 'trial', outcome)
    }
    expect(seen).toEqual(lengths)
  })

  test('a trial that fails in another way is rested for at least what that way asks for', () => {
    const health = failTimes(10, 'Busy')
    const { until } = probationOf([health])!
    expect(probationOf([fail(health, until, 'trial', 'NotFound')])).toMatchObject({
      cause: 'NotFound',
      lengthMs: 5 * minute,
    })
  })

  test('what was under way when the rest began is no trial', () => {
    const health = failTimes(10)
    const { until } = probationOf([health])!
    const late = { event: 'late', outcome: 'TimedOut', startedAt: 9, endedAt: until + 1 } as const
    expect(afterFailure(health, [], late, policy)).toBe(health)
  })

  test('of two processes whose trials fail, both lengthen it by one step', () => {
    const one = failTimes(10)
    const { until } = probationOf([one])!
    const [trialOfOne, trialOfOther] = [fail(one, until, 'a'), fail(healthy, until + 5, 'b', 'GenericError', [one])]
    expect(probationOf([trialOfOne, trialOfOther])).toMatchObject({ lengthMs: minute, until: until + 5 + minute })
  })

  test('steps and lengths are settings, scaled like every duration', () => {
    const own = probationPolicyOf({ stepsMs: [second, minute], lengthsMs: { Busy: 2 * second } }, 0.1)
    expect(own.stepsMs).toEqual([100, 6_000])
    expect(own.lengthsMs).toMatchObject({ Busy: 200, NotFound: 30_000 })
    expect(probationPolicyOf({}, 1)).toEqual({
      ...probationDefaults,
      clientErrors: new Set(probationDefaults.clientErrors),
    })
  })
})

describe('how it ends', () => {
  test('with the first success anywhere, at once', () => {
    const health = failTimes(10)
    expect(probationOf([health, afterSuccess(healthy, 11)])).toBeNull()
    expect(probationOf([afterSuccess(health, 11)])).toBeNull()
  })

  test('by hand; what failed before counts no more, what fails afterwards does', () => {
    const ended = afterEndByHand(failTimes(10), 50)
    expect(probationOf([failTimes(10), ended])).toBeNull()
    const again = Array.from({ length: 10 }, (_, index) => 51 + index).reduce((own, at) => fail(own, at), ended)
    expect(probationOf([failTimes(10), again])).toMatchObject({ failingSince: 51, lengthMs: 10 * second })
  })

  test('ending it twice is ending it once', () => {
    const once = afterEndByHand(failTimes(10), 50)
    expect(afterEndByHand(once, 50)).toEqual(once)
    expect(afterEndByHand(once, 40)).toEqual(once)
  })

  test('a window of one trial, doubled with every success', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((successes) => trialWindow(successes, 64))).toEqual([
      1,
      2,
      4,
      8,
      16,
      32,
      null,
      null,
    ])
    expect(trialWindow(0, 1)).toBeNull()
  })

  test('whoever takes over from a process that is gone takes its probation over, and its successes', () => {
    const gone = failTimes(10)
    expect(probationOf([takenOver(healthy, gone)])).toEqual(probationOf([gone]))
    expect(probationOf([failTimes(10), takenOver(healthy, afterSuccess(healthy, 99))])).toBeNull()
  })
})

test('the mark of an event is the same for each attempt, and others for others', () => {
  const at = { topic: 'orders', partition: 1, offset: 2 }
  expect(eventMark(at)).toBe(eventMark({ ...at }))
  expect(eventMark(at)).not.toBe(eventMark({ ...at, offset: 3 }))
})

describe('processes that see different things', () => {
  interface Step {
    readonly process: number
    readonly fails: boolean
    readonly event: number
    readonly gapMs: number
  }
  const step = (fails: fc.Arbitrary<boolean>, process: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
    fc.record({ process, fails, event: fc.nat(20), gapMs: fc.integer({ min: 1, max: 400 }) })

  /**
   * Plays the steps; each process hears what another says `delayMs` later, and makes no attempt while it knows of a
   * probation that has not ended. Counts how often one begins in each process's eyes.
   */
  function play(steps: readonly Step[], processes: number, delayMs: number) {
    const own: Health[] = Array.from({ length: processes }, () => healthy)
    const told: { readonly at: number; readonly process: number; readonly health: Health }[] = []
    const begun = new Set<number>()
    let now = 0
    for (const { process, fails, event, gapMs } of steps) {
      now += gapMs
      const heard = (other: number) =>
        told.findLast(({ at, process: from }) => from === other && at + delayMs <= now)?.health
      const others = own.flatMap((_, other) => (other === process ? [] : (heard(other) ?? [])))
      const mine = own[process]!
      const present = probationOf([mine, ...others])
      if (present !== null && now < present.until) continue
      const attempt = { event: String(event), outcome: 'SocketError', startedAt: now, endedAt: now } as const
      const next = fails ? afterFailure(mine, others, attempt, policy) : afterSuccess(mine, now)
      if (next.probation !== null && next.probation.since === now) begun.add(now)
      own[process] = next
      told.push({ at: now, process, health: next })
    }
    return { own, begun: begun.size, now }
  }

  test('the state does not depend on the order in which records are heard, nor on hearing one twice', () => {
    const steps = fc.array(step(fc.boolean(), fc.nat(3)), { maxLength: 120 })
    fc.assert(
      fc.property(steps, fc.nat(), (played, seed) => {
        const { own } = play(played, 4, 0)
        const turned = [...own.slice(seed % 4), ...own.slice(0, seed % 4), ...own]
        expect(probationOf(turned)).toEqual(probationOf(own))
      }),
    )
  })

  test('after a success nobody is on probation who has heard of it', () => {
    const steps = fc.array(step(fc.boolean(), fc.nat(3)), { maxLength: 120 })
    fc.assert(
      fc.property(steps, (played) => {
        const { own, now } = play(played, 4, 0)
        expect(probationOf([...own, afterSuccess(healthy, now)])).toBeNull()
      }),
    )
  })

  test("one event's failures never put an endpoint on probation", () => {
    const steps = fc.array(step(fc.constant(true), fc.nat(3)), { maxLength: 200 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 2_000 }), (played, delayMs) => {
        const one = played.map((each) => ({ ...each, event: 7 }))
        expect(play(one, 4, delayMs).begun).toBe(0)
      }),
    )
  })

  test('a process whose own way is broken stops the others at most once while they succeed: no flip-flop', () => {
    // Process 0 always fails, with new events; process 1 succeeds at least every 400 ms.
    const gaps = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 300, maxLength: 600 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: 2_000 }), (played, delayMs) => {
        const steps = played.map((gapMs, index) => ({
          process: index % 2,
          fails: index % 2 === 0,
          event: index,
          gapMs,
        }))
        expect(delayMs).toBeLessThan(settleMs)
        expect(play(steps, 2, delayMs).begun).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('when all fail they agree on one, and lengthen it together', () => {
    const steps = fc.array(step(fc.constant(true), fc.nat(2)), { minLength: 200, maxLength: 300 })
    fc.assert(
      fc.property(steps, (played) => {
        const different = played.map((each, index) => ({ ...each, event: index }))
        const { own, begun } = play(different, 3, 0)
        expect(begun).toBe(1)
        expect(probationOf(own)).not.toBeNull()
      }),
    )
  })
})
