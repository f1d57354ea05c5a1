import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { concurrency } from './measure-dispatcher.ts'
import { measure, untilReceived } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

/** One attempt in a hundred. */
const oneIn = 100

/**
 * S2: 1 % of the first attempts are answered 503, and delivered on a retry one second later. A dispatcher and a
 * retrier, both on the same core, and in both runs: the baseline has the same processes and a sink that takes all.
 * Each run goes on until the whole backlog is delivered.
 */
export const someFail: Scenario = async (bench) => {
  const { scriptedSink, size } = bench
  const total = Math.ceil((size.warmUp + size.events) * 1.15)

  const results = await withBacklog(bench, total, ({ topic }) => {
    const run = (kind: string) => async () => {
      const path = scriptedSink.newPath(kind)
      const accepted = async () => (await scriptedSink.tally(path)).accepted
      const subscription = {
        id: 'bench',
        topics: [topic],
        sink: `${scriptedSink.origin}${path}`,
        from: 'earliest',
        concurrency,
        retry: { schedule: ['1s'] },
      }
      const measured = await withBarnabas(
        bench,
        { services: ['dispatcher', 'retrier'], subscriptions: [subscription], isPinned: true },
        async ({ processes }) => {
          const stretch = await measure(accepted, processes, { warmUp: size.warmUp, events: size.events })
          await untilReceived(accepted, total)
          return stretch
        },
      )
      return { ...measured, tally: await scriptedSink.tally(path) }
    }
    return inTurns(
      bench,
      { healthy: run('200'), failing: run(`one-in/${oneIn}`) },
      (name, { eventsPerSecond, tally }) =>
        `S2, ${name}: ${eventsPerSecond.toFixed(0)} events/s, ${tally.refused} attempts answered 503`,
    )
  })

  const { healthy, failing } = results
  return {
    figures: [
      {
        scenario: 'S2',
        what: '1 % answered 503: delivered',
        unit: 'events/s',
        rounds: failing.map(({ eventsPerSecond }) => eventsPerSecond),
        baseline: { name: 'none fails', rounds: healthy.map(({ eventsPerSecond }) => eventsPerSecond) },
        of: 'ratio',
        target: { kind: 'at least', limit: 0.9 },
      },
      {
        scenario: 'S2',
        what: '1 % answered 503: CPU per event',
        unit: 'µs',
        rounds: failing.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        baseline: { name: 'none fails', rounds: healthy.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent) },
        of: 'ratio',
      },
    ],
    counts: failing.flatMap(({ tally }) => [
      { what: 'S2: events delivered', expected: total, actual: tally.accepted },
      { what: 'S2: attempts answered 503', expected: Math.floor(total / oneIn), actual: tally.refused },
    ]),
  }
}
