import { setTimeout as sleep } from 'node:timers/promises'
import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import type { BenchService } from './barnabas-process.ts'
import { runBenchProcess } from './bench-process.ts'
import type { Figure } from './figure.ts'
import { untilMembers } from './group-members.ts'
import { concurrency } from './measure-dispatcher.ts'
import { untilReceived } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Bench, Count, Scenario } from './scenario.ts'

/** So few that catching up takes no time: what is measured is how long nobody reads a partition. */
const eventsPerSecond = 400

/** In the order in which they happen; what an event may wait meanwhile, in ms. */
const movements = {
  'nothing happens': undefined,
  'a third joins': 3_000,
  'one is stopped': 3_000,
  'one is killed': 15_000,
} as const
type Movement = keyof typeof movements

interface Moved {
  /** The longest that an event waited for its attempt beyond its time, of all partitions. */
  readonly waitMs: number
  /** Attempts of events that had been delivered. */
  readonly surplus: number
}

interface Run {
  readonly moved: Readonly<Record<Movement, Moved>>
  readonly sent: number
  readonly delivered: number
  readonly early: number
}

/**
 * S10: two processes of a kind share the work; a third joins, one is stopped (SIGTERM), one is killed (SIGKILL), at a
 * steady rate and with the session time-out of the defaults. For dispatchers: from producing an event to its arrival
 * at the sink. For retriers, beside one dispatcher that stays: how late the second attempt is, as in S6. Each movement
 * has a source of its own, and ends when everything that this one sent is delivered: no wait is counted elsewhere.
 */
export const comeAndGo: Scenario = async (bench) => {
  const systems: Record<string, () => Promise<Run>> = { dispatchers: () => run(bench, 'dispatcher') }
  if (bench.size.retriersMove) systems['retriers'] = () => run(bench, 'retrier')
  const results = await inTurns<Record<string, Run>>(
    bench,
    systems,
    (name, { moved }) =>
      `S10, ${name}: ${Object.entries(moved)
        .map(([movement, { waitMs, surplus }]) => `${movement} ${waitMs.toFixed(0)} ms, ${surplus} again`)
        .join('; ')}`,
  )
  return {
    figures: Object.entries(results).flatMap(([kind, runs]) => figuresOf(kind, runs)),
    counts: Object.entries(results).flatMap(([kind, runs]) => runs.flatMap(countsOf(kind))),
  }
}

function run(bench: Bench, kind: BenchService): Promise<Run> {
  const { brokers, scriptedSink } = bench
  const { quietSeconds, retryDelaySeconds, sessionSeconds } = bench.size
  const path = scriptedSink.newPath(kind === 'dispatcher' ? 'once' : `again/${retryDelaySeconds * 1_000}`)
  const services = kind === 'dispatcher' ? ([kind, kind] as const) : (['dispatcher', kind, kind] as const)

  return withBacklog(bench, 0, ({ topic }) => {
    const subscription = {
      id: 'bench',
      topics: [topic],
      sink: `${scriptedSink.origin}${path}`,
      from: 'earliest',
      concurrency,
      retry: { schedule: [`${retryDelaySeconds}s`] },
      // What is measured are the retries.
      probation: 'none',
    }
    const env = { BARNABAS_SESSION_TIMEOUT: `${sessionSeconds}s` }
    const options = { services, subscriptions: [subscription], isPinned: false, env }
    return withBarnabas(bench, options, async (barnabas) => {
      const { prefix, processes } = barnabas
      const [first, second] = processes.slice(-2)
      const group = kind === 'dispatcher' ? `${prefix}.subscription.bench` : `${prefix}.retrier`
      let sent = 0
      let surplus = 0

      async function delivered(): Promise<number> {
        const tally = await scriptedSink.tally(path)
        return tally.accepted - tally.surplus
      }

      async function during(happens: () => unknown, members: number): Promise<Moved> {
        const args = [String(eventsPerSecond), 'Infinity', 'kafka', brokers, topic, String(sent)]
        const source = runBenchProcess('test/bench/paced-source.ts', { args })
        try {
          await untilReceived(delivered, sent + eventsPerSecond * quietSeconds)
          const before = await delivered()
          await happens()
          await untilMembers(brokers, group, members)
          await sleep(quietSeconds * 1_000)
          sent += (await source.ask<{ readonly sent: number }>({})).sent
          await untilReceived(delivered, sent)
          const tally = await scriptedSink.tallyWithTimes(path)
          const more = tally.surplus - surplus
          surplus = tally.surplus
          return { waitMs: tally.times.slice(before).reduce((most, each) => Math.max(most, each), 0), surplus: more }
        } finally {
          await source.stop()
        }
      }

      await barnabas.untilRunning()
      await untilMembers(brokers, group, 2)
      const moved = {
        'nothing happens': await during(() => undefined, 2),
        'a third joins': await during(() => barnabas.start(kind), 3),
        'one is stopped': await during(() => first!.stop(), 2),
        'one is killed': await during(() => second!.kill(), 1),
      }
      return { moved, sent, delivered: await delivered(), early: (await scriptedSink.tally(path)).early }
    })
  })
}

function figuresOf(kind: string, runs: readonly Run[]): readonly Figure[] {
  const waits = (Object.keys(movements) as Movement[]).map((movement): Figure => {
    const limit = movements[movement]
    return {
      scenario: 'S10',
      what: `${kind}, ${movement}: longest wait`,
      unit: 'ms',
      // Of all rounds: a promise is as good as its worst moment.
      rounds: [Math.max(...runs.map(({ moved }) => moved[movement].waitMs))],
      of: 'value',
      ...(limit === undefined ? {} : { target: { kind: 'at most', limit } }),
    }
  })
  const killed = runs.map(({ moved }) => moved['one is killed'].surplus)
  return [
    ...waits,
    { scenario: 'S10', what: `${kind}, one is killed: again`, unit: 'attempts', rounds: killed, of: 'value' },
  ]
}

/** Nothing is lost in any case; only the death of a process, which tells nobody, may repeat what was in flight. */
function countsOf(kind: string): (run: Run) => readonly Count[] {
  return ({ moved, sent, delivered, early }) => [
    { what: `S10, ${kind}: events delivered`, expected: sent, actual: delivered },
    { what: `S10, ${kind}: attempts before they were due`, expected: 0, actual: early },
    ...(['nothing happens', 'a third joins', 'one is stopped'] as const).map((movement) => ({
      what: `S10, ${kind}, ${movement}: attempts after the delivery`,
      expected: 0,
      actual: moved[movement].surplus,
    })),
  ]
}
