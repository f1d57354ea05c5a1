import { expect, test } from 'vitest'
import { createSpoken } from './spoken.ts'

const time = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second)
const at = (second: number) => new Date(time(second)).toISOString()
const pause = (second: number, generation?: number) =>
  ({ command: 'pause', subscription: 'a', by: 'ada', at: at(second), generation }) as const
const start = (second: number) => ({ command: 'start', subscription: 'a', by: 'ada', at: at(second) }) as const

test.each([
  ['a pause', [pause(5)], true],
  ['a pause of this life', [pause(5, time(1))], true],
  ['a pause, and a start after it', [pause(5), start(6)], false],
  ['a start, and a pause after it', [start(5), pause(6)], true],
  ['the same pause, read again after its start', [pause(5), start(6), pause(5)], false],
  ['a pause before this life', [pause(0)], false],
  ['a pause of a former life, by a clock that was ahead', [pause(9, time(0))], false],
  ['that, and one of this life', [pause(9, time(0)), pause(5, time(1))], true],
] as const)('%s: %j leaves it paused: %j', (_, said, isPaused) => {
  const spoken = createSpoken()
  said.forEach(spoken.said)
  expect(spoken.factsOf('a', time(1)).paused !== null).toBe(isPaused)
  expect(spoken.factsOf('b', time(1))).toEqual({ paused: null, started: null })
})

test('of very many subscriptions the ones that were spoken of last are remembered', () => {
  const spoken = createSpoken()
  for (let number = 0; number <= 10_000; number += 1) spoken.said({ ...pause(5), subscription: `s${number}` })
  expect(spoken.factsOf('s0', time(1)).paused).toBeNull()
  expect(spoken.factsOf('s10000', time(1)).paused).toEqual({ at: at(5), by: 'ada' })
})
