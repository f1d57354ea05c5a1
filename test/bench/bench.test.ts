/** The bench itself, with a few hundred events: it works, and what it counts is right. Its figures mean nothing here. */
import { expect, test } from 'vitest'
import { testBrokers } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'

interface Told {
  readonly figures: readonly { readonly scenario: string; readonly value: unknown }[]
  readonly counts: readonly { readonly what: string; readonly expected: number; readonly actual: number }[]
}

async function smoke(scenario: string): Promise<Told> {
  const env = { KAFKA_BROKERS: testBrokers().join(',') }
  const bench = runProcess('test/bench/main.ts', env, ['--smoke', '--json', '--only', scenario])
  expect(await bench.exited, bench.lines.join('\n')).toBe(0)
  const told = JSON.parse(bench.lines.find((line) => line.startsWith('{'))!) as Told
  expect(new Set(told.figures.map((figure) => figure.scenario))).toEqual(new Set([scenario]))
  expect(told.figures.map(({ value }) => typeof value)).toEqual(told.figures.map(() => 'number'))
  return told
}

test('`pnpm bench` measures, and finds everything delivered once and no retry early', async () => {
  expect((await smoke('S6')).counts).toEqual([
    { what: 'S6: events delivered on their retry', expected: 300, actual: 300 },
    { what: 'S6: attempts before they were due', expected: 0, actual: 0 },
    { what: 'S6: attempts after the delivery', expected: 0, actual: 0 },
  ])
})

test('`pnpm bench` has dispatchers come and go, and finds nothing lost and nothing repeated', async () => {
  const { counts } = await smoke('S10')
  expect(counts).toHaveLength(5)
  for (const { what, expected, actual } of counts) expect(actual, what).toBe(expected)
  expect(counts.filter(({ what }) => what.endsWith('events delivered')).every(({ actual }) => actual > 0)).toBe(true)
}, 180_000)

test('`pnpm bench` sends dead letters again, each once', async () => {
  const { counts } = await smoke('S14')
  expect(counts).toHaveLength(3)
  for (const { what, expected, actual } of counts) expect(actual, what).toBe(expected)
})
