import { expect, test } from 'vitest'
import { helpText, readArguments } from './arguments.ts'
import { sizes } from './sizes.ts'

const titles = { S1: 'the first', S2: 'the second', S5: 'the fifth' }
const read = (...args: string[]) => readArguments(args, titles)
const run = (overrides: object) => ({
  kind: 'run',
  arguments: { scenarios: ['S1', 'S2', 'S5'], size: sizes.full, json: false, profileFolder: undefined, ...overrides },
})

test.each([
  { args: [], overrides: {} },
  { args: ['--only', 'S5,S1'], overrides: { scenarios: ['S1', 'S5'] } },
  { args: ['S5', 'S1', '--only', 'S1'], overrides: { scenarios: ['S1', 'S5'] } },
  { args: ['--quick', '--json'], overrides: { size: sizes.quick, json: true } },
  { args: ['--smoke'], overrides: { size: sizes.smoke } },
  { args: ['--events', '7', '--rounds', '2'], overrides: { size: { ...sizes.full, events: 7, rounds: 2 } } },
  { args: ['--parked=9', '--backlog=8'], overrides: { size: { ...sizes.full, parked: 9, backlog: 8 } } },
  { args: ['--cpu-prof', 'folder'], overrides: { profileFolder: 'folder' } },
])('$args', ({ args, overrides }) => {
  expect(read(...args)).toEqual(run(overrides))
})

test.each([
  { args: ['--only', 'S3'], message: 'there is no scenario "S3"; there are S1, S2, S5' },
  { args: ['s1'], message: 'there is no scenario "s1"; there are S1, S2, S5' },
  { args: ['--events', '0'], message: '--events is "0"; it has to be a whole number of at least 1' },
  { args: ['--parked', '1e5'], message: '--parked is "1e5"; it has to be a whole number of at least 1' },
  { args: ['--quick', '--smoke'], message: 'say --quick or --smoke, not both' },
  { args: ['--fast'], message: expect.stringContaining("Unknown option '--fast'") },
  { args: ['--rounds'], message: expect.stringContaining('--rounds') },
])('$args are refused with what is wrong', ({ args, message }) => {
  expect(read(...args)).toEqual({ kind: 'wrong', message })
})

test('--help names every scenario', () => {
  expect(read('--only', 'S1', '--help')).toEqual({ kind: 'help' })
  expect(helpText(titles)).toMatch(/S1 +the first\n +S2 +the second\n +S5 +the fifth\n/)
})
