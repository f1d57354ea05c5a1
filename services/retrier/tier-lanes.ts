import { createPlacedList, decodeRetryHeaders, leavesTierAt } from '@barnabas/core'
import type { DeliveryState, KafkaRecord, Tier } from '@barnabas/core'
import { copiedRecord, retryRecordBytes, tierLanesBytesMax } from '@barnabas/delivery'
import type { RetryRecord, TrackedPartition } from '@barnabas/delivery'

/** A record of a tier that is in memory because it leaves its tier soon. Its value is a copy. */
export type WaitingRecord = RetryRecord

export interface TierLanesOptions {
  readonly tierOf: (topic: string) => Tier
  readonly timeScale: number
  readonly now: () => number
  /** The record's stay in its tier is over. Whoever gets it calls `release` when it is in memory no more. */
  readonly onLeave: (waiting: WaitingRecord) => void
  /** An event at the head of a lane that rests; told whenever the lane was looked at. */
  readonly onHead?: (state: DeliveryState, dueAt: number) => void
}

export interface TierLanes {
  onRecords(partition: TrackedPartition, records: readonly KafkaRecord[]): void
  onLost(partition: TrackedPartition): void
  release(waiting: WaitingRecord): void
  /** More than half of the memory is taken: what can wait in Kafka should. */
  readonly isScarce: boolean
  /** Takes nothing more, forgets what waits: it was not finished and will be read again. */
  close(): void
}

/**
 * A partition is read on this long before its head leaves: the client needs up to 100 ms to resume, and a busy process
 * more. While memory is scarce, less, so that it is for what leaves next.
 */
const lookAheadMs = 1_000
const scarceLookAheadMs = 250
/** No timer is set for longer: clocks are corrected, and Node's timers end at 24.8 days. */
const longestTimerMs = 3_600_000

/**
 * The waiting rooms: one lane per tier partition.
 *
 *     reading ── head leaves later than in 1 s, or the memory is full ──► resting: paused, sought back to the head
 *        ▲                                                                   │
 *        └──────────────── 1 s before the head leaves, memory free ──────────┘
 *
 * What is read and leaves within a second waits in memory, each record for itself, so that nothing waits behind
 * anything. A resting lane costs one timer, however many events are parked in it.
 */
export function createTierLanes(options: TierLanesOptions): TierLanes {
  const { timeScale, now } = options
  const resting = new Map<TrackedPartition, NodeJS.Timeout>()
  const hungry = new Set<TrackedPartition>()
  const waits = createPlacedList<{ place: number; timer: NodeJS.Timeout }>()
  let memoryBytes = 0
  let closed = false

  function onRecords(partition: TrackedPartition, records: readonly KafkaRecord[]): void {
    const tier = options.tierOf(partition.topic)
    for (const record of records) {
      if (closed) return
      const decoded = decodeRetryHeaders(record.headers)
      const bytes = retryRecordBytes(record)
      // What cannot be read leaves at once.
      const leavesAt = decoded.kind === 'state' ? leavesTierAt(decoded.dueAt, record.timestamp, tier, timeScale) : 0
      if (leavesAt - now() > aheadMs()) {
        if (decoded.kind === 'state') options.onHead?.(decoded.state, decoded.dueAt)
        return rest(partition, record.offset, leavesAt)
      }
      if (memoryBytes > 0 && memoryBytes + bytes > tierLanesBytesMax) return starve(partition, record.offset)
      const open = partition.take(record.offset)
      if (open === null) continue
      memoryBytes += bytes
      const waiting = { partition, open, record: copiedRecord(record), decoded, bytes }
      waitUntil(leavesAt, () => {
        if (partition.lost) release(waiting)
        else options.onLeave(waiting)
      })
    }
  }

  function isScarce(): boolean {
    return memoryBytes > tierLanesBytesMax / 2
  }

  function aheadMs(): number {
    return isScarce() ? scarceLookAheadMs : lookAheadMs
  }

  function rest(partition: TrackedPartition, headOffset: number, leavesAt: number): void {
    partition.pause()
    partition.seek(headOffset)
    clearTimeout(resting.get(partition))
    // The clock has gone on since somebody looked at it, and Node warns on stderr of a negative wait.
    const wakeInMs = Math.min(Math.max(leavesAt - now() - aheadMs(), 0), longestTimerMs)
    resting.set(
      partition,
      setTimeout(() => {
        resting.delete(partition)
        partition.resume()
      }, wakeInMs),
    )
  }

  function starve(partition: TrackedPartition, headOffset: number): void {
    partition.pause()
    partition.seek(headOffset)
    hungry.add(partition)
  }

  function release(waiting: WaitingRecord): void {
    memoryBytes -= waiting.bytes
    if (hungry.size === 0 || isScarce()) return
    for (const partition of hungry) partition.resume()
    hungry.clear()
  }

  /** Calls back at `time`, never before it by this process's clock. */
  function waitUntil(time: number, then: () => void): void {
    const remainingMs = time - now()
    if (remainingMs <= 0) return then()
    const timer = setTimeout(
      () => {
        waits.remove(wait)
        if (!closed) waitUntil(time, then)
      },
      Math.min(Math.ceil(remainingMs), longestTimerMs),
    )
    const wait = { place: -1, timer }
    waits.add(wait)
  }

  return {
    onRecords,
    onLost(partition) {
      clearTimeout(resting.get(partition))
      resting.delete(partition)
      hungry.delete(partition)
    },
    release,
    get isScarce() {
      return isScarce()
    },
    close() {
      closed = true
      for (const { timer } of waits.all()) clearTimeout(timer)
      for (const timer of resting.values()) clearTimeout(timer)
    },
  }
}
