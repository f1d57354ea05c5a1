import { expect, test } from 'vitest'
import type { Figure } from './figure.ts'
import { numberText, tableText } from './table.ts'

const figures: readonly Figure[] = [
  {
    scenario: 'S1',
    what: 'CPU per event',
    unit: 'µs',
    rounds: [30],
    baseline: { name: 'H', rounds: [20] },
    of: 'ratio',
    target: { kind: 'at most', limit: 1.4, goal: 1.25 },
  },
  {
    scenario: 'S5',
    what: 'produce to receive, p50',
    unit: 'ms',
    rounds: [4.2],
    baseline: { name: 'sink', rounds: [0.5] },
    of: 'difference',
    target: { kind: 'at most', limit: 5 },
  },
  { scenario: 'S9', what: 'idle', unit: 'MB', rounds: [1_234.5], of: 'value' },
]

test('each figure stands beside its baseline, its target and whether that is met', () => {
  expect(tableText(figures)).toBe(
    [
      '    figure                   measured   baseline   compared                target  met',
      'S1  CPU per event             30.0 µs     H 20.0     × 1.50  ≤ × 1.40 (goal 1.25)   no',
      'S5  produce to receive, p50   4.20 ms  sink 0.50  + 3.70 ms           ≤ + 5.00 ms  yes',
      'S9  idle                     1,235 MB',
    ].join('\n'),
  )
})

test.each([
  [0, '0.00'],
  [0.123, '0.12'],
  [12.34, '12.3'],
  [99.96, '100.0'],
  [123.4, '123'],
  [34_700, '34,700'],
  [-250.2, '-250'],
  [NaN, '–'],
  [Infinity, '–'],
])('%d is written %s', (number, text) => {
  expect(numberText(number)).toBe(text)
})
