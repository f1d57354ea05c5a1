import { createBacklog } from './backlog.ts'
import { runBenchProcess } from './bench-process.ts'
import type { BenchProcess } from './bench-process.ts'
import { concurrency, measureDispatcher } from './measure-dispatcher.ts'
import { measure } from './measure.ts'
import type { Measured } from './measure.ts'
import type { Bench, ScenarioResult } from './scenario.ts'

const partitions = 8
const warmUp = 40_000
/** Beyond what is measured, so that no partition runs dry while it is. */
const spare = 1.15

/**
 * S1: a backlog of 1 KiB binary events, a sink that answers 200 at once, 8 partitions, concurrency 256, each measured
 * process alone on one core. H and N are the baselines; all three take turns, round by round, on one sink.
 */
export async function healthySink(bench: Bench): Promise<ScenarioResult> {
  const { brokers, sink, sinkOrigin, events } = bench
  const url = `${sinkOrigin}/200`
  const backlog = await createBacklog(brokers, Math.ceil((warmUp + events) * spare), partitions)

  const systems: Record<string, () => Promise<Measured>> = {
    H: () => measureAndStop(runBaseline('http', [url, String(concurrency)])),
    N: () => measureAndStop(runBaseline('naive', [url, String(concurrency), brokers, backlog.topic])),
    Barnabas: () => measureDispatcher(bench, backlog.topic, '200', warmUp),
  }

  async function measureAndStop(running: BenchProcess): Promise<Measured> {
    try {
      return await measure(sink, running, { warmUp, events })
    } finally {
      await running.stop()
    }
  }

  const rows = Object.keys(systems).map((system) => ({ system, rounds: [] as Measured[] }))
  try {
    for (let round = 1; round <= bench.rounds; round++) {
      for (const { system, rounds } of rows) {
        const measured = await systems[system]!()
        rounds.push(measured)
        bench.say(`S1, round ${round}: ${system} ${measured.cpuMicrosPerEvent.toFixed(1)} µs of CPU per event`)
      }
    }
  } finally {
    await backlog.remove()
  }
  return { scenario: 'S1', title: 'healthy sink, 1 KiB, 8 partitions, concurrency 256', rows }
}

function runBaseline(name: 'http' | 'naive', args: readonly string[]): BenchProcess {
  return runBenchProcess(`test/bench/baseline-${name}.ts`, { args, isPinned: true })
}
