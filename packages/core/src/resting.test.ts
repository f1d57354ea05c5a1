import { expect, test } from 'vitest'
import { isResting, restedMs } from './resting.ts'
import type { StatusChange, SubscriptionStatus } from './status.ts'

const at = (second: number) => Date.UTC(2026, 2, 1, 12, 0, second)
const change = (second: number, to: SubscriptionStatus): StatusChange => ({
  time: new Date(at(second)).toISOString(),
  from: null,
  to,
  reason: '',
})
/** Starts at 0 s, runs at 1 s, fails from 10 s to 20 s, and again from 30 s on. */
const history = [
  change(0, 'Starting'),
  change(1, 'Running'),
  change(10, 'Start Failed'),
  change(20, 'Running'),
  change(30, 'Start Failed'),
]

test.each([
  ['Ready', true],
  ['Starting', false],
  ['Running', false],
  ['Paused', true],
  ['Start Failed', true],
] as const)('%s rests: %s', (status, expected) => {
  expect(isResting({ status, generation: 7 }, 7)).toBe(expected)
  expect(isResting({ status, generation: 6 }, 7)).toBe(false)
})

test('a subscription without a status does not rest', () => {
  expect(isResting(null, 7)).toBe(false)
  expect(restedMs(null, 7, at(0), at(60))).toBe(0)
})

test.each([
  [0, 9, 0],
  [0, 15, 5],
  [12, 15, 3],
  [0, 25, 10],
  [15, 40, 15],
  [40, 50, 10],
  [-5, 5, 5],
  [-5, -1, 4],
])('held from second %d to %d, it rested for %d s of them', (from, to, seconds) => {
  expect(restedMs({ history, generation: 7 }, 7, at(from), at(to))).toBe(seconds * 1_000)
  expect(restedMs({ history, generation: 6 }, 7, at(from), at(to))).toBe(0)
})

test('what was before a history that was cut off is not known', () => {
  const cut = [{ ...change(5, 'Running'), from: 'Start Failed' as const }, change(10, 'Start Failed')]
  expect(restedMs({ history: cut, generation: 7 }, 7, at(0), at(12))).toBe(2_000)
})
