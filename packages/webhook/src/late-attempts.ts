/** An attempt whose deadline is over, and whose answer may still come. */
export interface LateAttempt {
  /** What its request may keep in memory. */
  readonly bodyBytes: number
  /** It is listened to no more. Called at most once, and never for one that was forgotten. */
  drop(): void
}

export interface LateAttempts {
  /** From now on; the oldest are dropped for it. */
  keep(attempt: LateAttempt): void
  forget(attempt: LateAttempt): void
}

/** Row A7 is best effort: so many connections beyond their subscriptions' share, and so much of their requests. */
const attemptsMax = 64
const bodyBytesMax = 16 * 1024 * 1024

/** All attempts of a process that are listened to beyond their deadline, the oldest first. */
export function createLateAttempts(): LateAttempts {
  const kept: LateAttempt[] = []
  let bodyBytes = 0

  function remove(attempt: LateAttempt): boolean {
    const index = kept.indexOf(attempt)
    if (index < 0) return false
    kept.splice(index, 1)
    bodyBytes -= attempt.bodyBytes
    return true
  }

  return {
    keep(attempt) {
      kept.push(attempt)
      bodyBytes += attempt.bodyBytes
      while (kept.length > attemptsMax || bodyBytes > bodyBytesMax) {
        const [oldest] = kept
        if (oldest === undefined) return
        remove(oldest)
        oldest.drop()
      }
    },
    forget: (attempt) => void remove(attempt),
  }
}
