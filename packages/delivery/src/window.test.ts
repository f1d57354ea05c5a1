import { expect, test } from 'vitest'
import { createWindow } from './window.ts'

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

test('never more than the limit are in flight, and places are given first come, first served', async () => {
  const { started, settle, task } = controlled()
  const window = createWindow(() => 2)
  for (const index of [0, 1, 2, 3]) window.run(task(index))
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
  const window = createWindow(() => limit)
  for (const index of [0, 1, 2, 3]) window.run(task(index))
  limit = 3
  settle[0]?.()
  await expect.poll(() => started).toEqual([0, 1, 2, 3])
})

test('those that wait can be dropped, and are told', async () => {
  const { started, settle, task } = controlled()
  const window = createWindow(() => 1)
  const dropped: number[] = []
  window.run(task(0), () => dropped.push(0))
  window.run(task(1), () => dropped.push(1))
  window.run(task(2))
  window.clear()
  expect([dropped, window.waiting]).toEqual([[1], 0])
  settle[0]?.()
  await window.idle()
  expect([started, window.inFlight]).toEqual([[0], 0])
})

test('idle resolves at once when nothing is in flight, else with the last', async () => {
  const { settle, task } = controlled()
  const freed: number[] = []
  const window = createWindow(
    () => 5,
    () => freed.push(window.inFlight),
  )
  await window.idle()
  window.run(task(0))
  window.run(task(1))
  const idle = window.idle()
  settle[0]?.()
  settle[1]?.()
  await idle
  expect(freed).toEqual([1, 0])
})

test('thousands that wait keep their order', async () => {
  const order: number[] = []
  const window = createWindow(() => 3)
  for (let index = 0; index < 5_000; index += 1) {
    window.run(async () => void order.push(index))
  }
  await expect.poll(() => order.length).toBe(5_000)
  expect(order).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
})

test('a held window gives no place until it is opened', async () => {
  const { started, settle, task } = controlled()
  const window = createWindow(() => 1)
  window.run(task(0))
  window.hold()
  window.run(task(1))
  settle[0]?.()
  await window.idle()
  expect([started, window.waiting]).toEqual([[0], 1])
  window.open()
  expect(started).toEqual([0, 1])
})
