import { PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'

/**
 * Both halves: one that objects are made in, one that those that survive are copied to. It may become twice as much when
 * collections follow each other within one turn of the event loop.
 */
export const youngGenerationBytesMax = 16 * 1024 * 1024

/**
 * Keeps V8's young generation between the little that an idle process needs and what pays under load. Left alone it grows
 * to four times as much with the rate of allocation, and with the network buffers that hang on its garbage a process takes
 * 370 instead of 250 MB. Kept at the size that it has at start, or after a full collection, it holds less than what some
 * hundred attempts in flight need, and each of its collections, a hundred a second, copies all of that
 * (docs/performance.md).
 *
 * V8 takes its maximum from the command line only, but asks at each collection by which factor it may grow.
 */
export function boundYoungGeneration(): void {
  let mayGrow: boolean | undefined

  function look(): void {
    const { space_size: bytes = 0 } = v8.getHeapSpaceStatistics().find(isYoungGeneration) ?? {}
    if (bytes < youngGenerationBytesMax === mayGrow) return
    mayGrow = bytes < youngGenerationBytesMax
    v8.setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  }

  look()
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] })
}

function isYoungGeneration({ space_name: name }: v8.HeapSpaceInfo): boolean {
  return name === 'new_space'
}
