import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPatience } from './patience.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('trouble that lasts ends the wait with its reason', async () => {
  const patience = createPatience(1_000)
  const waiting = patience.while(new Promise(() => undefined))
  patience.onTrouble('topic x cannot be read')
  vi.advanceTimersByTime(1_000)
  await expect(waiting).rejects.toThrow('topic x cannot be read')
})

test('trouble that passes does not', async () => {
  const patience = createPatience(1_000)
  const work = Promise.withResolvers<string>()
  const waiting = patience.while(work.promise)
  patience.onTrouble('gone')
  vi.advanceTimersByTime(999)
  patience.onTrouble(null)
  vi.advanceTimersByTime(10_000)
  work.resolve('read')
  expect(await waiting).toBe('read')
  expect(vi.getTimerCount()).toBe(0)
})
