import type { ReadBudget } from './read-budget.ts'

/**
 * What of a subscription is in flight, and who waits for a place. First come, first served. Two limits: how many, and
 * how many bytes, so that large events do not need the number times their size; one event is always let through.
 * `limit` is asked each time: a changed subscription needs no new window, and `limitChanged` makes it count at once.
 */
export interface Window {
  readonly inFlight: number
  readonly inFlightBytes: number
  /** How many wait for a place, and their bytes. */
  readonly waiting: number
  readonly waitingBytes: number
  /** Whether a task of this size would begin at once. */
  hasPlace(bytes: number): boolean
  /** Runs the task as soon as there is a place; it holds the place until it settles. It must not reject. */
  run(task: () => Promise<void>, bytes: number, onDropped?: () => void): void
  /** Gives no place to anybody until `open`; what is in flight goes on. */
  hold(): void
  open(): void
  limitChanged(): void
  /** Drops those that wait, and tells them. */
  clear(): void
  /** Resolves when nothing is in flight any more. */
  idle(): Promise<void>
}

export interface WindowOptions {
  readonly limit: () => number
  /** Bytes in flight; the budget of the service counts those that wait too. */
  readonly bytesMax: number
  readonly budget: ReadBudget
  readonly onFreed?: () => void
}

interface Waiting {
  readonly task: () => Promise<void>
  readonly bytes: number
  readonly onDropped: (() => void) | undefined
}

export function createWindow({ limit, bytesMax, budget, onFreed = () => {} }: WindowOptions): Window {
  let inFlight = 0
  let inFlightBytes = 0
  let waitingBytes = 0
  let isHeld = false
  let queue: (Waiting | undefined)[] = []
  let head = 0
  const idleWaiters: (() => void)[] = []

  function fits(bytes: number): boolean {
    return !isHeld && inFlight < limit() && (inFlight === 0 || inFlightBytes + bytes <= bytesMax)
  }

  function pump(): void {
    for (let next = queue[head]; next !== undefined && fits(next.bytes); next = queue[head]) {
      // Not kept until the queue is cut: all that an event came to would hang on it.
      queue[head] = undefined
      head += 1
      if (head > 256 && head * 2 > queue.length) {
        // In place: a copy would leave the old list behind, which keeps for the garbage collector what is in it.
        queue.splice(0, head)
        head = 0
      }
      const { bytes } = next
      inFlight += 1
      inFlightBytes += bytes
      waitingBytes -= bytes
      void next.task().then(() => settled(bytes))
    }
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
      queue.push({ task, bytes, onDropped })
      waitingBytes += bytes
      budget.add(bytes)
      pump()
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
