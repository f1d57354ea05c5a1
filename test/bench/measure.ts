import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchProcess } from './bench-process.ts'

/** What one run of one process came to, after its warm-up. */
export interface Measured {
  readonly events: number
  readonly eventsPerSecond: number
  readonly cpuMicrosPerEvent: number
  /** The highest resident memory that was seen. */
  readonly residentMegabytes: number
}

export interface Stretch {
  /** Events that are not measured: compilation, connections, joining a group. */
  readonly warmUp: number
  readonly events: number
}

const lookEveryMs = 20
const stalledAfterMs = 60_000

/**
 * Measures by what arrives at the sink, not by what the process says of itself: CPU of the process between the first
 * look after the warm-up and the first after the last event, over the events that the sink counted in between.
 */
export async function measure(sink: BenchProcess, measured: BenchProcess, stretch: Stretch): Promise<Measured> {
  const before = await sink.ask('count')
  let start: Look | undefined
  let residentBytes = 0
  let seen = 0
  let seenAt = performance.now()
  for (;;) {
    const look = await lookAt(sink, measured, before)
    residentBytes = Math.max(residentBytes, look.residentBytes)
    if (start === undefined && look.count >= stretch.warmUp) start = look
    if (start !== undefined && look.count >= stretch.warmUp + stretch.events) {
      const events = look.count - start.count
      return {
        events,
        eventsPerSecond: (events / (look.at - start.at)) * 1_000,
        cpuMicrosPerEvent: (look.cpuMicros - start.cpuMicros) / events,
        residentMegabytes: residentBytes / 1_000_000,
      }
    }
    if (look.count > seen) [seen, seenAt] = [look.count, look.at]
    if (look.at - seenAt > stalledAfterMs) throw new Error(`nothing arrives any more, after ${seen} events`)
    await sleep(lookEveryMs)
  }
}

interface Look {
  readonly count: number
  readonly at: number
  readonly cpuMicros: number
  readonly residentBytes: number
}

async function lookAt(sink: BenchProcess, measured: BenchProcess, before: number): Promise<Look> {
  const residentBytes = await measured.residentBytes()
  const [count, cpuMicros] = await Promise.all([sink.ask('count'), measured.cpuMicros()])
  return { count: count - before, cpuMicros, residentBytes, at: performance.now() }
}
