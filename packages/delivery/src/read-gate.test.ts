import { expect, test } from 'vitest'
import { ownShareBytes, waitingBytesMax, waitingMaxOf, waitingRecordsMax } from './limits.ts'
import { createReadBudget } from './read-budget.ts'
import { createReadGate } from './read-gate.ts'
import type { TrackedPartition } from './tracked-partition.ts'

function partitionNamed(name: string, steps: string[]): TrackedPartition {
  return {
    topic: name,
    partition: 0,
    lost: false,
    settled: undefined,
    openCount: 0,
    take: () => null,
    finish() {},
    seek: (offset) => void steps.push(`${name} sought to ${offset}`),
    pause: () => void steps.push(`${name} paused`),
    resume: () => void steps.push(`${name} resumed`),
  }
}

const single = { maxEvents: 1, preferredBytes: 65_536 }

function gateOf({ budgetBytes = 1_000, batch = single } = {}) {
  const steps: string[] = []
  const window = { waiting: 0, waitingBytes: 0, inFlight: 0, inFlightBytes: 0 }
  const budget = createReadBudget(budgetBytes)
  const gate = createReadGate(
    window,
    budget,
    () => waitingMaxOf(batch),
    () => true,
  )
  return { steps, window, budget, gate, one: partitionNamed('one', steps), two: partitionNamed('two', steps) }
}

test.each([
  ['records', 'waiting', waitingRecordsMax],
  ['bytes', 'waitingBytes', waitingBytesMax],
] as const)('as many %s wait as may: its partitions rest until a fifth of them waits', (_what, name, most) => {
  const { steps, window, gate, one, two } = gateOf()
  window[name] = most
  gate.check(one)
  expect(steps).toEqual([])
  window[name] = most + 1
  gate.check(one)
  gate.check(two)
  expect(steps).toEqual(['one paused', 'two paused'])
  window[name] = most / 5 + 1
  gate.freed()
  expect(steps).toHaveLength(2)
  window[name] = most / 5
  gate.freed()
  gate.freed()
  expect(steps.slice(2)).toEqual(['one resumed', 'two resumed'])
})

test('without budget it has its own share, which the others cannot keep it from', () => {
  const { steps, window, budget, gate, one } = gateOf()
  expect([gate.takes(), gate.isTight]).toEqual([true, false])
  budget.add(1_000)
  expect([gate.takes(), gate.isTight]).toEqual([true, true])
  window.inFlight = 1
  window.inFlightBytes = ownShareBytes - 1
  expect(gate.takes()).toBe(true)
  window.inFlightBytes = ownShareBytes
  expect(gate.takes()).toBe(false)
  gate.rest(one, 17)
  expect(steps).toEqual(['one paused', 'one sought to 17'])
  gate.freed()
  expect(steps).toHaveLength(2)
  window.inFlightBytes = 0
  gate.freed()
  expect(steps.slice(2)).toEqual(['one resumed'])
})

test('without budget nothing waits for a place', () => {
  const { steps, window, budget, gate, one } = gateOf()
  budget.add(1_000)
  window.waiting = 1
  expect(gate.takes()).toBe(false)
  gate.check(one)
  expect(steps).toEqual(['one paused'])
})

test('and when others give back half of the budget', () => {
  const { steps, window, budget, gate, one } = gateOf()
  budget.add(1_000)
  window.waiting = 1
  gate.check(one)
  budget.remove(499)
  expect(steps).toEqual(['one paused'])
  budget.remove(1)
  expect(steps).toEqual(['one paused', 'one resumed'])
})

test('a partition that was lost is resumed no more', () => {
  const { steps, window, gate, one } = gateOf()
  window.waiting = waitingRecordsMax + 1
  gate.check(one)
  gate.lost(one)
  window.waiting = 0
  gate.freed()
  expect(steps).toEqual(['one paused'])
})

test('where batches are larger than what else may wait, as much as one of them takes may wait', () => {
  const { steps, window, gate, one } = gateOf({ batch: { maxEvents: 5_000, preferredBytes: 1_048_576 } })
  window.waiting = 5_000
  window.waitingBytes = 5_000 * 1_024 + 2 * 1_048_576
  gate.check(one)
  expect(steps).toEqual([])
  window.waiting += 1
  gate.check(one)
  window.waiting = 1_000
  window.waitingBytes = 1_000 * 1_024
  gate.freed()
  expect(steps).toEqual(['one paused', 'one resumed'])
})

test.each([
  [{ maxEvents: 2, preferredBytes: 65_536 }, 500, 4 * 1_048_576],
  [{ maxEvents: 600, preferredBytes: 65_536 }, 600, 4 * 1_048_576],
  [{ maxEvents: 1, preferredBytes: 1_048_576 }, 500, 4 * 1_048_576],
])('with %o no less may wait than without batches', (batch, records, bytes) => {
  expect(waitingMaxOf(batch)).toEqual({ records, bytes })
})
