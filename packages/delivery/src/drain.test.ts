import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { drain } from './drain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function draining() {
  const idle = Promise.withResolvers<void>()
  const told: string[] = []
  const over = drain(idle.promise, { drainMs: 8_000, writeMs: 1_000 }, () => told.push('cut off')).then(
    () => void told.push('over'),
  )
  return { idle, told, over }
}

test('what ends in time is not cut off', async () => {
  const { idle, told, over } = draining()
  await vi.advanceTimersByTimeAsync(7_999)
  idle.resolve()
  await over
  await vi.runAllTimersAsync()
  expect(told).toEqual(['over'])
})

test('what does not is cut off, and its verdicts are waited for', async () => {
  const { idle, told, over } = draining()
  await vi.advanceTimersByTimeAsync(8_500)
  expect(told).toEqual(['cut off'])
  idle.resolve()
  await over
  expect(told).toEqual(['cut off', 'over'])
})

test('a verdict that cannot be written is not waited for', async () => {
  const { told } = draining()
  await vi.advanceTimersByTimeAsync(8_999)
  expect(told).toEqual(['cut off'])
  await vi.advanceTimersByTimeAsync(1)
  expect(told).toEqual(['cut off', 'over'])
})
