import { ownShareBytes } from './limits.ts'
import type { WaitingMax } from './limits.ts'
import type { ReadBudget } from './read-budget.ts'
import type { TrackedPartition } from './tracked-partition.ts'
import type { Window } from './window.ts'

/**
 * Stops reading a subscription's partitions while enough of it waits for a place in its window, and its own alone:
 *
 *     reading ── 500 records or 4 MiB wait (more where one batch takes more), or the service has no budget left and its own share is used up ──► paused
 *        ▲                                                                                                    │
 *        └───────────────── a fifth of it waits, and there is budget, or some of its own share ───────────────┘
 */
export interface ReadGate {
  /** Whether one more record may be given to the window; one that may not is read again later (`rest`). */
  takes(): boolean
  /** No budget is left: what is taken is taken as a copy, so that it does not keep the whole of its fetch in memory. */
  readonly isTight: boolean
  /** Pauses the partition, which goes on at this offset when there is room. */
  rest(partition: TrackedPartition, offset: number): void
  /** After all records of a batch were given to the window. */
  check(partition: TrackedPartition): void
  /** After something has left the window. */
  freed(): void
  lost(partition: TrackedPartition): void
  close(): void
}

export type InHand = Pick<Window, 'waiting' | 'waitingBytes' | 'inFlight' | 'inFlightBytes'>

/**
 * `most` says what may wait for a place; it is asked each time, for a subscription may be changed. While `mayRead` is
 * false nothing is taken at all; who makes it true again calls `freed`.
 */
export function createReadGate(
  inHand: InHand,
  budget: ReadBudget,
  most: () => WaitingMax,
  mayRead: () => boolean,
): ReadGate {
  const paused = new Set<TrackedPartition>()

  function takes(): boolean {
    if (!mayRead()) return false
    if (!budget.isFull || inHand.waiting + inHand.inFlight === 0) return true
    return inHand.waiting === 0 && inHand.inFlightBytes < ownShareBytes
  }

  function pause(partition: TrackedPartition): void {
    partition.pause()
    paused.add(partition)
  }

  function freed(): void {
    if (paused.size === 0) return
    const { records, bytes } = most()
    if (inHand.waiting > records / 5 || inHand.waitingBytes > bytes / 5 || !takes()) return
    for (const partition of paused) partition.resume()
    paused.clear()
  }

  budget.onRoom(freed)
  return {
    takes,
    get isTight() {
      return budget.isFull
    },
    rest(partition, offset) {
      pause(partition)
      partition.seek(offset)
    },
    check(partition) {
      const { records, bytes } = most()
      if (inHand.waiting > records || inHand.waitingBytes > bytes || !takes()) pause(partition)
    },
    freed,
    lost: (partition) => void paused.delete(partition),
    close: () => budget.offRoom(freed),
  }
}
