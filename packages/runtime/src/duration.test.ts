import { expect, test } from 'vitest'
import { durationInMs } from './duration.ts'

test.each([
  ['0s', 0],
  ['1ms', 1],
  ['500ms', 500],
  ['30s', 30_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['1d', 86_400_000],
])('%s is %d ms', (text, expected) => {
  expect(durationInMs(text)).toBe(expected)
})

test.each(['', '30', 's', '-1s', '1.5s', '1 s', '1S', '1min', '1s30', '1m30s', 'Infinitys', '٣s', '1s\n', '1e3s'])(
  '%j is no duration',
  (text) => {
    expect(durationInMs(text)).toBeNull()
  },
)
