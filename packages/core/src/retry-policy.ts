/**
 * A retry policy as a value: which delay follows which attempt, and the limits that end it, whichever comes
 * first. All durations in ms (already scaled for tests).
 */
export interface RetryPolicy {
  readonly schedule: 'event-grid' | 'event-grid-kubernetes' | 'backoff' | 'exponential-decay' | 'list'
  /** The gap after the n-th attempt is `delays[n - 1]`; beyond the end the last one repeats, or the schedule ends. */
  readonly delays: readonly DelayStep[]
  readonly repeatLast: boolean
  /** Attempts in all, the first included. */
  readonly maxAttempts: number
  /** Counted from the first attempt, looked at when the next attempt falls due (row A10); null for none. */
  readonly timeToLiveMs: number | null
  /** HTTP statuses that are not retried. */
  readonly neverOn: ReadonlySet<number>
  /** Whether the minimum waits by status of row A19 apply. */
  readonly minimumWaits: boolean
  /** The factor already applied to every duration above (`BARNABAS_TIME_SCALE`), for durations that belong to the schedule itself. */
  readonly timeScale: number
}

/** A delay with its randomness: `baseMs` plus up to `spreadMs` at random. */
export interface DelayStep {
  readonly baseMs: number
  readonly spreadMs: number
}
