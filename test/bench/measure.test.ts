import { expect, test } from 'vitest'
import type { BenchProcess } from './bench-process.ts'
import { measure, untilReceived } from './measure.ts'

/** A process whose every look costs so much CPU more. */
function fakeProcess(cpuMicrosPerLook: number, megabytes: readonly number[]): BenchProcess {
  let looks = 0
  return {
    cpuMicros: () => Promise.resolve((looks += 1) * cpuMicrosPerLook),
    residentBytes: () => Promise.resolve((megabytes[looks] ?? 0) * 1_000_000),
    ask: () => Promise.reject(new Error('says nothing')),
    stop: () => Promise.resolve(),
    kill: () => Promise.resolve(),
  }
}

/** A sink that finds these counts, one after the other. */
function counts(...values: number[]): () => Promise<number> {
  return () => Promise.resolve(values.shift() ?? NaN)
}

test('CPU is counted between the first look after the warm-up and the first after the last event', async () => {
  // 1,000 had come before; 50 and then 120 since, 400 and 620 after that: 500 of 100 + 400 are there at the last.
  const processes = [fakeProcess(1_000, [10, 30, 20, 20]), fakeProcess(500, [5, 5, 5, 5])]
  const measured = await measure(counts(1_000, 1_050, 1_120, 1_400, 1_620), processes, { warmUp: 100, events: 400 })
  expect(measured.cpuMicrosPerEvent).toBe((2 * 1_500) / 500)
  expect(measured.residentMegabytes).toBe(35)
})

test('what is waited for has arrived', async () => {
  const received = counts(1, 5, 9, 10, 11)
  await untilReceived(received, 10)
  expect(await received()).toBe(11)
})
