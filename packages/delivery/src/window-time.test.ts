import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createReadBudget } from './read-budget.ts'
import { createWindow } from './window.ts'
import type { Batching, Window } from './window.ts'

/** `batch.window`, EventBridge's `TimeBasedWindow` (issue 6, point 10): of count, size and time the first one wins. */
const windowMs = 5_000
let begun: (readonly number[])[]
let window: Window
let limits: { maxEvents: number; preferredBytes: number; windowMs: number }
let settle: (() => void)[]
let batching: Batching<number>

beforeEach(() => {
  vi.useFakeTimers()
  begun = []
  settle = []
  limits = { maxEvents: 4, preferredBytes: 1_000, windowMs }
  batching = {
    limits: () => limits,
    bytesOf: (bytes) => bytes,
    begin(items) {
      begun.push(items)
      return new Promise((resolve) => settle.push(resolve))
    },
  }
  window = createWindow({ limit: () => 2, bytesMax: 10_000, budget: createReadBudget(100_000) })
})
afterEach(() => {
  vi.useRealTimers()
})

function add(...items: readonly number[]) {
  for (const item of items) window.runTogether(batching, item, item)
}

test('the first event waits for the time, from when it came, and what came meanwhile goes along', () => {
  add(1)
  vi.advanceTimersByTime(windowMs - 1)
  expect(begun).toEqual([])
  add(2)
  vi.advanceTimersByTime(1)
  expect(begun).toEqual([[1, 2]])
  add(3)
  vi.advanceTimersByTime(windowMs - 1)
  expect([begun.length, window.waiting]).toEqual([1, 1])
  vi.advanceTimersByTime(1)
  expect(begun).toEqual([[1, 2], [3]])
})

test('a batch that is full by its count does not wait, and what is left over begins its own time', () => {
  add(1, 2, 3)
  vi.advanceTimersByTime(1_000)
  add(4, 5)
  expect([begun, window.waiting]).toEqual([[[1, 2, 3, 4]], 1])
  vi.advanceTimersByTime(windowMs - 1)
  expect(begun).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(begun[1]).toEqual([5])
})

test.each([
  ['the next one does not fit', [500, 497, 300], [[500, 497]]],
  ['one is larger by itself', [2_000, 1], [[2_000]]],
])('a batch that is full by its size does not wait: %s', (_, items, expected) => {
  add(...items)
  vi.advanceTimersByTime(1)
  expect(begun).toEqual(expected)
  vi.advanceTimersByTime(windowMs)
  expect(begun.flat()).toEqual(items)
})

test('without a place the time goes on, and the batch begins with the next one that is free', async () => {
  limits.maxEvents = 1
  add(1, 2)
  limits.maxEvents = 4
  add(3, 4)
  vi.advanceTimersByTime(2 * windowMs)
  expect(begun).toEqual([[1], [2]])
  settle[0]?.()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun[2]).toEqual([3, 4])
})

test('a held window begins nothing, and opens for those whose time is over', () => {
  add(1)
  window.hold()
  vi.advanceTimersByTime(windowMs)
  add(2)
  expect(begun).toEqual([])
  window.open()
  expect(begun).toEqual([[1, 2]])
})

test('a time that is taken away counts at once for who says so', () => {
  add(1, 2)
  vi.advanceTimersByTime(1)
  limits.windowMs = 0
  window.limitChanged()
  expect(begun).toEqual([[1, 2]])
})

test('one that does not wait takes along those that came before it', () => {
  add(1, 2)
  vi.advanceTimersByTime(1)
  batching = { ...batching, limits: (item) => (item === 3 ? { ...limits, windowMs: 0 } : limits) }
  const mixed = batching
  window.clear()
  for (const item of [1, 2, 3]) window.runTogether(mixed, item, item)
  vi.advanceTimersByTime(1)
  expect(begun).toEqual([[1, 2, 3]])
  window.runTogether(mixed, 4, 4)
  vi.advanceTimersByTime(1)
  expect(begun).toHaveLength(1)
})

test('those that wait for their time can be dropped, and no timer is left', () => {
  const dropped: number[] = []
  window.runTogether(batching, 1, 1, () => dropped.push(1))
  vi.advanceTimersByTime(1)
  window.clear()
  expect([dropped, vi.getTimerCount(), window.waiting]).toEqual([[1], 0, 0])
})
