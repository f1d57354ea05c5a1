import { expect, test } from 'vitest'
import { createReadBudget } from './read-budget.ts'
import { createWindow } from './window.ts'
import type { Batching, WindowOptions } from './window.ts'

/** Tasks that settle when they are told to. */
function controlled() {
  const started: number[] = []
  const settle: (() => void)[] = []
  const task = (index: number) => () =>
    new Promise<void>((resolve) => {
      started.push(index)
      settle[index] = resolve
    })
  return { started, settle, task }
}

function windowOf(limit: () => number, changes: Partial<WindowOptions> = {}) {
  return createWindow({ limit, bytesMax: 1_000, budget: createReadBudget(10_000), ...changes })
}

test('never more than the limit are in flight, and places are given first come, first served', async () => {
  const { started, settle, task } = controlled()
  const window = windowOf(() => 2)
  for (const index of [0, 1, 2, 3]) window.run(task(index), 1)
  expect([started, window.inFlight, window.waiting]).toEqual([[0, 1], 2, 2])
  settle[1]?.()
  await expect.poll(() => started).toEqual([0, 1, 2])
  settle[0]?.()
  await expect.poll(() => started).toEqual([0, 1, 2, 3])
  expect([window.inFlight, window.waiting]).toEqual([2, 0])
})

test('a limit that is raised counts from the next place that is freed', async () => {
  const { started, settle, task } = controlled()
  let limit = 1
  const window = windowOf(() => limit)
  for (const index of [0, 1, 2, 3]) window.run(task(index), 1)
  limit = 3
  settle[0]?.()
  await expect.poll(() => started).toEqual([0, 1, 2, 3])
})

test('a limit that is raised counts at once for who says so', () => {
  const { started, task } = controlled()
  let limit = 1
  const window = windowOf(() => limit)
  for (const index of [0, 1, 2]) window.run(task(index), 1)
  limit = Infinity
  window.limitChanged()
  expect(started).toEqual([0, 1, 2])
})

test('those that wait can be dropped, and are told', async () => {
  const { started, settle, task } = controlled()
  const window = windowOf(() => 1)
  const dropped: number[] = []
  window.run(task(0), 1, () => dropped.push(0))
  window.run(task(1), 1, () => dropped.push(1))
  window.run(task(2), 1)
  window.clear()
  expect([dropped, window.waiting]).toEqual([[1], 0])
  settle[0]?.()
  await window.idle()
  expect([started, window.inFlight]).toEqual([[0], 0])
})

test('idle resolves at once when nothing is in flight, else with the last', async () => {
  const { settle, task } = controlled()
  const freed: number[] = []
  const window = windowOf(() => 5, { onFreed: () => freed.push(window.inFlight) })
  await window.idle()
  window.run(task(0), 1)
  window.run(task(1), 1)
  const idle = window.idle()
  settle[0]?.()
  settle[1]?.()
  await idle
  expect(freed).toEqual([1, 0])
})

test('thousands that wait keep their order', async () => {
  const order: number[] = []
  const window = windowOf(() => 3)
  for (let index = 0; index < 5_000; index += 1) {
    window.run(async () => void order.push(index), 1)
  }
  await expect.poll(() => order.length).toBe(5_000)
  expect(order).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
})

test('a held window gives no place until it is opened', async () => {
  const { started, settle, task } = controlled()
  const window = windowOf(() => 1)
  window.run(task(0), 1)
  window.hold()
  window.run(task(1), 1)
  settle[0]?.()
  await window.idle()
  expect([started, window.waiting]).toEqual([[0], 1])
  window.open()
  expect(started).toEqual([0, 1])
})

test('never more bytes than the limit are in flight, but for one that is larger by itself', async () => {
  const { started, settle, task } = controlled()
  const window = windowOf(() => 8)
  const sizes = [400, 600, 1, 3_000, 1]
  sizes.forEach((bytes, index) => window.run(task(index), bytes))
  expect([started, window.waiting, window.waitingBytes]).toEqual([[0, 1], 3, 3_002])
  settle[0]?.()
  await expect.poll(() => started).toEqual([0, 1, 2])
  settle[1]?.()
  settle[2]?.()
  await expect.poll(() => started).toEqual([0, 1, 2, 3])
  expect([window.waiting, window.hasPlace(1)]).toEqual([1, false])
  settle[3]?.()
  await expect.poll(() => started).toEqual([0, 1, 2, 3, 4])
})

test('has a place only where a task would begin at once', () => {
  const { task } = controlled()
  const window = windowOf(() => 2)
  expect(window.hasPlace(5_000)).toBe(true)
  window.run(task(0), 400)
  expect([window.hasPlace(600), window.hasPlace(601)]).toEqual([true, false])
  window.hold()
  expect(window.hasPlace(1)).toBe(false)
})

test('counts what it holds in the budget of the process, waiting or in flight', async () => {
  const { settle, task } = controlled()
  const budget = createReadBudget(1_000)
  const rooms: number[] = []
  budget.onRoom(() => rooms.push(1))
  const window = windowOf(() => 1, { budget })
  window.run(task(0), 400)
  window.run(task(1), 600)
  expect(budget.isFull).toBe(true)
  settle[0]?.()
  await expect.poll(() => budget.isFull).toBe(false)
  expect(rooms).toEqual([])
  settle[1]?.()
  await window.idle()
  expect(rooms).toEqual([1])
  window.run(task(2), 1_000)
  window.run(task(3), 700)
  window.clear()
  settle[2]?.()
  await window.idle()
  expect([budget.isFull, rooms]).toEqual([false, [1, 1]])
})

/** Batches that settle when they are told to; an item is a number, of the size that it names. */
function controlledBatches(maxEvents: number, preferredBytes = 1_000_000) {
  const begun: (readonly number[])[] = []
  const settle: (() => void)[] = []
  const limits = { maxEvents, preferredBytes }
  const batching: Batching<number> = {
    limits: () => limits,
    bytesOf: (bytes) => bytes,
    begin(items) {
      begun.push(items)
      return new Promise((resolve) => settle.push(resolve))
    },
  }
  return { begun, settle, batching, limits }
}

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve))

test('what comes in one turn of the event loop begins together, in its order, and one alone waits for nobody', async () => {
  const { begun, batching } = controlledBatches(10)
  const window = windowOf(() => 3)
  for (const item of [1, 2, 3]) window.runTogether(batching, item, 10)
  expect([begun, window.waiting, window.waitingBytes]).toEqual([[], 3, 30])
  await turnOfTheLoop()
  window.runTogether(batching, 4, 10)
  await turnOfTheLoop()
  expect([begun, window.inFlight, window.inFlightBytes, window.waiting]).toEqual([[[1, 2, 3], [4]], 2, 40, 0])
})

test('a batch takes one place, whatever is in it, and the next is chosen when it is free', async () => {
  const { begun, settle, batching } = controlledBatches(3)
  const freed: number[] = []
  const window = windowOf(() => 1, { onFreed: () => freed.push(window.waiting) })
  window.runTogether(batching, 1, 10)
  await turnOfTheLoop()
  for (const item of [2, 3, 4, 5]) window.runTogether(batching, item, 10)
  await turnOfTheLoop()
  expect([begun, window.waiting]).toEqual([[[1]], 4])
  settle[0]?.()
  await expect.poll(() => begun).toEqual([[1], [2, 3, 4]])
  expect([window.inFlight, window.inFlightBytes, window.waiting, window.waitingBytes]).toEqual([1, 30, 1, 10])
  settle[1]?.()
  await expect.poll(() => begun).toEqual([[1], [2, 3, 4], [5]])
  settle[2]?.()
  await window.idle()
  expect([window.inFlight, window.inFlightBytes, window.hasPlace(1)]).toEqual([0, 0, true])
  expect(freed.at(-1)).toBe(0)
})

test('a full batch does not wait for the turn to end', () => {
  const { begun, batching } = controlledBatches(2)
  const window = windowOf(() => 3)
  for (const item of [1, 2, 3]) window.runTogether(batching, item, 10)
  expect([begun, window.waiting]).toEqual([[[1, 2]], 1])
})

test('the body of a request and the bytes in flight each end a batch', async () => {
  const { begun, batching } = controlledBatches(10, 100)
  const window = windowOf(() => 9)
  for (const item of [40, 40, 40, 500, 1]) window.runTogether(batching, item, 10)
  await turnOfTheLoop()
  expect(begun).toEqual([[40, 40], [40], [500], [1]])

  const others = controlledBatches(10)
  const smaller = windowOf(() => 9, { bytesMax: 100 })
  for (const item of [1, 2, 3, 4]) smaller.runTogether(others.batching, item, 40)
  await turnOfTheLoop()
  expect([others.begun, smaller.waiting]).toEqual([[[1, 2]], 2])
})

test('only those of one batching go together, and what came to run alone runs alone', async () => {
  const [one, other] = [controlledBatches(10), controlledBatches(10)]
  const { started, task } = controlled()
  const window = windowOf(() => 1)
  window.hold()
  for (const item of [1, 2]) window.runTogether(one.batching, item, 10)
  window.run(task(0), 10)
  for (const item of [3, 4]) window.runTogether(other.batching, item, 10)
  window.runTogether(one.batching, 5, 10)
  window.open()
  one.settle[0]?.()
  await expect.poll(() => started).toEqual([0])
  expect([one.begun, other.begun]).toEqual([[[1, 2]], []])
})

test('limits that were changed meanwhile count for those that wait', async () => {
  const { begun, settle, batching, limits } = controlledBatches(10)
  const window = windowOf(() => 1)
  window.hold()
  for (const item of [1, 2, 3]) window.runTogether(batching, item, 10)
  limits.maxEvents = 1
  window.open()
  settle[0]?.()
  await expect.poll(() => begun).toEqual([[1], [2]])
})

test('of those that wait for a batch each is told that it is dropped', async () => {
  const { begun, batching } = controlledBatches(10)
  const window = windowOf(() => 1)
  const dropped: number[] = []
  for (const item of [1, 2]) window.runTogether(batching, item, 10, () => dropped.push(item))
  window.clear()
  await turnOfTheLoop()
  expect([dropped, begun, window.waiting, window.waitingBytes]).toEqual([[1, 2], [], 0, 0])
})
