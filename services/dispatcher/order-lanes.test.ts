import type { HoldablePartition } from '@barnabas/delivery'
import { expect, test } from 'vitest'
import { createOrderLanes } from './order-lanes.ts'

interface Item {
  readonly name: string
  readonly bytes: number
}

const one = {} as HoldablePartition
const two = {} as HoldablePartition

function lanes() {
  const steps: string[] = []
  let budget = 0
  const made = createOrderLanes<Item>({
    begin: ({ name }) => void steps.push(name),
    copyOf: (item) => ({ ...item, name: `copy of ${item.name}` }),
    budget: { add: (bytes) => void (budget += bytes), remove: (bytes) => void (budget -= bytes) },
  })
  const enter = (partition: HoldablePartition, lane: string, ...names: readonly string[]) =>
    names.forEach((name) => made.enter(partition, lane, { name, bytes: 10 }))
  return {
    steps,
    made,
    enter,
    get counted() {
      return [made.waiting, made.waitingBytes, budget]
    },
  }
}

test('one of a lane after the other, lanes and partitions side by side', () => {
  const run = lanes()
  run.enter(one, 'a', 'a1', 'a2', 'a3')
  run.enter(one, 'b', 'b1')
  run.enter(two, 'a', 'other a1')
  expect(run.steps.splice(0)).toEqual(['a1', 'b1', 'other a1'])
  expect(run.counted).toEqual([2, 20, 20])
  run.made.over(one, 'a')
  expect(run.steps.splice(0)).toEqual(['a2'])
  run.made.over(one, 'a')
  run.made.over(one, 'a')
  run.enter(one, 'a', 'a4')
  expect(run.steps).toEqual(['a3', 'a4'])
  expect(run.counted).toEqual([0, 0, 0])
})

test('behind one that stays they wait as copies, those that come and those that were there', () => {
  const run = lanes()
  run.enter(one, 'a', 'a1', 'a2')
  run.made.stays(one, 'a')
  run.enter(one, 'a', 'a3')
  run.made.over(one, 'a')
  run.enter(one, 'a', 'a4')
  run.made.over(one, 'a')
  run.made.over(one, 'a')
  expect(run.steps).toEqual(['a1', 'copy of a2', 'copy of a3', 'a4'])
})

test('an earlier life’s is before all that comes', () => {
  const run = lanes()
  run.made.occupy(one, 'a')
  run.enter(one, 'a', 'a2')
  expect(run.steps).toEqual([])
  run.made.over(one, 'a')
  expect(run.steps).toEqual(['copy of a2'])
})

test('an earlier life’s is before all that comes, also where something that came before it is under way again', () => {
  const run = lanes()
  run.enter(one, 'a', 'a1', 'a2')
  run.made.occupy(one, 'a')
  run.enter(one, 'a', 'a4')
  run.made.over(one, 'a')
  expect(run.steps).toEqual(['a1'])
  run.made.over(one, 'a')
  run.made.over(one, 'a')
  expect(run.steps).toEqual(['a1', 'copy of a2', 'copy of a4'])
  run.made.over(one, 'a')
  run.enter(one, 'a', 'a5')
  expect(run.steps.at(-1)).toBe('a5')
})

test('what is dropped or lost is never begun, and counts no more', () => {
  const run = lanes()
  run.enter(one, 'a', 'a1', 'a2')
  run.enter(one, 'b', 'b1', 'b2')
  run.enter(two, 'a', 'c1', 'c2')
  run.made.drop(one, 'a')
  expect(run.counted).toEqual([2, 20, 20])
  run.made.lost(two)
  expect(run.counted).toEqual([1, 10, 10])
  run.made.dropAll()
  expect(run.counted).toEqual([0, 0, 0])
  for (const [partition, lane] of [
    [one, 'a'],
    [one, 'b'],
    [two, 'a'],
  ] as const)
    run.made.over(partition, lane)
  expect(run.steps).toEqual(['a1', 'b1', 'c1'])
})
