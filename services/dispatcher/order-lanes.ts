import type { HoldablePartition, ReadBudget } from '@barnabas/delivery'

/**
 * Those that must go one after the other, in lanes: all of a partition, or all of a key within it. One of a lane is under
 * way, or waits in place for its next attempt; the others wait in memory, counted against what may be read (`ReadGate`), so
 * that at its bound the partitions wait.
 *
 *     enter ──► nothing of its lane is under way ──► begun ── over ──► the next one is begun
 *         └───► it waits ◄───────────────────────────────────┘
 */
export interface OrderLanes<Item extends LaneItem> {
  /** Begins it as soon as everything that entered its lane before is over. */
  enter(partition: HoldablePartition, lane: string, item: Item): void
  /** One that was begun in an earlier life is in its lane too: nothing of it begins before that is over as well. */
  occupy(partition: HoldablePartition, lane: string): void
  /** One that was begun is over. */
  over(partition: HoldablePartition, lane: string): void
  /** It stays for long: what waits behind it keeps only its own bytes. */
  stays(partition: HoldablePartition, lane: string): void
  /** Drops those that wait in it, which will be handed over again. */
  drop(partition: HoldablePartition, lane: string): void
  /** The same for all lanes. */
  dropAll(): void
  lost(partition: HoldablePartition): void
  readonly waiting: number
  readonly waitingBytes: number
}

export interface LaneItem {
  readonly bytes: number
}

export interface OrderLanesOptions<Item extends LaneItem> {
  readonly begin: (item: Item) => void
  readonly copyOf: (item: Item) => Item
  readonly budget: Pick<ReadBudget, 'add' | 'remove'>
}

interface Lane<Item> {
  queue: Item[]
  /** How many were begun and are not over: after a crash what was not committed comes again before the one that stays. */
  begun: number
  isSlow: boolean
}

export function createOrderLanes<Item extends LaneItem>(options: OrderLanesOptions<Item>): OrderLanes<Item> {
  const { begin, copyOf, budget } = options
  const partitions = new Map<HoldablePartition, Map<string, Lane<Item>>>()
  let waiting = 0
  let waitingBytes = 0

  function count(item: Item, change: 1 | -1): void {
    waiting += change
    waitingBytes += change * item.bytes
    if (change === 1) budget.add(item.bytes)
    else budget.remove(item.bytes)
  }

  function lanesOf(partition: HoldablePartition): Map<string, Lane<Item>> {
    const known = partitions.get(partition)
    if (known !== undefined) return known
    const lanes = new Map<string, Lane<Item>>()
    partitions.set(partition, lanes)
    return lanes
  }

  function empty(lane: Lane<Item>): void {
    for (const item of lane.queue) count(item, -1)
    lane.queue = []
  }

  function becomeSlow(lane: Lane<Item>): void {
    if (lane.isSlow) return
    lane.isSlow = true
    lane.queue = lane.queue.map(copyOf)
  }

  return {
    enter(partition, name, item) {
      const lanes = lanesOf(partition)
      const lane = lanes.get(name)
      if (lane === undefined) {
        lanes.set(name, { queue: [], begun: 1, isSlow: false })
        return begin(item)
      }
      lane.queue.push(lane.isSlow ? copyOf(item) : item)
      count(item, 1)
    },
    occupy(partition, name) {
      const lanes = lanesOf(partition)
      const lane = lanes.get(name) ?? { queue: [], begun: 0, isSlow: true }
      lanes.set(name, lane)
      lane.begun += 1
      becomeSlow(lane)
    },
    over(partition, name) {
      const lane = partitions.get(partition)?.get(name)
      if (lane === undefined) return
      lane.begun -= 1
      if (lane.begun > 0) return
      lane.isSlow = false
      const next = lane.queue.shift()
      if (next === undefined) {
        partitions.get(partition)?.delete(name)
        return
      }
      count(next, -1)
      lane.begun = 1
      begin(next)
    },
    stays(partition, name) {
      const lane = partitions.get(partition)?.get(name)
      if (lane !== undefined) becomeSlow(lane)
    },
    drop(partition, name) {
      const lane = partitions.get(partition)?.get(name)
      if (lane !== undefined) empty(lane)
    },
    dropAll() {
      for (const lanes of partitions.values()) lanes.forEach(empty)
    },
    lost(partition) {
      partitions.get(partition)?.forEach(empty)
      partitions.delete(partition)
    },
    get waiting() {
      return waiting
    },
    get waitingBytes() {
      return waitingBytes
    },
  }
}
