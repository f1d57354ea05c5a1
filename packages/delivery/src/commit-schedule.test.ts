import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCommitSchedule } from './commit-schedule.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** Commits that take a second each; when each began. */
function slowCommits() {
  const begun: number[] = []
  const schedule = createCommitSchedule(async () => {
    begun.push(Date.now())
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  })
  return { begun, schedule }
}

test('the most urgent wish decides, and wishes before it go with it', async () => {
  const { begun, schedule } = slowCommits()
  schedule.within(200)
  schedule.within(20)
  schedule.within(200)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(begun).toEqual([20])
})

test('one commit at a time: what is asked for meanwhile follows as one', async () => {
  const { begun, schedule } = slowCommits()
  const first = schedule.now()
  await vi.advanceTimersByTimeAsync(100)
  const [second, third] = [schedule.now(), schedule.now()]
  schedule.within(5)
  await vi.advanceTimersByTimeAsync(5_000)
  await Promise.all([first, second, third])
  expect(begun).toEqual([0, 1_000])
})

test('a wish after a commit has begun is not lost with it', async () => {
  const { begun, schedule } = slowCommits()
  void schedule.now()
  await vi.advanceTimersByTimeAsync(500)
  schedule.within(2_000)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(begun).toEqual([0, 2_500])
})

test('after stop nothing begins by itself, and what is asked for still happens', async () => {
  const { begun, schedule } = slowCommits()
  schedule.within(20)
  schedule.stop()
  schedule.within(20)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(begun).toEqual([])
  void schedule.now()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toEqual([1_000])
})
