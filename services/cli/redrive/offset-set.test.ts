import { expect, test } from 'vitest'
import { createOffsetSet } from './offset-set.ts'

test('holds what was added and nothing beside it', () => {
  const set = createOffsetSet()
  const offsets = [0, 31, 32, 1_023, 1_024, 5_000_000_031, Number.MAX_SAFE_INTEGER]
  for (const offset of offsets) set.add('a', 1, offset)
  for (const offset of offsets) expect(set.has('a', 1, offset)).toBe(true)
  for (const offset of [1, 30, 33, 1_022, 1_025, 5_000_000_030]) expect(set.has('a', 1, offset)).toBe(false)
  expect(set.has('a', 2, 0)).toBe(false)
  expect(set.has('b', 1, 0)).toBe(false)
})
