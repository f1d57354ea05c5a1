import { expect, test } from 'vitest'
import { createLateAttempts } from './late-attempts.ts'

function attempts(count: number, bodyBytes: number) {
  const dropped: number[] = []
  const all = Array.from({ length: count }, (_each, index) => ({ bodyBytes, drop: () => void dropped.push(index) }))
  return { dropped, all }
}

test('A7: 64 are kept, and the oldest are dropped', () => {
  const late = createLateAttempts()
  const { dropped, all } = attempts(66, 1_024)
  for (const attempt of all) late.keep(attempt)
  expect(dropped).toEqual([0, 1])
})

test('A7: 16 MiB of requests are kept, and one that is larger is not', () => {
  const late = createLateAttempts()
  const { dropped, all } = attempts(3, 8 * 1024 * 1024)
  for (const attempt of all) late.keep(attempt)
  expect(dropped).toEqual([0])
  const huge = attempts(1, 17 * 1024 * 1024)
  late.keep(huge.all[0]!)
  expect([dropped, huge.dropped]).toEqual([[0, 1, 2], [0]])
})

test('one that was forgotten takes no place, and is not dropped', () => {
  const late = createLateAttempts()
  const { dropped, all } = attempts(130, 1)
  for (const attempt of all) {
    late.keep(attempt)
    late.forget(attempt)
    late.forget(attempt)
  }
  expect(dropped).toEqual([])
})
