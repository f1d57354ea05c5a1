import v8 from 'node:v8'
import { boundYoungGeneration } from './young-generation.ts'

/** By how much the heap may outgrow what was alive at the last full collection before the next one. */
const growingPercent = 75

/**
 * For a command that moves records from Kafka to Kafka or to a file as fast as it can. What it has in hand lives for as
 * long as one transaction: long enough to be taken for old, so that it becomes garbage which only full collections find,
 * with the network buffers that hang on it. V8 lets a small heap grow to four times its size between those. Bounded,
 * sending 100,000 dead letters again takes 250 MB instead of 340, and as fast (docs/performance.md, S14).
 */
export function boundHeap(): void {
  boundYoungGeneration()
  v8.setFlagsFromString(`--heap-growing-percent=${growingPercent}`)
}
