/** The field `rate`, what a receiver allows in the handshake of CloudEvents, and who of several processes gets how much. */
import { describe, expect, test } from 'vitest'
import type { Handshake } from './handshake.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { Rate, TokenBucket } from './rate.ts'
import {
  newBucket,
  rateOf,
  refilled,
  requestsPerMinute,
  shareOf,
  shareOfRate,
  untilTokenMs,
  withoutToken,
} from './rate.ts'
import { rateToKeep } from './rate-to-keep.ts'
import type { Subscription } from './subscription.ts'

const least = { id: 'orders', topics: ['orders'], sink: 'https://billing.example.com/' }

function subscriptionWith(fields: Record<string, unknown>, timeScale = 1): Subscription {
  const parsed = parseSubscription({ ...least, ...fields }, { timeScale })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join())
  return { ...parsed.subscription, generation: 5, revision: 2 }
}

describe('the field', () => {
  test.each([
    ['1/s', 1 / 1_000, 1.1, 60],
    ['100/s', 0.1, 11, 6_000],
    ['1000000/s', 1_000, 100_001, 60_000_000],
    ['120/min', 0.002, 1.2, 120],
    ['1/min', 1 / 60_000, 1 + 1 / 600, 1],
    ['1000000/min', 1_000_000 / 60_000, 1 + 100_000 / 60, 1_000_000],
  ])('%s', (rate, tokensPerMs, tokensMax, perMinute) => {
    const { rate: read } = subscriptionWith({ rate })
    expect(read?.tokensPerMs).toBeCloseTo(tokensPerMs, 12)
    expect(read?.tokensMax).toBeCloseTo(tokensMax, 6)
    expect(requestsPerMinute(read!, 1)).toBe(perMinute)
  })

  test('none, and nothing written, is no limit', () => {
    expect(subscriptionWith({ rate: 'none' }).rate).toBeNull()
    expect(subscriptionWith({}).rate).toBeNull()
  })

  test('the time scale multiplies its second, and not what it is called in a handshake', () => {
    const { rate } = subscriptionWith({ rate: '100/s' }, 0.01)
    expect(rate?.tokensPerMs).toBeCloseTo(10, 9)
    expect(rate?.tokensMax).toBe(11)
    expect(requestsPerMinute(rate!, 0.01)).toBe(6_000)
  })

  test.each([
    100,
    0,
    '',
    '100',
    '0/s',
    '-1/s',
    '1.5/s',
    '1e3/s',
    '01/s',
    ' 1/s',
    '1/s\n',
    '1/ s',
    '1/h',
    '1/S',
    '1/minute',
    '1000001/s',
    '99999999999999999999/s',
    null,
    [],
    {},
    true,
    '１/s',
  ])('%j is refused by name', (rate) => {
    const parsed = parseSubscription({ ...least, rate })
    expect(parsed).toEqual({
      kind: 'invalid',
      problems: [
        {
          path: ['rate'],
          message: `rate: ${JSON.stringify(rate)} is not a rate; a whole number from 1 to 1000000 per second or minute, such as 100/s or 120/min, or none`,
        },
      ],
    })
  })
})

describe('what a receiver allowed in the handshake', () => {
  const handshake = (change: Partial<Extract<Handshake, { kind: 'succeeded' }>> = {}): Handshake => ({
    kind: 'succeeded',
    form: 'cloudevents',
    revision: 2,
    validation: null,
    at: '2026-03-01T12:00:00.000Z',
    allowedRate: 120,
    ...change,
  })
  const asked = { handshake: 'cloudevents' }
  const perMinute = (rate: Rate | null) => (rate === null ? null : requestsPerMinute(rate, 1))

  test.each([
    ['is obeyed without a rate of one’s own', asked, handshake(), 120],
    ['is obeyed where it is lower', { ...asked, rate: '10/s' }, handshake(), 120],
    ['allows no more than one’s own', { ...asked, rate: '60/min' }, handshake(), 60],
    ['any: one’s own', { ...asked, rate: '10/s' }, handshake({ allowedRate: null }), 600],
    ['any: none', asked, handshake({ allowedRate: null }), null],
    ['was of another revision', asked, handshake({ revision: 1 }), null],
    ['was of the other form', asked, handshake({ form: 'event-grid' }), null],
    ['is not asked for any more', { rate: '10/s' }, handshake(), 600],
    ['is not known yet', { ...asked, rate: '10/s' }, null, 600],
  ])('%s', (_what, fields, made, rate) => {
    const status = { generation: 5, handshake: made }
    expect(perMinute(rateToKeep(subscriptionWith(fields), status))).toBe(rate)
  })

  test('is another life’s', () => {
    expect(rateToKeep(subscriptionWith(asked), { generation: 4, handshake: handshake() })).toBeNull()
    expect(rateToKeep(subscriptionWith(asked), null)).toBeNull()
  })

  test('is a minute of the time scale', () => {
    const status = { generation: 5, handshake: handshake({ allowedRate: 6_000 }) }
    expect(rateToKeep(subscriptionWith(asked, 0.01), status)?.tokensPerMs).toBeCloseTo(10, 9)
  })
})

describe('the share of a process', () => {
  const of = (own: number, all: number) => ({ own, all })

  test.each([
    ['everything, and nothing is held', of(8, 8), null, 1],
    ['half of the source', of(4, 8), null, 0.5],
    ['nothing', of(0, 8), null, 0],
    ['not in the group', null, null, 0],
    ['no partition is known', of(0, 0), null, 0],
    ['everything', of(8, 8), of(8, 8), 1],
    ['the source alone', of(1, 1), of(0, 8), 0.8],
    ['held ones alone', of(0, 1), of(4, 8), 0.1],
    ['more than there were when somebody counted', of(9, 8), null, 1],
  ])('%s', (_what, source, held, share) => {
    expect(shareOf({ source, held })).toBeCloseTo(share, 12)
  })

  test('is 1 over all processes, whoever reads what', () => {
    for (const sources of [
      [1, 0, 0],
      [3, 3, 2],
      [8, 0, 0],
      [1, 1, 1],
    ]) {
      for (const helds of [null, [8, 0, 0], [0, 4, 4], [3, 3, 2]]) {
        const all = sources.reduce((sum, own) => sum + own, 0)
        const shares = sources.map((own, index) =>
          shareOf({ source: { own, all }, held: helds === null ? null : of(helds[index] ?? 0, 8) }),
        )
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12)
      }
    }
  })
})

describe('the bucket', () => {
  /** When requests are made of which some always wait, in whole ms, as a timer fires. */
  function timesOf(rate: Rate, forMs: number, lateMs = (_count: number) => 0): number[] {
    const times: number[] = []
    let bucket: TokenBucket = newBucket(0)
    for (let now = 0; now < forMs;) {
      bucket = refilled(bucket, rate, now)
      const next = withoutToken(bucket)
      if (next !== null) {
        times.push(now)
        bucket = next
      } else now += Math.max(1, Math.ceil(untilTokenMs(bucket, rate))) + lateMs(times.length)
    }
    return times
  }

  test('a request at once, then one after the other', () => {
    expect(timesOf(rateOf('4/s', 1)!, 1_100)).toEqual([0, 250, 500, 750, 1_000])
    expect(timesOf(rateOf('2/min', 1)!, 61_000)).toEqual([0, 30_000, 60_000])
  })

  test.each(['7/s', '100/s', '3000/s', '100/min'])('%s is reached, and never exceeded, over any time', (written) => {
    const rate = rateOf(written, 1)!
    for (const late of [0, 7, 40]) {
      const times = timesOf(rate, 20_000, (count) => (late * (count % 3)) / 2)
      const wanted = 20_000 * rate.tokensPerMs
      expect(times.length).toBeGreaterThan(wanted * 0.97)
      for (const windowMs of [10, 1_000, 5_000]) {
        let first = 0
        let most = 0
        for (const [last, time] of times.entries()) {
          while ((times[first] ?? 0) <= time - windowMs) first += 1
          most = Math.max(most, last - first + 1)
        }
        expect(most).toBeLessThanOrEqual(Math.ceil(windowMs * rate.tokensPerMs + rate.tokensMax))
      }
    }
  })

  test('after a pause it holds a tenth of a second’s worth and one', () => {
    const rate = rateOf('100/s', 1)!
    expect(refilled(newBucket(0), rate, 3_600_000).tokens).toBe(11)
  })

  test('a clock that is put back neither adds nor takes away', () => {
    const rate = rateOf('1/s', 1)!
    const back = refilled({ tokens: 0.25, at: 5_000 }, rate, 1_000)
    expect(back).toEqual({ tokens: 0.25, at: 1_000 })
    expect(untilTokenMs(back, rate)).toBe(750)
  })

  test('a share of it waits longer, and one of nothing for ever', () => {
    const rate = rateOf('10/s', 1)!
    expect(timesOf(shareOfRate(rate, 0.5), 1_000)).toEqual([0, 200, 400, 600, 800])
    expect(untilTokenMs({ tokens: 0, at: 0 }, shareOfRate(rate, 0))).toBe(Infinity)
  })
})
