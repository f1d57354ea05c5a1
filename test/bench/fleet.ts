import { setTimeout as sleep } from 'node:timers/promises'
import { createBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import type { BenchService } from './barnabas-process.ts'
import { measure } from './measure.ts'
import type { Measured, Stretch } from './measure.ts'
import type { Bench } from './scenario.ts'

export interface Fleet {
  readonly subscriptions: number
  /** A dispatcher unless it says otherwise. */
  readonly services?: readonly BenchService[]
  /** Further fields of the subscription with this index. */
  readonly fieldsOf?: (index: number) => Readonly<Record<string, unknown>>
}

/** What subscriptions cost while there is nothing to do. */
export interface Idle {
  readonly residentMegabytes: number
  readonly cpuPercent: number
}

/** What joining the groups leaves behind is collected by then. */
const settleMs = 5_000

/** One dispatcher with subscriptions on one empty topic: what it costs when all run and nothing comes. */
export function measureIdle(bench: Bench, fleet: Fleet): Promise<Idle> {
  return withFleet(bench, fleet, (running) => running.idle())
}

/** The same, and then so many events come; each is delivered as often as subscriptions take it. */
export function measureFleet(
  bench: Bench,
  fleet: Fleet,
  events: number,
  deliveries: Stretch,
): Promise<Measured & { readonly idle: Idle }> {
  return withFleet(bench, fleet, async (running) => {
    const idle = await running.idle()
    return { ...(await running.deliver(events, deliveries)), idle }
  })
}

/** All of them see these events, of which so many first attempts fail until no more are made; `failures` is how many were. */
export function measureOnProbation(
  bench: Bench,
  fleet: Fleet,
  { events, failures }: { readonly events: number; readonly failures: number },
): Promise<{ readonly idle: Idle; readonly onProbation: Idle; readonly failures: number }> {
  return withFleet(bench, fleet, async (running) => {
    const idle = await running.idle()
    const before = await bench.sink.received()
    await running.add(events)
    for (const since = performance.now(); (await bench.sink.received()) - before < failures; await sleep(500)) {
      if (performance.now() - since > failWithinMs) break
    }
    // What each process tells the others, and the leaders the statuses, is told by then.
    await sleep(Math.min(tellMs, bench.size.idleSeconds * 1_000))
    const onProbation = await running.idle()
    return { idle, onProbation, failures: (await bench.sink.received()) - before }
  })
}

const failWithinMs = 600_000
const tellMs = 15_000

interface RunningFleet {
  idle(): Promise<Idle>
  add(events: number): Promise<void>
  deliver(events: number, deliveries: Stretch): Promise<Measured>
}

async function withFleet<T>(bench: Bench, fleet: Fleet, use: (running: RunningFleet) => Promise<T>): Promise<T> {
  const { brokers, sink, size, say } = bench
  const services = fleet.services ?? (['dispatcher'] as const)
  const backlog = await createBacklog(brokers, say)
  const subscriptions = Array.from({ length: fleet.subscriptions }, (_each, index) => ({
    id: `bench-${index}`,
    topics: [backlog.topic],
    sink: sink.url('200'),
    from: 'earliest',
    ...fleet.fieldsOf?.(index),
  }))
  try {
    return await withBarnabas(bench, { services, subscriptions, isPinned: true }, async (barnabas) => {
      const all = async (what: 'cpuMicros' | 'residentBytes') =>
        (await Promise.all(barnabas.processes.map((each) => each[what]()))).reduce((sum, each) => sum + each, 0)
      await barnabas.untilRunning()
      return use({
        async idle() {
          await sleep(Math.min(settleMs, size.idleSeconds * 1_000))
          const [cpuBefore, since] = [await all('cpuMicros'), performance.now()]
          await sleep(size.idleSeconds * 1_000)
          const cpuMicros = (await all('cpuMicros')) - cpuBefore
          return {
            residentMegabytes: (await all('residentBytes')) / 1_000_000,
            cpuPercent: cpuMicros / ((performance.now() - since) * 10),
          }
        },
        add: (events) => backlog.add(events),
        async deliver(events, deliveries) {
          const measured = measure(() => sink.received(), barnabas.processes, deliveries)
          await Promise.all([backlog.add(events), measured])
          return measured
        },
      })
    })
  } finally {
    await backlog.remove()
  }
}
