import { expect, test } from 'vitest'
import { createReadBudget } from './read-budget.ts'
import { createWindow } from './window.ts'
import type { WindowOptions } from './window.ts'

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
