import { expect, test } from 'vitest'
import { parseDuration } from './duration.ts'
import { tiers } from './tiers.ts'

test('every tier but `now` waits as long as its name says', () => {
  for (const { name, delayMs } of tiers) expect(name === 'now' ? 0 : parseDuration(name)).toBe(delayMs)
})

test('they stand in order of their delays, none twice', () => {
  const delays = tiers.map(({ delayMs }) => delayMs)
  expect(delays).toEqual([...new Set(delays)].toSorted((a, b) => a - b))
})

test('they are the 21 tiers of the topics table', () => {
  const documented = 'now 1s 2s 4s 8s 16s 32s 64s 128s 256s 512s 10s 30s 1m 5m 10m 30m 1h 3h 6h 12h'.split(' ')
  expect(tiers.map(({ name }) => name).toSorted()).toEqual(documented.toSorted())
})
