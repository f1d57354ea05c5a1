/** How many events a request may carry, and how large it may become (rows A11 and C1). */
export interface BatchLimits {
  /** Never exceeded. 1: no batches. */
  readonly maxEvents: number
  /** Of a request's body: a target that only an event that is larger by itself exceeds, and that one travels alone. */
  readonly preferredBytes: number
  /** How long the first event of a batch waits, in ms, for it to become full (EventBridge's `TimeBasedWindow`). Absent: not at all. */
  readonly windowMs?: number
}

/** EventBridge's `CountBasedWindow`; Event Grid's own notation takes 5,000. */
export const maxEventsLimit = 10_000
/** EventBridge's `TimeBasedWindow`. */
export const windowMsMax = 15_000
export const preferredBytesMin = 1_024
export const preferredBytesMax = 1_024 * 1_024

/**
 * What the field that is left out becomes when the other one is there: the numbers of Event Grid in the cloud, for the
 * size those of Event Grid on Kubernetes (`broker__defaultMaxBatchSizeInBytes`) and for the count
 * `broker__defaultMaxEventsPerBatch` of the same engine, for the cloud has none.
 */
export const preferredBytesDefault = 64 * 1_024
export const preferredBytesDefaultOnKubernetes = 1_058_576
export const maxEventsDefault = 10

const brackets = 2
const comma = 1

/**
 * How many of those that wait travel in the next request: from the first one on, in their order, for as long as the
 * limits let one more in, and at least one. Whether it waits for more to come is not asked here.
 * `bytesOf` says what an event takes in the body, and is asked only for those that the answer depends on; `Infinity` for
 * one that cannot go along.
 */
export function batchLength(waiting: number, bytesOf: (index: number) => number, limits: BatchLimits): number {
  const most = Math.min(waiting, limits.maxEvents)
  if (most <= 1) return Math.min(waiting, 1)
  let bytes = brackets + bytesOf(0)
  for (let events = 1; events < most; events += 1) {
    bytes += comma + bytesOf(events)
    if (bytes > limits.preferredBytes) return events
  }
  return most
}
