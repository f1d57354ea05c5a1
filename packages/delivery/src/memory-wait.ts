import { createPlacedList } from '@barnabas/core'

/** Waits of at most a few seconds that are spent in memory, and that end early when the process ends. */
export interface MemoryWait {
  /** Resolves at `time` (ms since the epoch), never before it by `now`; false when `close` came first. */
  until(time: number): Promise<boolean>
  close(): void
}

export function createMemoryWait(now: () => number): MemoryWait {
  const waits = createPlacedList<{ place: number; readonly wake: () => void }>()
  let closed = false

  return {
    async until(time) {
      for (let remainingMs = time - now(); remainingMs > 0 && !closed; remainingMs = time - now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(wake, Math.ceil(remainingMs))
          const wait = { place: -1, wake }
          function wake(): void {
            clearTimeout(timer)
            waits.remove(wait)
            resolve()
          }
          waits.add(wait)
        })
      }
      return !closed
    },
    close() {
      closed = true
      for (const { wake } of waits.all()) wake()
    },
  }
}
