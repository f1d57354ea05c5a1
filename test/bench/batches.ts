import { decodeEvent, structuredJson } from '@barnabas/core'
import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { benchHeaders, benchValue } from './events.ts'
import { concurrency } from './measure-dispatcher.ts'
import { measure } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

const spare = 1.15
const batch = { maxEvents: 100, preferredSize: '256KB' }

/**
 * S11: the backlog of S1 with a hundred events per request. The baseline is S1 in turns with it, at the same sink, which
 * adds up the bytes of the bodies: they tell how many events there were, for all are of one size.
 */
export const batches: Scenario = async (bench) => {
  const { scriptedSink, size } = bench
  const stretch = { warmUp: size.warmUp, events: size.events }
  const needed = Math.ceil((size.warmUp + size.events) * spare)
  const bytesPerEvent = structuredBytes(needed / 2) + 1

  const { single, batched } = await withBacklog(bench, needed, ({ topic }) => {
    const run = (fields: Record<string, unknown>, bytes: number | null) => async () => {
      const path = scriptedSink.newPath('200')
      const received = async () => {
        const { accepted, bodyBytes } = await scriptedSink.tally(path)
        return bytes === null ? accepted : Math.round(bodyBytes / bytes)
      }
      const sink = `${scriptedSink.origin}${path}`
      const subscription = { id: 'bench', topics: [topic], sink, from: 'earliest', concurrency, ...fields }
      const measured = await withBarnabas(
        bench,
        { services: ['dispatcher'], subscriptions: [subscription], isPinned: true },
        ({ processes }) => measure(received, processes, stretch),
      )
      const { accepted } = await scriptedSink.tally(path)
      return { ...measured, eventsPerRequest: (await received()) / accepted }
    }
    return inTurns(
      bench,
      { single: run({}, null), batched: run({ mode: 'structured', batch }, bytesPerEvent) },
      (name, { cpuMicrosPerEvent, eventsPerRequest }) =>
        `S11, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per event, ${eventsPerRequest.toFixed(0)} in a request`,
    )
  })

  return {
    figures: [
      {
        scenario: 'S11',
        what: 'batches of 100: CPU per event',
        unit: 'µs',
        rounds: batched.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        baseline: { name: 'S1', rounds: single.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent) },
        of: 'ratio',
        target: { kind: 'at most', limit: 0.45 },
      },
      {
        scenario: 'S11',
        what: 'batches of 100: delivered',
        unit: 'events/s',
        rounds: batched.map(({ eventsPerSecond }) => eventsPerSecond),
        baseline: { name: 'S1', rounds: single.map(({ eventsPerSecond }) => eventsPerSecond) },
        of: 'ratio',
      },
      {
        scenario: 'S11',
        what: 'batches of 100: in a request',
        unit: 'events',
        rounds: batched.map(({ eventsPerRequest }) => eventsPerRequest),
        of: 'value',
      },
    ],
    counts: [],
  }
}

function structuredBytes(index: number): number {
  const texts = Object.entries(benchHeaders(Math.floor(index)))
  const headers = Object.fromEntries(texts.map(([name, text]) => [name, Buffer.from(text)]))
  const decoded = decodeEvent({ value: benchValue(Math.floor(index)), headers })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return structuredJson(decoded.event).length
}
