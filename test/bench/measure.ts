import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchProcess } from './bench-process.ts'

/** What one run of one system came to, after its warm-up. */
export interface Measured {
  readonly eventsPerSecond: number
  readonly cpuMicrosPerEvent: number
  /** The highest resident memory that was seen, of all its processes together. */
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
 * Measures by what arrives at the sink, not by what the processes say of themselves: their CPU between the first look
 * after the warm-up and the first after the last event, over the events that the sink counted in between.
 */
export async function measure(
  received: () => Promise<number>,
  processes: readonly BenchProcess[],
  stretch: Stretch,
): Promise<Measured> {
  const before = await received()
  let start: Look | undefined
  let residentBytes = 0
  const untilStalled = stallWatch()
  for (;;) {
    const look = await lookAt(received, processes, before)
    residentBytes = Math.max(residentBytes, look.residentBytes)
    if (start === undefined && look.count >= stretch.warmUp) start = look
    else if (start !== undefined && look.count >= stretch.warmUp + stretch.events) {
      const events = look.count - start.count
      return {
        eventsPerSecond: (events / (look.at - start.at)) * 1_000,
        cpuMicrosPerEvent: (look.cpuMicros - start.cpuMicros) / events,
        residentMegabytes: residentBytes / 1_000_000,
      }
    }
    untilStalled(look.count)
    await sleep(lookEveryMs)
  }
}

/** Waits until so many have arrived; what comes after that is told by the sink's tally. */
export async function untilReceived(received: () => Promise<number>, events: number): Promise<void> {
  const untilStalled = stallWatch()
  for (let count = await received(); count < events; count = await received()) {
    untilStalled(count)
    await sleep(lookEveryMs)
  }
}

/** Throws when the count has stood still for a minute and for `patienceMs` more. */
export function stallWatch(patienceMs = 0): (count: number) => void {
  let seen = -1
  let seenAt = performance.now()
  return (count) => {
    if (count > seen) [seen, seenAt] = [count, performance.now()]
    if (performance.now() - seenAt > stalledAfterMs + patienceMs) {
      throw new Error(`nothing arrives any more, after ${seen} events`)
    }
  }
}

interface Look {
  readonly count: number
  readonly at: number
  readonly cpuMicros: number
  readonly residentBytes: number
}

async function lookAt(
  received: () => Promise<number>,
  processes: readonly BenchProcess[],
  before: number,
): Promise<Look> {
  const residentBytes = sum(await Promise.all(processes.map((each) => each.residentBytes())))
  const [count, cpu] = await Promise.all([received(), Promise.all(processes.map((each) => each.cpuMicros()))])
  return { count: count - before, cpuMicros: sum(cpu), residentBytes, at: performance.now() }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0)
}
