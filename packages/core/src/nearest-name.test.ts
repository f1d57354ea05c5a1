import { expect, test } from 'vitest'
import { didYouMean, nearestName } from './nearest-name.ts'

const known = ['event-grid', 'event-grid-kubernetes', 'backoff', 'exponential-decay', 'maxAttempts', 'id', '__proto__']

test.each([
  ['evnt-grid', 'event-grid'],
  ['EventGrid', 'event-grid'],
  ['event_grid_kubernetes', 'event-grid-kubernetes'],
  ['max_attempts', 'maxAttempts'],
  ['maxatempts', 'maxAttempts'],
  ['bakcoff', 'backoff'],
  ['di', 'id'],
])('%s probably means %s', (written, name) => {
  expect(nearestName(written, known)).toBe(name)
})

test.each(['', 'zebra', 'constructor', 'x'.repeat(100_000)])('nothing is near %j', (written) => {
  expect(nearestName(written.slice(0, 100_000), known)).toBeNull()
})

test('the hint is a piece of a sentence, and absent when there is none', () => {
  expect(didYouMean('backof', known)).toBe(' (did you mean backoff?)')
  expect(didYouMean('zebra', known)).toBe('')
  expect(didYouMean(12, known)).toBe('')
})
