import { setTimeout as sleep } from 'node:timers/promises'
import { createBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { measure } from './measure.ts'
import type { Measured, Stretch } from './measure.ts'
import type { Bench } from './scenario.ts'

export interface Fleet {
  readonly subscriptions: number
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

interface RunningFleet {
  idle(): Promise<Idle>
  deliver(events: number, deliveries: Stretch): Promise<Measured>
}

async function withFleet<T>(bench: Bench, fleet: Fleet, use: (running: RunningFleet) => Promise<T>): Promise<T> {
  const { brokers, sink, size, say } = bench
  const backlog = await createBacklog(brokers, say)
  const subscriptions = Array.from({ length: fleet.subscriptions }, (_each, index) => ({
    id: `bench-${index}`,
    topics: [backlog.topic],
    sink: sink.url('200'),
    from: 'earliest',
    ...fleet.fieldsOf?.(index),
  }))
  try {
    return await withBarnabas(bench, { services: ['dispatcher'], subscriptions, isPinned: true }, async (barnabas) => {
      const [dispatcher] = barnabas.processes
      await barnabas.untilRunning()
      return use({
        async idle() {
          await sleep(Math.min(settleMs, size.idleSeconds * 1_000))
          const [cpuBefore, since] = [await dispatcher!.cpuMicros(), performance.now()]
          await sleep(size.idleSeconds * 1_000)
          const cpuMicros = (await dispatcher!.cpuMicros()) - cpuBefore
          return {
            residentMegabytes: (await dispatcher!.residentBytes()) / 1_000_000,
            cpuPercent: cpuMicros / ((performance.now() - since) * 10),
          }
        },
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
