import { expect, test } from 'vitest'
import { createdFacts, mergedFacts, nothingSaid, sayAt } from './pause.ts'
import type { PauseFacts } from './pause.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const paused = (second: number): PauseFacts => ({ paused: { at: at(second), by: 'ada' }, started: null })
const started = (second: number): PauseFacts => ({ paused: null, started: at(second) })

test.each([
  ['nothing', [], false],
  ['a pause', [paused(1)], true],
  ['a start after it', [paused(1), started(2)], false],
  ['a start before it', [started(1), paused(2)], true],
  ['a start at the same moment', [paused(1), started(1)], false],
  ['two pauses, and a start between them', [paused(1), started(2), paused(3)], true],
  ['two pauses, and a start after them', [paused(1), paused(2), started(3)], false],
] as const)('%s: %j leaves it paused: %j, in whatever order it is heard', (_, said, isPaused) => {
  for (const order of [said, said.toReversed()]) {
    const facts = order.reduce(mergedFacts, nothingSaid)
    expect(facts.paused !== null).toBe(isPaused)
    expect(order.reduce(mergedFacts, facts)).toEqual(facts)
  }
})

test('one that was created paused is until a start is said, which comes later whatever the clock', () => {
  const generation = Date.parse(at(30))
  const created = createdFacts(generation, 'ada')
  expect(created).toEqual({ paused: { at: at(30), by: 'ada' }, started: null })
  expect(createdFacts(generation, undefined)).toEqual(nothingSaid)
  const start = { paused: null, started: sayAt(Date.parse(at(2)), generation, created) }
  expect(mergedFacts(created, start).paused).toBeNull()
})

test.each([
  ['now', 40, nothingSaid, at(40)],
  ['after its creation', 10, nothingSaid, '2026-01-01T00:00:30.001Z'],
  ['after the pause that it has heard', 40, paused(50), '2026-01-01T00:00:50.001Z'],
  ['after the start that it has heard', 40, started(50), '2026-01-01T00:00:50.001Z'],
  [
    'within four digits of a year',
    40,
    { paused: null, started: '9999-12-31T23:59:59.999Z' },
    '9999-12-31T23:59:59.999Z',
  ],
] as const)('a command is said %s', (_, now, known, expected) => {
  expect(sayAt(Date.parse(at(now)), Date.parse(at(30)), known)).toBe(expected)
})
