import type { Outcome } from './outcome.ts'

/** When a failing endpoint is left to rest, and for how long (rows A12 and A17). Durations in (scaled) ms. */
export interface ProbationPolicy {
  /** It begins after this many failures of different events in a row. */
  readonly after: number
  /** A probe that fails lengthens it to the next of these; the last one repeats. Ascending. */
  readonly stepsMs: readonly number[]
  /** Its first length by the last outcome; for one that is not named the first of the steps. */
  readonly lengthsMs: Readonly<Partial<Record<Outcome, number>>>
  /** Outcomes that no waiting mends: a due retry that meets a probation of theirs is given up without an attempt. */
  readonly clientErrors: ReadonlySet<Outcome>
}

/** A policy as it was written: what is absent is the default. Durations unscaled, in ms. */
export interface ProbationSpec {
  readonly after?: number | undefined
  readonly stepsMs?: readonly number[] | undefined
  /** Added to the default table, outcome by outcome. */
  readonly lengthsMs?: Readonly<Partial<Record<Outcome, number>>> | undefined
  readonly clientErrors?: readonly Outcome[] | undefined
}

/** What a probation may be caused by: what an attempt can come to and counts as a failure. */
export const probationCauses = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'PayloadTooLarge',
  'NotFound',
  'TimedOut',
  'Busy',
  'GenericError',
  'ResolutionError',
  'SocketError',
] as const satisfies readonly Outcome[]

export const probationAfterMax = 1_000
export const probationStepsMax = 20
export const probationLengthMinMs = 100
export const probationLengthMaxMs = 86_400_000

const second = 1_000
const minute = 60 * second

export const probationDefaults = {
  after: 10,
  stepsMs: [10 * second, minute, 5 * minute, 15 * minute, 60 * minute, 180 * minute],
  // Row A17, of the outcomes that a webhook can have.
  lengthsMs: {
    Busy: 10 * second,
    NotFound: 5 * minute,
    SocketError: 30 * second,
    ResolutionError: 5 * minute,
    TimedOut: 10 * second,
    Unauthorized: 5 * minute,
    Forbidden: 5 * minute,
  },
  clientErrors: ['Unauthorized', 'Forbidden', 'BadRequest', 'PayloadTooLarge'],
} as const satisfies Required<ProbationSpec>

/** The policy that a written one stands for. `timeScale` multiplies every duration. */
export function probationPolicyOf(spec: ProbationSpec, timeScale: number): ProbationPolicy {
  const scaled = (durationMs: number) => Math.max(1, Math.round(durationMs * timeScale))
  const lengths = Object.entries({ ...probationDefaults.lengthsMs, ...spec.lengthsMs })
  return {
    after: spec.after ?? probationDefaults.after,
    stepsMs: (spec.stepsMs ?? probationDefaults.stepsMs).map(scaled),
    lengthsMs: Object.fromEntries(lengths.map(([outcome, lengthMs]) => [outcome, scaled(lengthMs)])),
    clientErrors: new Set(spec.clientErrors ?? probationDefaults.clientErrors),
  }
}
