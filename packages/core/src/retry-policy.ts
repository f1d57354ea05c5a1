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

/** A retry policy as it was written: what is absent falls to the schedule's own value. Durations unscaled, in ms. */
export interface RetrySpec {
  readonly schedule: RetryPreset | { readonly delaysMs: readonly number[]; readonly repeatLast: boolean }
  readonly maxAttempts?: number | undefined
  readonly timeToLiveMs?: number | undefined
  readonly neverOn?: readonly number[] | undefined
}

export const retryPresets = ['event-grid', 'event-grid-kubernetes', 'backoff', 'exponential-decay'] as const
export type RetryPreset = (typeof retryPresets)[number]

const second = 1_000
const minute = 60 * second
const day = 1_440 * minute

/** Rows A4 and A13, and 410, which Event Grid's notation leaves out again. */
const neverOnWebhooks = [400, 401, 403, 410, 413]

interface Preset {
  readonly delays: readonly DelayStep[]
  readonly repeatLast: boolean
  readonly maxAttempts: number
  readonly timeToLiveMs: number | null
  readonly neverOn: readonly number[]
  readonly minimumWaits: boolean
}

const presets: Readonly<Record<RetryPreset, Preset>> = {
  // Row A6, and A8 for the small randomness: 0–10 %, at most 10 s.
  'event-grid': {
    delays: [10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200]
      .map((seconds) => seconds * second)
      .map((baseMs) => ({ baseMs, spreadMs: Math.min(baseMs / 10, 10 * second) })),
    repeatLast: true,
    maxAttempts: 30,
    timeToLiveMs: day,
    neverOn: neverOnWebhooks,
    minimumWaits: true,
  },
  // Row C3: the 1-minute queue, then the 10-minute queue again and again; C2 names no exempt statuses.
  'event-grid-kubernetes': {
    delays: [minute, 10 * minute].map(exactly),
    repeatLast: true,
    maxAttempts: 30,
    timeToLiveMs: day,
    neverOn: [],
    minimumWaits: false,
  },
  // Row B1: three retries, each after a random 10–20 s.
  backoff: {
    delays: Array.from({ length: 3 }, () => ({ baseMs: 10 * second, spreadMs: 10 * second })),
    repeatLast: false,
    maxAttempts: 4,
    timeToLiveMs: null,
    neverOn: [],
    minimumWaits: false,
  },
  // Row B2: 1, 2, 4 … 256 s, then 167 × 512 s, within a day.
  'exponential-decay': {
    delays: Array.from({ length: 176 }, (_, index) => exactly(Math.min(2 ** index, 512) * second)),
    repeatLast: false,
    maxAttempts: 177,
    timeToLiveMs: day,
    neverOn: [],
    minimumWaits: false,
  },
}

/**
 * The policy that a written one stands for. `timeScale` multiplies every duration, randomness included.
 * Limits are not checked here: `parseSubscription` refuses what would lengthen a schedule.
 */
export function retryPolicyOf(spec: RetrySpec, timeScale: number): RetryPolicy {
  const preset = typeof spec.schedule === 'string' ? presets[spec.schedule] : listPreset(spec.schedule)
  const timeToLiveMs = spec.timeToLiveMs ?? preset.timeToLiveMs
  return {
    schedule: typeof spec.schedule === 'string' ? spec.schedule : 'list',
    delays: preset.delays.map(({ baseMs, spreadMs }) => ({
      baseMs: Math.round(baseMs * timeScale),
      spreadMs: Math.round(spreadMs * timeScale),
    })),
    repeatLast: preset.repeatLast,
    maxAttempts: spec.maxAttempts ?? preset.maxAttempts,
    timeToLiveMs: timeToLiveMs === null ? null : Math.round(timeToLiveMs * timeScale),
    neverOn: new Set(spec.neverOn ?? preset.neverOn),
    minimumWaits: preset.minimumWaits,
    timeScale,
  }
}

/** What may be set on a schedule: a policy is shortened, never lengthened. Unscaled ms. */
export interface RetryLimits {
  readonly maxAttempts: number
  readonly timeToLiveMinMs: number
  readonly timeToLiveMaxMs: number
}

export function retryLimitsOf(schedule: RetrySpec['schedule']): RetryLimits {
  if (schedule === 'event-grid' || schedule === 'event-grid-kubernetes') {
    return { maxAttempts: 30, timeToLiveMinMs: minute, timeToLiveMaxMs: day } // row A9
  }
  if (schedule === 'exponential-decay') return { maxAttempts: 177, timeToLiveMinMs: second, timeToLiveMaxMs: day }
  if (schedule === 'backoff') return { maxAttempts: 4, timeToLiveMinMs: second, timeToLiveMaxMs: day }
  return {
    maxAttempts: schedule.repeatLast ? 10_000 : schedule.delaysMs.length + 1,
    timeToLiveMinMs: 100,
    timeToLiveMaxMs: 30 * day,
  }
}

function listPreset(list: { readonly delaysMs: readonly number[]; readonly repeatLast: boolean }): Preset {
  return {
    delays: list.delaysMs.map(exactly),
    repeatLast: list.repeatLast,
    maxAttempts: list.repeatLast ? Number.MAX_SAFE_INTEGER : list.delaysMs.length + 1,
    timeToLiveMs: null,
    neverOn: neverOnWebhooks,
    minimumWaits: false,
  }
}

function exactly(baseMs: number): DelayStep {
  return { baseMs, spreadMs: 0 }
}
