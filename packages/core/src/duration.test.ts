import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

test.each([
  ['500ms', 500],
  ['0s', 0],
  ['30s', 30_000],
  ['90s', 90_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['1d', 86_400_000],
])('%s is %d ms and is printed back', (text, durationMs) => {
  expect(parseDuration(text)).toBe(durationMs)
  expect(formatDuration(durationMs)).toBe(text)
})

test.each([
  '',
  's',
  '30',
  '30 s',
  ' 30s',
  '30S',
  '1.5h',
  '-1s',
  '+1s',
  '1e3s',
  '1h30m',
  '30s\n',
  '9999999999999s',
  '٣s',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeNull()
})

test.each([null, undefined, 30, true, {}, [], ['30s'], NaN])('%j is no duration', (value) => {
  expect(parseDuration(value)).toBeNull()
})

test('a number of days beyond exact integers is no duration', () => {
  expect(parseDuration('999999999999d')).toBeNull()
})

test.each([
  [60_000, '1m'],
  [61_000, '61s'],
  [1_001, '1001ms'],
  [86_400_000 * 7, '7d'],
])('%d ms is printed as %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text)
})
