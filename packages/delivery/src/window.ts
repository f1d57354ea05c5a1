import { batchLength } from '@barnabas/core'
import type { BatchLimits } from '@barnabas/core'
import type { Lane } from './rates.ts'
import type { ReadBudget } from './read-budget.ts'

/**
 * What of a subscription is in flight, and who waits for a place. First come, first served. Two limits: how many, and
 * how many bytes, so that large events do not need the number times their size; one event is always let through.
 * A place is one request: of those that may share one, as many as wait and fit into it begin together (`runTogether`).
 * `limit` is asked each time: a changed subscription needs no new window, and `limitChanged` makes it count at once.
 */
export interface Window {
  readonly inFlight: number
  readonly inFlightBytes: number
  /** How many wait for a place, and their bytes; those that share a request count one by one. */
  readonly waiting: number
  readonly waitingBytes: number
  /** Whether a task of this size would begin at once. */
  hasPlace(bytes: number): boolean
  /** Runs the task as soon as there is a place; it holds the place until it settles. It must not reject. */
  run(task: () => Promise<void>, bytes: number, onDropped?: () => void): void
  /**
   * The same for what may share its place with others of its batching that wait next to it. It begins when the present
   * turn of the event loop ends, or as soon as there are enough for the largest batch: what comes at once goes together,
   * and nobody waits for more, unless the limits have a window of time: then the first one waits for so long, or until
   * a batch is full.
   */
  runTogether<Item>(batching: Batching<Item>, item: Item, bytes: number, onDropped?: () => void): void
  /** Gives no place to anybody until `open`; what is in flight goes on. */
  hold(): void
  open(): void
  limitChanged(): void
  /** Drops those that wait, and tells them. */
  clear(): void
  /** Resolves when nothing is in flight any more. */
  idle(): Promise<void>
}

/** How those begin that share a request. */
export interface Batching<Item> {
  /** Those of the first one count for all. */
  limits(first: Item): BatchLimits
  /** What it takes in the request's body. */
  bytesOf(item: Item): number
  /** In the order in which they came, at least one. It must not reject. */
  begin(items: readonly Item[]): Promise<void>
}

export interface WindowOptions {
  readonly limit: () => number
  /** Bytes in flight; the budget of the service counts those that wait too. */
  readonly bytesMax: number
  readonly budget: ReadBudget
  readonly onFreed?: () => void
  /** Where the number of requests is limited too: one is taken for each that begins. */
  readonly lane?: ((onTurn: () => void) => Lane) | undefined
}

interface Batchable {
  /** When it began to wait, by `performance.now()`. */
  readonly since: number
  readonly batching: Batching<unknown>
  readonly item: unknown
}

interface Waiting {
  readonly task: (() => Promise<void>) | Batchable
  readonly bytes: number
  readonly onDropped: (() => void) | undefined
}

export function createWindow(options: WindowOptions): Window {
  const { limit, bytesMax, budget, onFreed = () => {} } = options
  let inFlight = 0
  let inFlightBytes = 0
  let waitingBytes = 0
  let isHeld = false
  let queue: (Waiting | undefined)[] = []
  let head = 0
  let pumpsSoon = false
  let ripens: NodeJS.Timeout | undefined
  /** Whoever began to wait by then waits for no more: somebody came who does not wait. */
  let ripeUntil = -Infinity
  const idleWaiters: (() => void)[] = []
  const lane = options.lane?.(pumpAndTell)

  function fits(bytes: number): boolean {
    return !isHeld && inFlight < limit() && (inFlight === 0 || inFlightBytes + bytes <= bytesMax)
  }

  function pump(): void {
    for (let next = queue[head]; next !== undefined && fits(next.bytes); next = queue[head]) {
      const { task } = next
      if (typeof task !== 'function' && !isRipe(task)) return
      if (lane?.take() === false) return
      inFlight += 1
      if (typeof task !== 'function') {
        beginTogether(task)
        continue
      }
      leaveQueue()
      const { bytes } = next
      inFlightBytes += bytes
      waitingBytes -= bytes
      void task().then(() => settled(bytes))
    }
  }

  /** Those at the head of the queue that go into one request. */
  function beginTogether({ batching, item: first }: Batchable): void {
    const items: unknown[] = []
    let bytes = 0
    for (let left = lengthOfBatch(batching, first); left > 0; left -= 1) {
      const next = queue[head]
      if (next === undefined || typeof next.task === 'function') break
      leaveQueue()
      items.push(next.task.item)
      bytes += next.bytes
    }
    inFlightBytes += bytes
    waitingBytes -= bytes
    void batching.begin(items).then(() => settled(bytes))
  }

  /** Whether the batch at the head of the queue may begin; if not, it is looked at again when its time is over. */
  function isRipe({ batching, item, since }: Batchable): boolean {
    const { windowMs = 0, maxEvents, preferredBytes } = batching.limits(item)
    const length = queue.length - head
    if (windowMs === 0 || length >= maxEvents || since <= ripeUntil) return true
    const leftMs = since + windowMs - performance.now()
    if (leftMs <= 0) return true
    // Bodies are seldom larger than their records: how large this one would become is not asked before it can be full.
    if (2 * waitingBytes >= Math.min(preferredBytes, bytesMax) && lengthOfBatch(batching, item) < length) return true
    clearTimeout(ripens)
    ripens = setTimeout(pumpAndTell, Math.ceil(leftMs))
    return false
  }

  function pumpAndTell(): void {
    pump()
    // What waits no more has made room for others to be read.
    onFreed()
  }

  function lengthOfBatch(batching: Batching<unknown>, first: unknown): number {
    let memoryBytes = inFlightBytes
    const bytesOf = (index: number) => {
      const next = queue[head + index]
      if (next === undefined || typeof next.task === 'function' || next.task.batching !== batching) return Infinity
      memoryBytes += next.bytes
      return index > 0 && memoryBytes > bytesMax ? Infinity : batching.bytesOf(next.task.item)
    }
    return batchLength(queue.length - head, bytesOf, batching.limits(first))
  }

  function leaveQueue(): void {
    // Not kept until the queue is cut: all that an event came to would hang on it.
    queue[head] = undefined
    head += 1
    if (head > 256 && head * 2 > queue.length) {
      // In place: a copy would leave the old list behind, which keeps for the garbage collector what is in it.
      queue.splice(0, head)
      head = 0
    }
  }

  function enqueue(waiting: Waiting): void {
    queue.push(waiting)
    waitingBytes += waiting.bytes
    budget.add(waiting.bytes)
  }

  function pumpSoon(): void {
    if (pumpsSoon) return
    pumpsSoon = true
    setImmediate(() => {
      pumpsSoon = false
      pumpAndTell()
    })
  }

  function settled(bytes: number): void {
    inFlight -= 1
    inFlightBytes -= bytes
    budget.remove(bytes)
    pump()
    onFreed()
    if (inFlight > 0) return
    for (const resolve of idleWaiters.splice(0)) resolve()
  }

  return {
    get inFlight() {
      return inFlight
    },
    get inFlightBytes() {
      return inFlightBytes
    },
    get waiting() {
      return queue.length - head
    },
    get waitingBytes() {
      return waitingBytes
    },
    hasPlace: (bytes) => head === queue.length && fits(bytes),
    run(task, bytes, onDropped) {
      enqueue({ task, bytes, onDropped })
      pump()
    },
    runTogether<Item>(batching: Batching<Item>, item: Item, bytes: number, onDropped?: () => void) {
      const { maxEvents, windowMs = 0 } = batching.limits(item)
      const task = { batching: batching as Batching<unknown>, item, since: performance.now() }
      if (windowMs === 0) ripeUntil = task.since
      enqueue({ task, bytes, onDropped })
      if (queue.length - head >= maxEvents) pump()
      else pumpSoon()
    },
    hold() {
      isHeld = true
    },
    open() {
      isHeld = false
      pump()
    },
    limitChanged: pump,
    clear() {
      const dropped = queue.slice(head)
      queue = []
      head = 0
      waitingBytes = 0
      clearTimeout(ripens)
      lane?.close()
      for (const waiting of dropped) {
        budget.remove(waiting?.bytes ?? 0)
        waiting?.onDropped?.()
      }
    },
    async idle() {
      if (inFlight > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve))
    },
  }
}
