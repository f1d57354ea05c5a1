import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from './deadlines.ts'
import type { Deadlines, Timed } from './deadlines.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Watches something that tells `due` its name and when it was told so, in ms from the beginning. */
function watchIn(deadlines: Deadlines<Timed>, due: string[], name: string, inMs: number): Timed {
  const timed = {
    dueAt: performance.now() + inMs,
    place: -1,
    onDue: () => void due.push(`${name} at ${performance.now()}`),
  }
  deadlines.watch(timed)
  return timed
}

test('each is due at its time, whatever the order in which they were watched', () => {
  const due: string[] = []
  const deadlines = createDeadlines<Timed>()
  watchIn(deadlines, due, 'last', 30_000)
  watchIn(deadlines, due, 'first', 100)
  watchIn(deadlines, due, 'second', 200)
  vi.advanceTimersByTime(99)
  expect(due).toEqual([])
  vi.advanceTimersByTime(60_000)
  expect(due).toEqual(['first at 100', 'second at 200', 'last at 30000'])
})

test('those that follow closely are taken together: late by a few ms, never early', () => {
  const due: string[] = []
  const deadlines = createDeadlines<Timed>()
  for (const inMs of [100, 101, 102]) watchIn(deadlines, due, String(inMs), inMs)
  vi.advanceTimersByTime(200)
  expect(due).toEqual(['100 at 100', '101 at 105', '102 at 105'])
})

test('what is forgotten is never due; what is watched anew is due at its new time alone', () => {
  const due: string[] = []
  const deadlines = createDeadlines<Timed>()
  deadlines.forget(watchIn(deadlines, due, 'forgotten', 10))
  const moved = watchIn(deadlines, due, 'moved', 20)
  moved.dueAt = 5
  deadlines.watch(moved)
  vi.advanceTimersByTime(1_000)
  expect(due).toEqual(['moved at 5'])
})

test('what is watched when something is due is due in its turn', () => {
  const due: string[] = []
  const deadlines = createDeadlines<Timed>()
  deadlines.watch({ dueAt: 10, place: -1, onDue: () => void watchIn(deadlines, due, 'next', 10) })
  vi.advanceTimersByTime(1_000)
  expect(due).toEqual(['next at 20'])
})
