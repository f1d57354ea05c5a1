import { expect, test } from 'vitest'
import { median, percentile, slope } from './statistics.ts'

test.each([
  { values: [3, 1, 2], percent: 50, expected: 2 },
  { values: [4, 1, 3, 2], percent: 50, expected: 2.5 },
  { values: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], percent: 90, expected: 9 },
  { values: [1, 2], percent: 99, expected: 1.99 },
  { values: [7], percent: 99, expected: 7 },
  { values: [100, 20, 3], percent: 100, expected: 100 },
  { values: [100, 20, 3], percent: 0, expected: 3 },
])('percentile $percent of $values is $expected', ({ values, percent, expected }) => {
  expect(percentile(values, percent)).toBeCloseTo(expected, 10)
})

test('of no values there is no percentile', () => {
  expect(percentile([], 50)).toBeNaN()
})

test('the median leaves its values as they are', () => {
  const values = [3, 1, 2]
  expect(median(values)).toBe(2)
  expect(values).toEqual([3, 1, 2])
})

test.each([
  {
    points: [
      [0, 1],
      [1, 3],
      [2, 5],
    ],
    expected: 2,
  },
  {
    points: [
      [0, 4],
      [1, 2],
      [2, 3],
      [3, 1],
    ],
    expected: -0.8,
  },
  {
    points: [
      [5, 1],
      [5, 2],
    ],
    expected: 0,
  },
  { points: [[1, 1]], expected: 0 },
  { points: [], expected: 0 },
])('the slope of $points is $expected', ({ points, expected }) => {
  expect(slope(points.map(([x = 0, y = 0]) => ({ x, y })))).toBeCloseTo(expected, 10)
})
