import { expect, test } from 'vitest'
import { age } from './age.ts'

test.each([
  [-5_000, '0s'],
  [0, '0s'],
  [1_999, '1s'],
  [119_999, '119s'],
  [120_000, '2m'],
  [7_199_999, '119m'],
  [7_200_000, '2h'],
  [172_799_999, '47h'],
  [172_800_000, '2d'],
])('%d ms ago is %s', (elapsedMs, text) => {
  expect(age(1_000_000_000_000 - elapsedMs, 1_000_000_000_000)).toBe(text)
})
