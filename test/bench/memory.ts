import { setTimeout as sleep } from 'node:timers/promises'
import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { concurrency } from './measure-dispatcher.ts'
import { stallWatch } from './measure.ts'
import type { Scenario } from './scenario.ts'
import { median, slope } from './statistics.ts'
import type { Point } from './statistics.ts'

const lookEveryMs = 100
const saidEvery = 100_000

/** S7: resident memory of a dispatcher while it works off a backlog. It has to be bounded, and not to grow with time. */
export const memory: Scenario = async (bench) => {
  const { sink, size, say } = bench
  const samples = await withBacklog(bench, size.backlog, ({ topic }) => {
    const subscription = { id: 'bench', topics: [topic], sink: sink.url('200'), from: 'earliest', concurrency }
    return withBarnabas(
      bench,
      { services: ['dispatcher'], subscriptions: [subscription], isPinned: true },
      async ({ processes: [dispatcher] }) => {
        const before = await sink.received()
        const untilStalled = stallWatch()
        const taken: Point[] = []
        for (let saidAt = 0; ;) {
          const y = (await dispatcher!.residentBytes()) / 1_000_000
          const delivered = (await sink.received()) - before
          // What a process takes before it works is another question (S8, S9).
          if (delivered > 0) taken.push({ x: performance.now() / 60_000, y })
          if (delivered >= size.backlog) return taken
          if (delivered >= saidAt + saidEvery) {
            saidAt += saidEvery
            say(`S7: ${delivered} of ${size.backlog} delivered, ${y.toFixed(0)} MB resident`)
          }
          untilStalled(delivered)
          await sleep(lookEveryMs)
        }
      },
    )
  })

  const megabytes = samples.map(({ y }) => y)
  const third = Math.ceil(samples.length / 3)
  const of = 'value'
  return {
    figures: [
      {
        scenario: 'S7',
        what: 'resident, highest',
        unit: 'MB',
        rounds: [Math.max(...megabytes)],
        of,
        target: { kind: 'at most', limit: 250 },
      },
      {
        scenario: 'S7',
        what: 'resident, middle of the last third above the first',
        unit: 'MB',
        rounds: [median(megabytes.slice(-third))],
        baseline: { name: 'first third', rounds: [median(megabytes.slice(0, third))] },
        of: 'difference',
        target: { kind: 'at most', limit: 25 },
      },
      {
        scenario: 'S7',
        what: 'resident, slope after the first third',
        unit: 'MB/min',
        rounds: [slope(samples.slice(third))],
        of,
      },
    ],
    counts: [],
  }
}
