import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { runBenchProcess } from './bench-process.ts'
import { concurrency } from './measure-dispatcher.ts'
import { untilReceived } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Bench, Scenario } from './scenario.ts'
import { percentile } from './statistics.ts'

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly received: number
}

/** The first events meet code that is not compiled yet. */
const warmUpShare = 0.2

/**
 * S5: from producing an event (before it is handed to the producer) to its arrival at the sink (with its whole body),
 * at 1,000 events a second. The sink's own time is that of the same source posting to it straight. The naive loop
 * shows what Kafka and its client take of the rest. Nothing is pinned: at this pace the machine has room.
 */
export const latency: Scenario = async (bench) => {
  const { sink, naive, barnabas } = await inTurns(
    bench,
    { sink: () => straight(bench), naive: () => throughNaive(bench), barnabas: () => throughBarnabas(bench) },
    (name, { p50, p99 }) => `S5, ${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  )
  const figure = (what: string, rounds: readonly Latency[], of: 'p50' | 'p99', limit?: number) => ({
    scenario: 'S5',
    what: `${what}, ${of}`,
    unit: 'ms' as const,
    rounds: rounds.map((each) => each[of]),
    baseline: { name: 'sink', rounds: sink.map((each) => each[of]) },
    of: 'difference' as const,
    ...(limit === undefined ? {} : { target: { kind: 'at most' as const, limit } }),
  })
  return {
    figures: [
      figure('produce to receive', barnabas, 'p50', 5),
      figure('produce to receive', barnabas, 'p99', 25),
      figure('the naive loop', naive, 'p50'),
      figure('the naive loop', naive, 'p99'),
    ],
    counts: barnabas.map(({ received }) => ({
      what: 'S5: events delivered',
      expected: eventsOf(bench),
      actual: received,
    })),
  }
}

function straight(bench: Bench): Promise<Latency> {
  const path = bench.scriptedSink.newPath('clock')
  return produced(bench, path, ['http', `${bench.scriptedSink.origin}${path}`])
}

function throughNaive(bench: Bench): Promise<Latency> {
  const { brokers, scriptedSink } = bench
  const path = scriptedSink.newPath('clock')
  return withBacklog(bench, 0, async ({ topic }) => {
    const args = [`${scriptedSink.origin}${path}`, String(concurrency), brokers, topic]
    const naive = runBenchProcess('test/bench/baseline-naive.ts', { args })
    try {
      await naive.ask()
      return await produced(bench, path, ['kafka', brokers, topic])
    } finally {
      await naive.stop()
    }
  })
}

function throughBarnabas(bench: Bench): Promise<Latency> {
  const { brokers, scriptedSink } = bench
  const path = scriptedSink.newPath('clock')
  return withBacklog(bench, 0, ({ topic }) => {
    const sink = `${scriptedSink.origin}${path}`
    const subscriptions = [{ id: 'bench', topics: [topic], sink, from: 'earliest', concurrency }]
    return withBarnabas(bench, { services: ['dispatcher'], subscriptions, isPinned: false }, async (barnabas) => {
      await barnabas.untilRunning()
      return produced(bench, path, ['kafka', brokers, topic])
    })
  })
}

/** Has the source bring forth the events of a run, and looks at their ages at the sink. */
async function produced(bench: Bench, path: string, way: readonly string[]): Promise<Latency> {
  const { scriptedSink, size } = bench
  const args = [String(size.pacedPerSecond), String(eventsOf(bench)), ...way]
  const source = runBenchProcess('test/bench/paced-source.ts', { args })
  try {
    await source.ask()
    await untilReceived(async () => (await scriptedSink.tally(path)).accepted, eventsOf(bench))
  } finally {
    await source.stop()
  }
  const { times, accepted } = await scriptedSink.tallyWithTimes(path)
  const measured = times.slice(Math.floor(times.length * warmUpShare))
  return { p50: percentile(measured, 50), p99: percentile(measured, 99), received: accepted }
}

function eventsOf({ size }: Bench): number {
  return size.pacedSeconds * size.pacedPerSecond
}
