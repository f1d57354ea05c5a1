/** Waits of at most a few seconds that are spent in memory, and that end early when the process ends. */
export interface MemoryWait {
  /** Resolves at `time` (ms since the epoch), never before it by `now`; false when `close` came first. */
  until(time: number): Promise<boolean>
  close(): void
}

export function createMemoryWait(now: () => number): MemoryWait {
  const wakes = new Set<() => void>()
  let closed = false

  return {
    async until(time) {
      for (let remainingMs = time - now(); remainingMs > 0 && !closed; remainingMs = time - now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(wake, Math.ceil(remainingMs))
          function wake(): void {
            clearTimeout(timer)
            wakes.delete(wake)
            resolve()
          }
          wakes.add(wake)
        })
      }
      return !closed
    },
    close() {
      closed = true
      for (const wake of wakes) wake()
    },
  }
}
