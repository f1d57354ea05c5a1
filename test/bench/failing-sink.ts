import { withBacklog } from './backlog.ts'
import { measureDispatcher } from './measure-dispatcher.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

/** S4: every attempt is answered 503 and its event parked in a tier. The baseline is S1, in turns with it. */
export const failingSink: Scenario = async (bench) => {
  // An event that is parked costs several times what a delivery costs.
  const stretch = { warmUp: Math.ceil(bench.size.warmUp / 4), events: Math.ceil(bench.size.events / 2) }
  const needed = Math.ceil((stretch.warmUp + stretch.events) * 1.15)
  const { healthy, failing } = await withBacklog(bench, needed, ({ topic }) =>
    inTurns(
      bench,
      {
        healthy: () => measureDispatcher(bench, { topic, answer: '200' }, stretch),
        failing: () => measureDispatcher(bench, { topic, answer: '503' }, stretch),
      },
      (name, { cpuMicrosPerEvent }) => `S4, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per event`,
    ),
  )
  return {
    figures: [
      {
        scenario: 'S4',
        what: 'every attempt fails: parked',
        unit: 'events/s',
        rounds: failing.map(({ eventsPerSecond }) => eventsPerSecond),
        baseline: { name: 'S1', rounds: healthy.map(({ eventsPerSecond }) => eventsPerSecond) },
        of: 'ratio',
        target: { kind: 'at least', limit: 0.35 },
      },
      {
        scenario: 'S4',
        what: 'every attempt fails: CPU per parked event',
        unit: 'µs',
        rounds: failing.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        baseline: { name: 'S1', rounds: healthy.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent) },
        of: 'ratio',
      },
    ],
    counts: [],
  }
}
