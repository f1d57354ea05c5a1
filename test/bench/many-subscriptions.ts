import { withBacklog } from './backlog.ts'
import { benchSource, benchSources } from './events.ts'
import { measureFleet, measureIdle } from './fleet.ts'
import type { Idle } from './fleet.ts'
import { measureDispatcher } from './measure-dispatcher.ts'
import type { Figure } from './figure.ts'
import { inTurns } from './rounds.ts'
import type { Bench, Scenario } from './scenario.ts'

const spare = 1.15
/** As a subscription has that says nothing, alone and among a hundred. */
const fields = { concurrency: 64 }

/**
 * S8: many subscriptions on one topic in one process, every event matches all of them. What a delivery costs beside
 * that of one such subscription, and what memory a subscription takes that has nothing to do.
 */
export const allMatch: Scenario = async (bench) => {
  const { size } = bench
  const stretch = { warmUp: size.warmUp, events: size.events }
  const deliveries = Math.ceil((size.warmUp + size.events) * spare)
  const results = await withBacklog(bench, deliveries, ({ topic }) =>
    inTurns(
      bench,
      {
        one: () => measureDispatcher(bench, { topic, answer: '200', fields }, stretch),
        many: () =>
          measureFleet(
            bench,
            { subscriptions: size.subscriptions },
            Math.ceil(deliveries / size.subscriptions),
            stretch,
          ),
      },
      (name, { cpuMicrosPerEvent }) => `S8, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per delivery`,
    ),
  )
  const idleOne = await measureIdle(bench, { subscriptions: 1 })
  const of = `${size.subscriptions} subscriptions`
  return {
    figures: [
      {
        scenario: 'S8',
        what: `${of}, all match: CPU per delivery`,
        unit: 'µs',
        rounds: results.many.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        baseline: {
          name: 'one subscription',
          rounds: results.one.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        },
        of: 'ratio',
        target: { kind: 'at most', limit: 1.5 },
      },
      {
        scenario: 'S8',
        what: `${of}, all match: resident, highest`,
        unit: 'MB',
        rounds: results.many.map(({ residentMegabytes }) => residentMegabytes),
        of: 'value',
      },
      {
        scenario: 'S8',
        what: 'an idle subscription: resident',
        unit: 'MB',
        rounds: results.many.map(
          ({ idle }) => (idle.residentMegabytes - idleOne.residentMegabytes) / (size.subscriptions - 1),
        ),
        of: 'value',
        target: { kind: 'at most', limit: 1.5 },
      },
    ],
    counts: [],
  }
}

/**
 * S9: many subscriptions on one topic, each takes one event in a hundred. A filtered-out event costs what a delivery
 * costs there more than one without filters, shared by the subscriptions that let it go by. And what many cost when
 * nothing happens at all.
 */
export const fewMatch: Scenario = async (bench) => {
  const { size } = bench
  // Each event is read as often as there are subscriptions.
  const stretch = { warmUp: Math.ceil(size.warmUp / 10), events: Math.ceil(size.events / 10) }
  const deliveries = Math.ceil((stretch.warmUp + stretch.events) * spare)
  const deliveredPerEvent = Math.min(1, size.subscriptions / benchSources)
  const readPerDelivery = size.subscriptions / deliveredPerEvent
  const results = await withBacklog(bench, deliveries, ({ topic }) =>
    inTurns(
      bench,
      {
        one: () => measureDispatcher(bench, { topic, answer: '200', fields }, stretch),
        many: () =>
          measureFleet(
            bench,
            {
              subscriptions: size.subscriptions,
              fieldsOf: (index) => ({ filters: [{ exact: { source: benchSource(index) } }] }),
            },
            Math.ceil(deliveries / deliveredPerEvent),
            stretch,
          ),
      },
      (name, { cpuMicrosPerEvent }) => `S9, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per delivery`,
    ),
  )
  const filteredCost = results.many.map(
    ({ cpuMicrosPerEvent }, round) =>
      (cpuMicrosPerEvent - results.one[round]!.cpuMicrosPerEvent) / (readPerDelivery - 1),
  )
  return {
    figures: [
      {
        scenario: 'S9',
        what: `${size.subscriptions} subscriptions, each takes 1 %: CPU per delivery`,
        unit: 'µs',
        rounds: results.many.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent),
        baseline: { name: 'no filter', rounds: results.one.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent) },
        of: 'ratio',
      },
      { scenario: 'S9', what: 'a filtered-out event: CPU', unit: 'µs', rounds: filteredCost, of: 'value' },
      ...idleFigures(
        size.subscriptions,
        results.many.map(({ idle }) => idle),
      ),
      ...idleFigures(size.idleSubscriptions, [await idleOfMost(bench)]),
    ],
    counts: [],
  }
}

function idleOfMost(bench: Bench): Promise<Idle> {
  const { idleSubscriptions } = bench.size
  bench.say(`S9: ${idleSubscriptions} subscriptions with nothing to do`)
  return measureIdle(bench, { subscriptions: idleSubscriptions })
}

function idleFigures(subscriptions: number, idle: readonly Idle[]): readonly Figure[] {
  const what = `${subscriptions.toLocaleString('en-US')} subscriptions, idle`
  return [
    {
      scenario: 'S9',
      what: `${what}: CPU`,
      unit: '% of a core',
      rounds: idle.map(({ cpuPercent }) => cpuPercent),
      of: 'value',
    },
    {
      scenario: 'S9',
      what: `${what}: resident`,
      unit: 'MB',
      rounds: idle.map(({ residentMegabytes }) => residentMegabytes),
      of: 'value',
    },
  ]
}
