/** Calls something that may be asked for very often: soon after it is asked for, and not again before so much time is over. */
export interface SpacedCall {
  ask(): void
  stop(): void
}

export function createSpacedCall(
  call: () => void,
  { soonMs, everyMs }: { soonMs: number; everyMs: number },
): SpacedCall {
  let timer: NodeJS.Timeout | undefined
  let calledAt = -Infinity
  return {
    ask() {
      if (timer !== undefined) return
      const waitMs = Math.max(soonMs, calledAt + everyMs - performance.now())
      timer = setTimeout(() => {
        timer = undefined
        calledAt = performance.now()
        call()
      }, waitMs).unref()
    },
    stop: () => clearTimeout(timer),
  }
}
