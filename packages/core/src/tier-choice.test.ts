import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { retryPolicyOf, retryPresets } from './retry-policy.ts'
import { inMemoryRestMs, leavesTierAt, tierFor, tierPartition } from './tier-choice.ts'
import { tiers } from './tiers.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

interface Journey {
  readonly through: string[]
  /** What is waited out in memory at the end. */
  readonly restMs: number
  readonly arrivesAt: number
}

/** The way of one wait through the tiers; every write takes `writeMs`, and the record leaves `lateMs` after it might. */
function travel(dueAt: number, { timeScale = 1, writeMs = 0, lateMs = 0 } = {}): Journey {
  const through: string[] = []
  let now = 0
  do {
    const tier = tierFor(dueAt - now, tiers, timeScale)
    through.push(tier.name)
    now = Math.max(now, leavesTierAt(dueAt, now + writeMs, tier, timeScale)) + lateMs
  } while (dueAt - now > inMemoryRestMs * timeScale)
  return { through, restMs: Math.max(0, dueAt - now), arrivesAt: now }
}

test.each<readonly [string, number, string, number]>([
  // [wait, ms, tiers, rest in memory]
  ['nothing', 0, 'now', 0],
  ['a due time that has passed', -5 * second, 'now', 0],
  ['800 ms', 800, '1s', 0],
  ['749 ms', 749, 'now', 749],
  ['1 s', second, '1s', 0],
  ['1.75 s: the slack', 1_750, '2s', 0],
  ['1.749 s', 1_749, '1s', 749],
  ['5 s', 5 * second, '4s', second],
  ['7 s', 7 * second, '4s', 3 * second],
  ['10 s', 10 * second, '10s', 0],
  ['10.4 s', 10_400, '10s', 400],
  ['11 s', 11 * second, '10s', second],
  ['15 s', 15 * second, '10s', 5 * second],
  ['15.001 s', 15_001, '10s 4s', 1_001],
  ['20 s', 20 * second, '16s', 4 * second],
  ['33 s', 33 * second, '32s', second],
  ['45 s', 45 * second, '32s 10s', 3 * second],
  ['a minute', minute, '1m', 0],
  ['66 s', 66 * second, '64s', 2 * second],
  ['3 min', 3 * minute, '128s 32s 16s', 4 * second],
  ['5 min and 10 s', 310 * second, '5m 10s', 0],
  ['512 s', 512 * second, '512s', 0],
  ['10 min', 10 * minute, '10m', 0],
  ['12 h', 12 * hour, '12h', 0],
  ['12 h and 10 s', 12 * hour + 10 * second, '12h 10s', 0],
  ['20 h', 20 * hour, '12h 6h 1h 1h', 0],
])('%s (%i ms) goes through %s, then %i ms in memory', (_, waitMs, through, restMs) => {
  expect(travel(waitMs)).toEqual({ through: through.split(' '), restMs, arrivesAt: waitMs < 0 ? 0 : waitMs - restMs })
})

test.each(retryPresets)(
  'A6, B1, B2, C3: a usual retry of %s costs one or two writes, without loss of time',
  (schedule) => {
    const { delays } = retryPolicyOf({ schedule }, 1)
    for (const { baseMs, spreadMs } of delays) {
      for (const random of [0, 0.25, 0.5, 0.75, 1]) {
        const dueAt = baseMs + random * spreadMs
        const { through, arrivesAt } = travel(dueAt, { writeMs: 5, lateMs: 20 })
        expect(through.length, `${dueAt} ms went through ${through.join(' ')}`).toBeLessThanOrEqual(2)
        expect(arrivesAt).toBeLessThanOrEqual(dueAt + 20)
      }
    }
  },
)

const wait = fc.oneof(fc.integer({ min: 0, max: 30 * second }), fc.integer({ min: 0, max: 24 * hour }))

test('no wait leaves a tier late, and what remains for memory is 5 s at most', () => {
  fc.assert(
    fc.property(wait, fc.constantFrom(1, 0.1, 0.01), (waitMs, timeScale) => {
      const { arrivesAt, restMs, through } = travel(waitMs * timeScale, { timeScale })
      expect(arrivesAt).toBeLessThanOrEqual(waitMs * timeScale)
      expect(restMs).toBeLessThanOrEqual(inMemoryRestMs * timeScale)
      // The worst wait within a day goes through 12h 6h 3h 1h 1h 30m 10m 10m 128s 64s 32s 10s 4s.
      expect(through.length).toBeLessThanOrEqual(13)
    }),
    { numRuns: 1_000 },
  )
})

test('a tier is the longest whose delay is at most what remains and 250 ms', () => {
  fc.assert(
    fc.property(wait, (remainingMs) => {
      const chosen = tierFor(remainingMs, tiers, 1)
      const fitting = tiers.filter(({ delayMs }) => delayMs <= remainingMs + 250)
      expect(chosen.delayMs).toBe(Math.max(...fitting.map(({ delayMs }) => delayMs)))
    }),
  )
})

test('with a time scale of 0.01 the tiers are the same by name', () => {
  fc.assert(
    fc.property(wait, (waitMs) => {
      // Away from the edge, where a rounding in the last place decides.
      const scaled = tierFor((waitMs + 0.5) * 0.01, tiers, 0.01)
      expect(scaled.name).toBe(tierFor(waitMs, tiers, 1).name)
    }),
  )
  expect(travel(20 * hour * 0.01, { timeScale: 0.01 }).through).toEqual(['12h', '6h', '1h', '1h'])
  expect(travel(10 * second * 0.01, { timeScale: 0.01 }).through).toEqual(['10s'])
})

test('without tiers there is nothing to choose', () => {
  expect(() => tierFor(second, [], 1)).toThrow('there are no tiers')
})

test.each([
  ['the due time comes first', 9_900, 9_900],
  ['both at once', 10_100, 10_100],
  ['the delay of the tier ends first', 25_000, 10_100],
  ['the due time has passed', 0, 0],
])('a record leaves its tier at the earlier of due time and delay: %s', (_, dueAt, leavesAt) => {
  const tier = tiers.find(({ name }) => name === '10s')!
  expect(leavesTierAt(dueAt, 100, tier, 1)).toBe(leavesAt)
  expect(leavesTierAt(dueAt / 100, 1, tier, 0.01)).toBe(leavesAt / 100)
})

describe('the partition of a tier', () => {
  const source = { topic: 'orders', partition: 3, offset: 42 }

  test('stays the same from release to release: two retriers would not see each other’s records', () => {
    expect(tierPartition('orders-to-billing', source, 8)).toBe(0)
    expect(tierPartition('orders-to-billing', { ...source, offset: 43 }, 8)).toBe(3)
    expect(tierPartition('orders-to-billing', { ...source, partition: 4 }, 8)).toBe(7)
    expect(tierPartition('orders-to-shipping', source, 8)).toBe(3)
    expect(tierPartition('orders-to-billing', { ...source, topic: 'returns' }, 1_000_003)).toBe(364_457)
    expect(tierPartition('a', { topic: 'b', partition: 0, offset: Number.MAX_SAFE_INTEGER }, 1_000_003)).toBe(131_534)
  })

  test('is one of those that exist', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), fc.maxSafeNat(), fc.integer({ min: 1, max: 64 }), (...parts) => {
        const [id, topic, partition, offset, partitions] = parts
        const chosen = tierPartition(id, { topic, partition, offset }, partitions)
        expect(Number.isInteger(chosen) && chosen >= 0 && chosen < partitions).toBe(true)
      }),
    )
  })

  test.each([2, 3, 8, 12, 16, 50])('spreads consecutive offsets over %i partitions', (partitions) => {
    const records = 20_000
    const counts = Array.from({ length: partitions }, () => 0)
    for (let index = 0; index < records; index += 1) {
      // One source topic with 8 partitions.
      const position = { topic: 'orders', partition: index % 8, offset: Math.floor(index / 8) }
      counts[tierPartition('orders-to-billing', position, partitions)]! += 1
    }
    const fair = records / partitions
    expect(Math.min(...counts)).toBeGreaterThan(fair * 0.8)
    expect(Math.max(...counts)).toBeLessThan(fair * 1.2)
  })
})
