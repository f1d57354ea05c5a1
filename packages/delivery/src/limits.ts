import type { BatchLimits } from '@barnabas/core'

/** What one subscription, and one process, may have in hand: the table of docs/subscriptions.md, checked against it. */
const mebibyte = 1024 * 1024

/**
 * Bytes of the events that a subscription may have in flight, so that events of 1 MB do not need `concurrency` times
 * 1 MB. One event is always let through. For first attempts, retries and held retries each, as `concurrency` is.
 */
export const inFlightBytesMax = 16 * mebibyte

/** What has been read of a source or held topic and waits for a place in the window. Beyond it the partitions are paused. */
export const waitingRecordsMax = 500
export const waitingBytesMax = 4 * mebibyte

export interface WaitingMax {
  readonly records: number
  readonly bytes: number
}

/** With batches, as much as the largest of them takes, if that is more: else it could never be full. */
export function waitingMaxOf({ maxEvents, preferredBytes }: BatchLimits): WaitingMax {
  return {
    records: Math.max(waitingRecordsMax, maxEvents),
    // A record is not of the size of its event in a request, but seldom more than twice as large.
    bytes:
      maxEvents === 1
        ? waitingBytesMax
        : Math.max(waitingBytesMax, maxEvents * recordOverheadBytes + 2 * preferredBytes),
  }
}

/**
 * What of the due retries may wait in the retrier for a place in its subscription's window: a burst that is worked off
 * within a moment. What finds this full too is held.
 */
export const waitingRetriesMax = 500
export const waitingRetryBytesMax = 4 * mebibyte

/** What a dispatcher has read and not finished, of all subscriptions. */
export const readBytesMax = 64 * mebibyte
/** What of it each subscription may have in any case, or one larger event, so that those who fill it delay nobody. */
export const ownShareBytes = 256 * 1024
/** What a retrier has in hand of due retries, of all subscriptions: apart, so that a backlog of events delays no retry. */
export const retryBytesMax = 32 * mebibyte

/**
 * What may wait in a retrier's memory because it falls due within a second, or within five when no tier is shorter;
 * beyond it retries wait in Kafka. Some 3,000 usual ones; a larger budget only made a burst of due records costly
 * (600 MB resident with 64 MiB).
 */
export const tierLanesBytesMax = 16 * mebibyte

/** What a record costs beside its bytes. A retry record has some twenty headers, each an object. */
export const recordOverheadBytes = 1_024
export const retryOverheadBytes = 4_096
