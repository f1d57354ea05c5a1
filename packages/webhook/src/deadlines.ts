/** Something that must not last beyond a moment. */
export interface Timed {
  /** In ms of `performance.now()`. */
  dueAt: number
  /** It lasts still. Called once per `watch`. */
  onDue(): void
}

export interface Deadlines {
  /** From now on, or anew after its `dueAt` has changed. */
  watch(timed: Timed): void
  forget(timed: Timed): void
}

/** Deadlines are not looked at more often than this, so that thousands that follow each other closely cost little. */
const lookEveryMs = 5
/** Node's timers fire at once when they are set for longer. */
const timerMsMax = 2 ** 31 - 1

/**
 * The deadlines of all attempts on one timer. Nearly every attempt ends long before its own, so that a timer each
 * (and an AbortSignal to go with it) would be made and thrown away for nothing; here a deadline costs an entry in a
 * set. `onDue` comes never early, and late by at most `lookEveryMs` when the event loop has time.
 *
 * The timer does not keep the process alive: what has the deadline does.
 */
export function createDeadlines(): Deadlines {
  const watched = new Set<Timed>()
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Infinity

  function wakeAt(at: number): void {
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(look, Math.min(Math.max(0, Math.ceil(at - performance.now())), timerMsMax)).unref()
  }

  function look(): void {
    const now = performance.now()
    let next = Infinity
    wakesAt = Infinity
    for (const timed of watched) {
      if (timed.dueAt > now) {
        next = Math.min(next, timed.dueAt)
        continue
      }
      watched.delete(timed)
      timed.onDue()
    }
    if (next < wakesAt) wakeAt(Math.max(next, now + lookEveryMs))
  }

  return {
    watch(timed) {
      watched.add(timed)
      if (timed.dueAt < wakesAt) wakeAt(timed.dueAt)
    },
    forget: (timed) => void watched.delete(timed),
  }
}
