import { setTimeout as sleep } from 'node:timers/promises'
import { withBacklog } from './backlog.ts'
import { withBarnabas } from './barnabas-process.ts'
import { runBenchProcess } from './bench-process.ts'
import { concurrency } from './measure-dispatcher.ts'
import { stallWatch } from './measure.ts'
import type { Scenario } from './scenario.ts'
import type { Tally } from './sink-answers.ts'
import { percentile } from './statistics.ts'

const saidEveryMs = 10_000

/**
 * S6: how late retries are. Events come in evenly and each first attempt is answered 503; the one delay of the
 * schedule is as long as that takes, so that all of them are parked when the first falls due, and their due times
 * are spread as evenly. The sink counts the delay from its own answer, by the same clock: what it finds late includes
 * the way of that answer and of the second attempt, and nothing may be early.
 */
export const lateness: Scenario = async (bench) => {
  const { brokers, scriptedSink, size, say } = bench
  const { parked, parkedPerSecond } = size
  const delaySeconds = Math.ceil(parked / parkedPerSecond)
  const path = scriptedSink.newPath(`again/${delaySeconds * 1_000}`)

  const tally = await withBacklog(bench, 0, ({ topic }) => {
    const subscription = {
      id: 'bench',
      topics: [topic],
      sink: `${scriptedSink.origin}${path}`,
      from: 'earliest',
      concurrency,
      retry: { schedule: [`${delaySeconds}s`] },
      // What is measured are the retries.
      probation: 'none',
    }
    const services = ['dispatcher', 'retrier'] as const
    return withBarnabas(bench, { services, subscriptions: [subscription], isPinned: false }, async (barnabas) => {
      await barnabas.untilRunning()
      const args = [String(parkedPerSecond), String(parked), 'kafka', brokers, topic]
      const source = runBenchProcess('test/bench/paced-source.ts', { args })
      try {
        return await untilAllAccepted(() => scriptedSink.tally(path))
      } finally {
        await source.stop()
      }
    })
  })

  async function untilAllAccepted(look: () => Promise<Tally>): Promise<Tally> {
    const untilStalled = stallWatch(delaySeconds * 1_000)
    let saidAt = performance.now()
    for (;;) {
      const { accepted, refused } = await look()
      if (accepted >= parked) return scriptedSink.tallyWithTimes(path)
      untilStalled(accepted + refused)
      if (performance.now() - saidAt > saidEveryMs) {
        saidAt = performance.now()
        say(`S6: ${refused} of ${parked} attempted, ${accepted} delivered on their retry`)
      }
      await sleep(200)
    }
  }

  const inMs = { scenario: 'S6', unit: 'ms', of: 'value' } as const
  const parkedText = `${parked.toLocaleString('en-US')} parked, due within ${delaySeconds} s: late`
  return {
    figures: [
      { ...inMs, what: `${parkedText}, p50`, rounds: [percentile(tally.times, 50)] },
      {
        ...inMs,
        what: `${parkedText}, p99`,
        rounds: [percentile(tally.times, 99)],
        target: { kind: 'at most', limit: 100, goal: 50 },
      },
      { ...inMs, what: `${parkedText}, most`, rounds: [percentile(tally.times, 100)] },
    ],
    counts: [
      { what: 'S6: events delivered on their retry', expected: parked, actual: tally.accepted - tally.surplus },
      { what: 'S6: attempts before they were due', expected: 0, actual: tally.early },
      { what: 'S6: attempts after the delivery', expected: 0, actual: tally.surplus },
    ],
  }
}
