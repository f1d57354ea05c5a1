import { expect, test } from 'vitest'
import { batchLength } from './batch.ts'

const kibibyte = 1_024

/** The batches into which those that wait are taken, one after the other. */
function batchesOf(sizes: readonly number[], limits: { maxEvents: number; preferredBytes: number }): number[][] {
  const batches: number[][] = []
  let rest = [...sizes]
  while (rest.length > 0) {
    const length = batchLength(rest.length, (index) => rest[index]!, limits)
    batches.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return batches
}

test.each<[string, number[], number, number, number[][]]>([
  ['one event per request', [10, 10, 10], 1, 64 * kibibyte, [[10], [10], [10]]],
  ['the count is never exceeded', [1, 2, 3, 4, 5], 2, 64 * kibibyte, [[1, 2], [3, 4], [5]]],
  ['fewer than the count do not wait for more', [1, 2], 10, 64 * kibibyte, [[1, 2]]],
  ['brackets and commas count: exactly the target', [500, 521], 10, kibibyte, [[500, 521]]],
  ['brackets and commas count: one byte beyond', [500, 522], 10, kibibyte, [[500], [522]]],
  ['a larger one alone', [10, 5_000, 10, 10], 10, kibibyte, [[10], [5_000], [10, 10]]],
  ['a larger one alone, first', [5_000, 10, 10], 10, kibibyte, [[5_000], [10, 10]]],
  ['larger ones alone', [2_000, 2_000], 10, kibibyte, [[2_000], [2_000]]],
  ['one of exactly the target is not beyond it', [kibibyte, 1], 10, kibibyte, [[kibibyte], [1]]],
  ['the order is kept, also where a later one would fit', [600, 600, 100], 10, kibibyte, [[600], [600, 100]]],
  ['what cannot go along ends a batch', [10, Infinity, 10], 10, kibibyte, [[10], [Infinity], [10]]],
])('A11, C1: %s: %j', (_what, sizes, maxEvents, preferredBytes, expected) => {
  expect(batchesOf(sizes, { maxEvents, preferredBytes })).toEqual(expected)
})

test('A11: 5,000 events and no more, at the largest target', () => {
  const limits = { maxEvents: 5_000, preferredBytes: kibibyte * kibibyte }
  const batches = batchesOf(
    Array.from({ length: 12_000 }, () => 200),
    limits,
  )
  expect(batches.map(({ length }) => length)).toEqual([5_000, 5_000, 2_000])
})

test('looks no further than it has to', () => {
  const asked: number[] = []
  const bytesOf = (index: number) => {
    asked.push(index)
    return 400
  }
  expect(batchLength(1_000, bytesOf, { maxEvents: 10, preferredBytes: kibibyte })).toBe(2)
  expect(asked).toEqual([0, 1, 2])
  expect(batchLength(1_000, bytesOf, { maxEvents: 1, preferredBytes: kibibyte })).toBe(1)
  expect(batchLength(1, bytesOf, { maxEvents: 10, preferredBytes: kibibyte })).toBe(1)
  expect(batchLength(0, bytesOf, { maxEvents: 10, preferredBytes: kibibyte })).toBe(0)
  expect(asked).toEqual([0, 1, 2])
})
