import { fnv1a } from './fnv1a.ts'
import type { SourcePosition } from './delivery-state.ts'
import type { AttemptResult, Outcome } from './outcome.ts'
import type { ProbationPolicy } from './probation-policy.ts'

/**
 * Whether a subscription's endpoint is left to rest (rows A8, A12, A17), as a function of what every process says of it.
 *
 *     open ── `after` different events failed in a row ──► on probation until `until`
 *       ▲                                                        │
 *       │                                             then one trial per process
 *       │                                                        │
 *       ├── one succeeds, anywhere ◄─────────────────────────────┤
 *       └── ended by hand ◄──────────────────────────────────────┤
 *                                          one fails: longer, by the next step
 *
 * Each process writes only its own `Health`. The state follows from all of them together, in whatever order they are
 * heard: of the probations that stand the one that ends last is in force, and none stands that began before the latest
 * success anywhere. So two processes that see different things can disagree only for as long as a record takes. Times are
 * ms since the epoch, of the process that wrote them.
 */
export interface Health {
  /** The failures in a row that this process has seen and that led to no probation yet; null after a success. */
  readonly failing: {
    /** When the first of these attempts began. */
    readonly since: number
    /** Which events failed (`eventMark`), each once however often it failed; no more than the policy asks for. */
    readonly events: readonly string[]
  } | null
  /** When the latest success of this process was known, null for none worth telling. */
  readonly lastSuccess: number | null
  /** When somebody last ended a probation by hand. */
  readonly ended: number | null
  /** The newest probation that this process has begun or lengthened. */
  readonly probation: Probation | null
}

export interface Probation {
  /** The outcome that began it, or that lengthened it. */
  readonly cause: Outcome
  /** When the failures that led to it began: a success after that ends it. */
  readonly failingSince: number
  readonly since: number
  /** No attempt before this moment; the first ones after it are trials. */
  readonly until: number
  readonly lengthMs: number
}

export const healthy: Health = { failing: null, lastSuccess: null, ended: null, probation: null }

/** An attempt that failed. */
export interface Failure {
  readonly event: string
  readonly outcome: Outcome
  readonly startedAt: number
  readonly endedAt: number
}

/** What another process says takes up to a second to be written, and a moment to be heard. */
export const settleMs = 3_000
/** Who succeeded so shortly before may have succeeded since. */
const recentMs = 10_000

/** Whether an attempt says something about the endpoint: one that we cut off ourselves does not. */
export function isFailure({ outcome }: Pick<AttemptResult, 'outcome'>): boolean {
  return outcome !== 'Delivered' && outcome !== 'Canceled' && outcome !== 'Probation'
}

/** A short mark that tells an event from others, for attempts and processes alike. */
export function eventMark({ topic, partition, offset }: SourcePosition): string {
  return fnv1a(`${topic}/${partition}/${offset}`).toString(36)
}

/** The probation in force, null for none. After its `until` it is still there, until a trial says how it goes on. */
export function probationOf(all: readonly Health[]): Probation | null {
  const cleared = clearedAt(all)
  return all.reduce<Probation | null>((chosen, { probation }) => {
    if (probation === null || probation.failingSince <= cleared) return chosen
    return chosen === null || endsLater(probation, chosen) ? probation : chosen
  }, null)
}

/** The latest success or end by hand anywhere: what failed before counts no more. */
function clearedAt(all: readonly Health[]): number {
  return Math.max(
    -Infinity,
    ...all.map(({ lastSuccess, ended }) => Math.max(lastSuccess ?? -Infinity, ended ?? -Infinity)),
  )
}

/** A total order, so that everybody chooses the same. */
function endsLater(one: Probation, other: Probation): boolean {
  if (one.until !== other.until) return one.until > other.until
  if (one.lengthMs !== other.lengthMs) return one.lengthMs > other.lengthMs
  return one.since === other.since ? one.cause > other.cause : one.since < other.since
}

/** What a process says of itself after one of its attempts failed; `others` as far as it has heard them. */
export function afterFailure(
  own: Health,
  others: readonly Health[],
  failure: Failure,
  policy: ProbationPolicy,
): Health {
  const { outcome, startedAt, endedAt } = failure
  const all = [own, ...others]
  const cleared = clearedAt(all)
  // It says nothing of what came after the success.
  if (startedAt <= cleared) return own

  const present = probationOf(all)
  if (present !== null) {
    // It was under way when the rest began: no trial.
    if (startedAt < present.until) return own
    const lengthMs = lengthAfter(present, outcome, policy)
    return { ...own, probation: { ...present, cause: outcome, until: endedAt + lengthMs, lengthMs } }
  }

  const failing = withEvent(own.failing !== null && own.failing.since > cleared ? own.failing : null, failure, policy)
  const counted = [failing, ...others.flatMap((other) => other.failing ?? [])].filter(({ since }) => since > cleared)
  const failingSince = Math.min(...counted.map(({ since }) => since))
  const events = new Set(counted.flatMap((each) => each.events))
  if (events.size < policy.after || mayHaveSucceeded(others, failingSince, endedAt)) return { ...own, failing }
  const lengthMs = firstLength(outcome, policy)
  return {
    ...own,
    failing: null,
    probation: { cause: outcome, failingSince, since: endedAt, until: endedAt + lengthMs, lengthMs },
  }
}

/** What a process says of itself after one of its attempts succeeded at `endedAt`. */
export function afterSuccess(own: Health, endedAt: number): Health {
  return { ...own, failing: null, probation: null, lastSuccess: Math.max(endedAt, own.lastSuccess ?? -Infinity) }
}

/** What a process says of itself after somebody ended the probation at `at`. */
export function afterEndByHand(own: Health, at: number): Health {
  return { ...own, failing: null, probation: null, ended: Math.max(at, own.ended ?? -Infinity) }
}

/** What one process says that takes over from another which is gone. */
export function takenOver(own: Health, gone: Health): Health {
  const latest = (one: number | null, other: number | null) =>
    one === null || other === null ? (one ?? other) : Math.max(one, other)
  return {
    failing: own.failing,
    lastSuccess: latest(own.lastSuccess, gone.lastSuccess),
    ended: latest(own.ended, gone.ended),
    probation: probationOf([own, gone]),
  }
}

/**
 * How many attempts a process may have in flight after a probation: one trial, then twice as many with every success,
 * until nothing is left to be limited (null).
 */
export function trialWindow(successes: number, concurrency: number): number | null {
  const size = 2 ** successes
  return size < concurrency ? size : null
}

function withEvent(
  failing: Health['failing'],
  { event, startedAt }: Failure,
  { after }: ProbationPolicy,
): NonNullable<Health['failing']> {
  if (failing === null) return { since: startedAt, events: [event] }
  const since = Math.min(failing.since, startedAt)
  const isKnown = failing.events.includes(event) || failing.events.length >= after
  return { since, events: isKnown ? failing.events : [...failing.events, event] }
}

/**
 * Whether another process, which succeeded shortly before, may have succeeded since and not been heard yet: then nothing
 * begins before it must have been. Without it a process whose own way to the endpoint is broken would stop all others
 * again and again.
 */
function mayHaveSucceeded(others: readonly Health[], failingSince: number, now: number): boolean {
  const latest = Math.max(-Infinity, ...others.map(({ lastSuccess }) => lastSuccess ?? -Infinity))
  return latest > failingSince - recentMs && now < failingSince + settleMs
}

function firstLength(outcome: Outcome, { lengthsMs, stepsMs }: ProbationPolicy): number {
  return lengthsMs[outcome] ?? stepsMs[0] ?? 0
}

/** The next step above the present length, and at least what the outcome of the trial would begin with. */
function lengthAfter({ lengthMs }: Probation, outcome: Outcome, policy: ProbationPolicy): number {
  const next = policy.stepsMs.find((stepMs) => stepMs > lengthMs) ?? Math.max(lengthMs, policy.stepsMs.at(-1) ?? 0)
  return Math.max(next, firstLength(outcome, policy))
}
