import { withBacklog } from './backlog.ts'
import { runBenchProcess } from './bench-process.ts'
import type { BenchProcess } from './bench-process.ts'
import { benchType } from './events.ts'
import { concurrency, measureDispatcher } from './measure-dispatcher.ts'
import { measure } from './measure.ts'
import type { Measured } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

/** Beyond what is measured, so that no partition runs dry while it is. */
const spare = 1.15

/** How often the filter below lets an event pass. */
const passing = 0.5
const filters = [{ exact: { type: benchType } }, { prefix: { source: '/bench/even/' } }]

/**
 * S1: a backlog of 1 KiB binary events, a sink that answers 200 at once, 8 partitions, concurrency 256, each measured
 * process alone on one core. H and N are the baselines; then the same with structured mode and with a filter, whose
 * baseline is the plain S1.
 */
export const healthySink: Scenario = async (bench) => {
  const { brokers, sink, size } = bench
  const stretch = { warmUp: size.warmUp, events: size.events }
  const url = sink.url('200')
  const needed = Math.ceil(((size.warmUp + size.events) * spare) / passing)
  const { H, N, plain, structured, filtered } = await withBacklog(bench, needed, ({ topic }) => {
    const dispatcher = (fields: Record<string, unknown>) => () =>
      measureDispatcher(bench, { topic, answer: '200', fields }, stretch)
    return inTurns(
      bench,
      {
        H: () => measureAndStop(runBaseline('http', [url, String(concurrency)])),
        N: () => measureAndStop(runBaseline('naive', [url, String(concurrency), brokers, topic])),
        plain: dispatcher({}),
        structured: dispatcher({ mode: 'structured' }),
        filtered: dispatcher({ filters }),
      },
      (name, { cpuMicrosPerEvent }) => `S1, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per delivered event`,
    )
  })

  async function measureAndStop(running: BenchProcess): Promise<Measured> {
    try {
      return await measure(() => sink.received(), [running], stretch)
    } finally {
      await running.stop()
    }
  }

  const cpu = (rounds: readonly Measured[]) => rounds.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)
  const speed = (rounds: readonly Measured[]) => rounds.map(({ eventsPerSecond }) => eventsPerSecond)
  const costs = { scenario: 'S1', unit: 'µs', of: 'ratio' } as const
  const rates = { scenario: 'S1', unit: 'events/s', of: 'ratio' } as const
  const ofPlain = { name: 'S1', rounds: speed(plain) }
  return {
    figures: [
      {
        ...costs,
        what: 'CPU per event',
        rounds: cpu(plain),
        baseline: { name: 'H', rounds: cpu(H) },
        target: { kind: 'at most', limit: 1.5, goal: 1.25 },
      },
      {
        ...costs,
        what: 'CPU per event',
        rounds: cpu(plain),
        baseline: { name: 'N', rounds: cpu(N) },
        target: { kind: 'at most', limit: 1.05 },
      },
      { ...rates, what: 'delivered', rounds: speed(plain), baseline: { name: 'H', rounds: speed(H) } },
      {
        ...rates,
        what: 'delivered',
        rounds: speed(plain),
        baseline: { name: 'N', rounds: speed(N) },
        target: { kind: 'at least', limit: 0.95 },
      },
      {
        scenario: 'S1',
        what: 'resident, highest',
        unit: 'MB',
        of: 'value',
        rounds: plain.map(({ residentMegabytes }) => residentMegabytes),
      },
      {
        ...rates,
        what: 'structured mode: delivered',
        rounds: speed(structured),
        baseline: ofPlain,
        target: { kind: 'at least', limit: 0.7 },
      },
      {
        ...costs,
        what: 'structured mode: CPU per event',
        rounds: cpu(structured),
        baseline: { name: 'S1', rounds: cpu(plain) },
      },
      {
        ...rates,
        what: 'filter, half pass: delivered',
        rounds: speed(filtered),
        baseline: ofPlain,
        target: { kind: 'at least', limit: 0.7 },
      },
      {
        ...costs,
        what: 'filter, half pass: CPU per delivered event',
        rounds: cpu(filtered),
        baseline: { name: 'S1', rounds: cpu(plain) },
      },
    ],
    counts: [],
  }
}

function runBaseline(name: 'http' | 'naive', args: readonly string[]): BenchProcess {
  return runBenchProcess(`test/bench/baseline-${name}.ts`, { args, isPinned: true })
}
