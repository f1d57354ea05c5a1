import { createBacklog } from './backlog.ts'
import { measureDispatcher } from './measure-dispatcher.ts'
import type { Measured } from './measure.ts'
import type { Bench, ScenarioResult } from './scenario.ts'

const partitions = 8
const warmUp = 10_000
const spare = 1.15

/** S4: every attempt is answered 503 and its event parked in a tier. The baseline is S1, in turns with it. */
export async function failingSink(bench: Bench): Promise<ScenarioResult> {
  const backlog = await createBacklog(bench.brokers, Math.ceil((warmUp + bench.events) * spare), partitions)
  const healthy: Measured[] = []
  const failing: Measured[] = []
  try {
    for (let round = 1; round <= bench.rounds; round++) {
      healthy.push(await measureDispatcher(bench, backlog.topic, '200', warmUp))
      failing.push(await measureDispatcher(bench, backlog.topic, '503', warmUp))
      bench.say(`S4, round ${round}: ${failing.at(-1)?.cpuMicrosPerEvent.toFixed(1)} µs of CPU per parked event`)
    }
  } finally {
    await backlog.remove()
  }
  return {
    scenario: 'S4',
    title: 'every attempt fails, events are parked',
    rows: [
      { system: 'S1', rounds: healthy },
      { system: 'all fail', rounds: failing },
    ],
  }
}
