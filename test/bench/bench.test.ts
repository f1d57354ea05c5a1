/** The bench itself, with a few hundred events: it works, and what it counts is right. Its figures mean nothing here. */
import { expect, test } from 'vitest'
import { testBrokers } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'

test('`pnpm bench` measures, and finds everything delivered once and no retry early', async () => {
  const env = { KAFKA_BROKERS: testBrokers().join(',') }
  const bench = runProcess('test/bench/main.ts', env, ['--smoke', '--json', '--only', 'S6'])
  expect(await bench.exited, bench.lines.join('\n')).toBe(0)
  const { figures, counts } = JSON.parse(bench.lines.find((line) => line.startsWith('{'))!) as {
    readonly figures: readonly { readonly scenario: string; readonly value: unknown }[]
    readonly counts: readonly object[]
  }
  expect(new Set(figures.map(({ scenario }) => scenario))).toEqual(new Set(['S6']))
  expect(figures.map(({ value }) => typeof value)).toEqual(figures.map(() => 'number'))
  expect(counts).toEqual([
    { what: 'S6: events delivered on their retry', expected: 300, actual: 300 },
    { what: 'S6: attempts before they were due', expected: 0, actual: 0 },
    { what: 'S6: attempts after the delivery', expected: 0, actual: 0 },
  ])
})
