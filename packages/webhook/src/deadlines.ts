import { createPlacedList } from '@barnabas/core'
import type { Placed } from '@barnabas/core'

/** Something that must not last beyond a moment. */
export interface Timed extends Placed {
  /** In ms of `performance.now()`; `Infinity` while there is no such moment. */
  dueAt: number
  /** It lasts still, and is watched no more. */
  onDue(): void
}

export interface Deadlines<Watched extends Timed> {
  /** From now on, or anew after its `dueAt` has changed. */
  watch(timed: Watched): void
  forget(timed: Watched): void
  /** All that are watched at this moment, whether they have a deadline or not. */
  all(): readonly Watched[]
}

/** Deadlines are not looked at more often than this, so that thousands that follow each other closely cost little. */
const lookEveryMs = 5
/** Node's timers fire at once when they are set for longer. */
const timerMsMax = 2 ** 31 - 1

/**
 * The deadlines of all attempts on one timer. Nearly every attempt ends long before its own, so that a timer each
 * (and an AbortSignal to go with it) would be made and thrown away for nothing; here a deadline costs a place in a
 * list. `onDue` comes never early, and late by at most `lookEveryMs` when the event loop has time.
 *
 * The timer does not keep the process alive: what has the deadline does.
 */
export function createDeadlines<Watched extends Timed>(): Deadlines<Watched> {
  const watched = createPlacedList<Watched>()
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Infinity

  function wakeAt(at: number): void {
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(look, Math.min(Math.max(0, Math.ceil(at - performance.now())), timerMsMax)).unref()
  }

  function look(): void {
    const now = performance.now()
    wakesAt = Infinity
    const isDue = ({ dueAt }: Watched): boolean => dueAt <= now
    for (const timed of watched
      .all()
      .filter(isDue)
      .toSorted((one, other) => one.dueAt - other.dueAt)) {
      // One that was due before it may have ended it, or moved its deadline.
      if (timed.place < 0 || !isDue(timed)) continue
      watched.remove(timed)
      timed.onDue()
    }
    const next = watched.all().reduce((earliest, { dueAt }) => Math.min(earliest, dueAt), Infinity)
    if (next < wakesAt) wakeAt(Math.max(next, now + lookEveryMs))
  }

  return {
    watch(timed) {
      watched.add(timed)
      if (timed.dueAt < wakesAt) wakeAt(timed.dueAt)
    },
    forget: (timed) => watched.remove(timed),
    all: () => watched.all(),
  }
}
