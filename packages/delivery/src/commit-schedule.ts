/** When commits happen: as soon as the most urgent wish allows, one at a time. */
export interface CommitSchedule {
  /** Asks for a commit within this time. */
  within(milliseconds: number): void
  /** Commits now, after one that is under way; what became committable meanwhile goes with it. */
  now(): Promise<void>
  /** No commit begins by itself any more. */
  stop(): void
}

/** `commit` must not reject. */
export function createCommitSchedule(commit: () => Promise<void>): CommitSchedule {
  let timer: NodeJS.Timeout | undefined
  let dueAt = Infinity
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let stopped = false

  function now(): Promise<void> {
    // Whoever asks while one waits for its turn goes with that one.
    waiting ??= last.then(() => {
      waiting = undefined
      dueAt = Infinity
      clearTimeout(timer)
      last = commit()
      return last
    })
    return waiting
  }

  return {
    within(milliseconds) {
      const at = Date.now() + milliseconds
      if (stopped || at >= dueAt) return
      dueAt = at
      clearTimeout(timer)
      timer = setTimeout(() => void now(), milliseconds)
    },
    now,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
