import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { measure } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

const healthyOnes = 8
const concurrencyEach = 32
/** Nothing listens there on loopback: refused at once. */
const deadSink = 'http://127.0.0.1:1/'

/**
 * S3: ten subscriptions on one topic in one process, one whose sink refuses and one whose sink hangs for 30 s. What
 * the other eight deliver together, beside
 *
 * - `all ten healthy`: what they delivered while their two neighbours were well. That is what they are to keep, and
 *   what the target is about; the two healthy neighbours use a fifth of the core themselves.
 * - `alone`: the same eight without the two. Harder, for the dead one's attempts and the writing of its retries cost
 *   CPU on the same core, as fast as there is some: isolation does not make work free.
 */
export const troubledNeighbours: Scenario = async (bench) => {
  const { scriptedSink, size } = bench
  const perSubscription = Math.ceil(((size.warmUp + size.events) * 1.5) / healthyOnes)

  const results = await withBacklog(bench, perSubscription, ({ topic }) => {
    const run = (neighbourSinks: readonly string[]) => async () => {
      const path = scriptedSink.newPath('200')
      const sinks = [...Array.from({ length: healthyOnes }, () => `${scriptedSink.origin}${path}`), ...neighbourSinks]
      const subscriptions = sinks.map((sink, index) => ({
        id: `bench-${index}`,
        topics: [topic],
        sink,
        from: 'earliest',
        concurrency: concurrencyEach,
        timeout: '30s',
        retry: { schedule: ['10m'] },
        // They are to trouble the others for as long as it is measured.
        probation: 'none',
      }))
      return withBarnabas(bench, { services: ['dispatcher'], subscriptions, isPinned: true }, ({ processes }) =>
        measure(async () => (await scriptedSink.tally(path)).accepted, processes, {
          warmUp: size.warmUp,
          events: size.events,
        }),
      )
    }
    const scripted = (kind: string) => `${scriptedSink.origin}${scriptedSink.newPath(kind)}`
    return inTurns(
      bench,
      {
        healthy: run([scripted('200'), scripted('200')]),
        alone: run([]),
        troubled: run([deadSink, scripted('hang')]),
      },
      (name, { eventsPerSecond }) => `S3, ${name}: the eight get ${eventsPerSecond.toFixed(0)} events/s`,
    )
  })

  const speed = (name: keyof typeof results) => results[name].map(({ eventsPerSecond }) => eventsPerSecond)
  const eight = { scenario: 'S3', unit: 'events/s', rounds: speed('troubled'), of: 'ratio' } as const
  return {
    figures: [
      {
        ...eight,
        what: 'eight beside a dead and a hanging one: delivered',
        baseline: { name: 'all ten healthy', rounds: speed('healthy') },
        target: { kind: 'at least', limit: 0.9 },
      },
      {
        ...eight,
        what: 'eight beside a dead and a hanging one: delivered',
        baseline: { name: 'alone', rounds: speed('alone') },
      },
    ],
    counts: [],
  }
}
