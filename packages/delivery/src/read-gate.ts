import { waitingBytesMax, waitingRecordsMax } from './limits.ts'
import type { ReadBudget } from './read-budget.ts'
import type { TrackedPartition } from './tracked-consumer.ts'
import type { Window } from './window.ts'

/**
 * Stops reading a subscription's partitions while enough of it waits for a place in its window, and its own alone:
 *
 *     reading ── 500 records or 4 MiB wait, or the service has no budget left and one waits ──► paused
 *        ▲                                                                                    │
 *        └──── a fifth of it waits, and there is budget, or nothing of it is in hand ─────────┘
 */
export interface ReadGate {
  /** After records of the partition were given to the window. */
  check(partition: TrackedPartition): void
  /** After something has left the window. */
  freed(): void
  lost(partition: TrackedPartition): void
  close(): void
}

export function createReadGate(window: Pick<Window, 'waiting' | 'waitingBytes' | 'inFlight'>, budget: ReadBudget) {
  const paused = new Set<TrackedPartition>()

  function freed(): void {
    if (paused.size === 0 || window.waiting > waitingRecordsMax / 5 || window.waitingBytes > waitingBytesMax / 5) return
    if (budget.isFull && window.waiting + window.inFlight > 0) return
    for (const partition of paused) partition.resume()
    paused.clear()
  }

  budget.onRoom(freed)
  return {
    check(partition) {
      const isFull = window.waiting > waitingRecordsMax || window.waitingBytes > waitingBytesMax
      if (!isFull && !(budget.isFull && window.waiting > 0)) return
      partition.pause()
      paused.add(partition)
    },
    freed,
    lost: (partition) => void paused.delete(partition),
    close: () => budget.offRoom(freed),
  } satisfies ReadGate
}
