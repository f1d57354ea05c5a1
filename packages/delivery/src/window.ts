/**
 * How many events of a subscription are in flight, and who waits for a place. First come, first served.
 * `limit` is asked each time: a changed subscription needs no new window.
 */
export interface Window {
  readonly inFlight: number
  /** How many wait for a place. */
  readonly waiting: number
  /** Runs the task as soon as there is a place; it holds the place until it settles. It must not reject. */
  run(task: () => Promise<void>, onDropped?: () => void): void
  /** Gives no place to anybody until `open`; what is in flight goes on. */
  hold(): void
  open(): void
  /** Drops those that wait, and tells them. */
  clear(): void
  /** Resolves when nothing is in flight any more. */
  idle(): Promise<void>
}

export function createWindow(limit: () => number, onFreed: () => void = () => {}): Window {
  let inFlight = 0
  let isHeld = false
  let queue: { readonly task: () => Promise<void>; readonly onDropped: (() => void) | undefined }[] = []
  let head = 0
  const idleWaiters: (() => void)[] = []

  function pump(): void {
    while (!isHeld && inFlight < limit() && head < queue.length) {
      const next = queue[head]
      head += 1
      if (head > 256 && head * 2 > queue.length) {
        queue = queue.slice(head)
        head = 0
      }
      inFlight += 1
      void next?.task().then(settled)
    }
  }

  function settled(): void {
    inFlight -= 1
    pump()
    onFreed()
    if (inFlight > 0) return
    for (const resolve of idleWaiters.splice(0)) resolve()
  }

  return {
    get inFlight() {
      return inFlight
    },
    get waiting() {
      return queue.length - head
    },
    run(task, onDropped) {
      queue.push({ task, onDropped })
      pump()
    },
    hold() {
      isHeld = true
    },
    open() {
      isHeld = false
      pump()
    },
    clear() {
      const dropped = queue.slice(head)
      queue = []
      head = 0
      for (const { onDropped } of dropped) onDropped?.()
    },
    async idle() {
      if (inFlight > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve))
    },
  }
}
