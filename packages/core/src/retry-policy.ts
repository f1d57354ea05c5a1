import { isEventGridNotation } from './schemas.ts'

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
  /** Whose table of minimum waits. */
  readonly endpoint: EndpointKind
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
  /** `webhook` when absent. */
  readonly endpoint?: EndpointKind | undefined
  /** What the subscription is written in: `event-grid` leaves 410 out of `neverOn`. */
  readonly notation?: string | undefined
}

/** Whose table of statuses applies (rows A4, A19): that of webhooks, or that of Azure's own resources. */
export const endpointKinds = ['webhook', 'azure'] as const
export type EndpointKind = (typeof endpointKinds)[number]

/** What Event Grid's notations fall to where they say nothing, as the engine was told (rows A11 and C4). Unscaled ms. */
export interface EventGridDefaults {
  /** `BARNABAS_EVENT_GRID_MAX_ATTEMPTS`, 1 to 30. */
  readonly maxAttempts: number
  /** `BARNABAS_EVENT_GRID_TIME_TO_LIVE`, a minute to a day. */
  readonly timeToLiveMs: number
  /** `BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS`, 1 to 5000: of batches that name their size alone (row A11). */
  readonly batchMaxEvents: number
  /** `BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE`: of batches that name their count alone; null for the notation's own. */
  readonly batchPreferredBytes: number | null
}

export const retryPresets = ['event-grid', 'event-grid-kubernetes', 'backoff', 'exponential-decay'] as const
export type RetryPreset = (typeof retryPresets)[number]

const second = 1_000
const minute = 60 * second
const day = 1_440 * minute

interface Preset {
  readonly delays: readonly DelayStep[]
  readonly repeatLast: boolean
  readonly maxAttempts: number
  readonly timeToLiveMs: number | null
  /** Whether the endpoint's table says what is never retried; else every status is. */
  readonly hasExemptStatuses: boolean
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
    hasExemptStatuses: true,
    minimumWaits: true,
  },
  // Row C3: the 1-minute queue, then the 10-minute queue again and again; C2 names no exempt statuses.
  'event-grid-kubernetes': {
    delays: [minute, 10 * minute].map(exactly),
    repeatLast: true,
    maxAttempts: 30,
    timeToLiveMs: day,
    hasExemptStatuses: false,
    minimumWaits: false,
  },
  // Row B1: three retries, each after a random 10–20 s.
  backoff: {
    delays: Array.from({ length: 3 }, () => ({ baseMs: 10 * second, spreadMs: 10 * second })),
    repeatLast: false,
    maxAttempts: 4,
    timeToLiveMs: null,
    hasExemptStatuses: false,
    minimumWaits: false,
  },
  // Row B2: 1, 2, 4 … 256 s, then 167 × 512 s, within a day.
  'exponential-decay': {
    delays: Array.from({ length: 176 }, (_, index) => exactly(Math.min(2 ** index, 512) * second)),
    repeatLast: false,
    maxAttempts: 177,
    timeToLiveMs: day,
    hasExemptStatuses: false,
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
  const endpoint = spec.endpoint ?? 'webhook'
  return {
    schedule: typeof spec.schedule === 'string' ? spec.schedule : 'list',
    delays: preset.delays.map(({ baseMs, spreadMs }) => ({
      baseMs: Math.round(baseMs * timeScale),
      spreadMs: Math.round(spreadMs * timeScale),
    })),
    repeatLast: preset.repeatLast,
    maxAttempts: spec.maxAttempts ?? preset.maxAttempts,
    timeToLiveMs: timeToLiveMs === null ? null : Math.round(timeToLiveMs * timeScale),
    neverOn: new Set(spec.neverOn ?? (preset.hasExemptStatuses ? exemptStatuses(endpoint, spec.notation) : [])),
    minimumWaits: preset.minimumWaits,
    endpoint,
    timeScale,
  }
}

/** Rows A4 and A13; 410 says that the endpoint is gone, which Event Grid's own tables do not name. */
function exemptStatuses(endpoint: EndpointKind, notation: string | undefined): readonly number[] {
  const exempt = endpoint === 'azure' ? [400, 403, 413] : [400, 401, 403, 413]
  return isEventGridNotation(notation) ? exempt : [...exempt, 410].toSorted((one, other) => one - other)
}

/** What is written in Event Grid's notation, and on one of its schedules, falls to the engine's limits, not to the schedule's. */
export function withEventGridDefaults(
  spec: RetrySpec,
  defaults: Pick<EventGridDefaults, 'maxAttempts' | 'timeToLiveMs'>,
): RetrySpec {
  const isItsSchedule = spec.schedule === 'event-grid' || spec.schedule === 'event-grid-kubernetes'
  if (!isItsSchedule || !isEventGridNotation(spec.notation)) return spec
  const { maxAttempts, timeToLiveMs } = spec
  return {
    ...spec,
    maxAttempts: maxAttempts ?? defaults.maxAttempts,
    timeToLiveMs: timeToLiveMs ?? defaults.timeToLiveMs,
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
    hasExemptStatuses: true,
    minimumWaits: false,
  }
}

function exactly(baseMs: number): DelayStep {
  return { baseMs, spreadMs: 0 }
}
