import { expect, test } from 'vitest'
import { judge } from './figure.ts'
import type { Figure } from './figure.ts'

const ratio: Figure = {
  scenario: 'S1',
  what: 'CPU per event',
  unit: 'µs',
  rounds: [30, 60, 33],
  baseline: { name: 'N', rounds: [20, 30, 22] },
  of: 'ratio',
}

test('a ratio is the median of the ratios of each round, not the ratio of the medians', () => {
  expect(judge(ratio)).toEqual({ value: 33, baseline: 22, compared: 1.5, isMet: null })
  expect(judge({ ...ratio, rounds: [30, 60, 55] }).compared).toBe(2)
})

test.each([
  { of: 'ratio', target: { kind: 'at most', limit: 1.5 }, isMet: true },
  { of: 'ratio', target: { kind: 'at most', limit: 1.49, goal: 1.25 }, isMet: false },
  { of: 'ratio', target: { kind: 'at least', limit: 1.5 }, isMet: true },
  { of: 'ratio', target: { kind: 'at least', limit: 1.51 }, isMet: false },
  { of: 'difference', target: { kind: 'at most', limit: 11 }, isMet: true },
  { of: 'difference', target: { kind: 'at most', limit: 10 }, isMet: false },
  { of: 'value', target: { kind: 'at most', limit: 33 }, isMet: true },
  { of: 'value', target: { kind: 'at most', limit: 32 }, isMet: false },
] as const)('$of $target.kind $target.limit: $isMet', ({ of, target, isMet }) => {
  expect(judge({ ...ratio, of, target }).isMet).toBe(isMet)
})

test('what could not be measured meets no target', () => {
  const target = { kind: 'at most', limit: 1_000 } as const
  expect(judge({ ...ratio, of: 'value', rounds: [], target }).isMet).toBe(false)
  expect(judge({ ...ratio, baseline: { name: 'N', rounds: [] }, target }).isMet).toBe(false)
})
