import * as z from 'zod'
import { oneLine } from './one-line.ts'

/** When something was said: all of them in one form, so that the order of the texts is that of the times. */
export const saidAtSchema = z.iso.datetime({ precision: 3 })

/** By which `pause` a subscription rests: when it was said, RFC 3339 in UTC with milliseconds, and by whom. */
export interface Pause {
  readonly at: string
  readonly by: string
}

/** What was last said of a life of a subscription, by `start` and `pause`. */
export interface PauseFacts {
  /** Null while it is not paused. */
  readonly paused: Pause | null
  /** `at` of the last `start`, null for none. */
  readonly started: string | null
}

/** The facts of a life of which nobody has said anything. */
export const nothingSaid: PauseFacts = { paused: null, started: null }

/** What holds where two know something, in whatever order they heard it: of everything that was said the latest counts. */
export function mergedFacts(one: PauseFacts, other: PauseFacts): PauseFacts {
  const started = (one.started ?? '') >= (other.started ?? '') ? one.started : other.started
  const [former, latter] = [one.paused, other.paused]
  const latest = (former?.at ?? '') >= (latter?.at ?? '') ? former : latter
  return { paused: latest !== null && latest.at > (started ?? '') ? latest : null, started }
}

/** Of one that was created paused (`apply --paused`): it is from its first moment, until somebody says `start`. */
export function createdFacts(generation: number, createdPausedBy: string | undefined): PauseFacts {
  if (createdPausedBy === undefined) return nothingSaid
  return { paused: { at: timeOf(generation), by: createdPausedBy }, started: null }
}

/** What is known of a life, be it that it was created paused or that its status tells more. */
export function factsOfLife(
  generation: number,
  createdPausedBy: string | undefined,
  status: (PauseFacts & { readonly generation: number }) | null,
): PauseFacts {
  const created = createdFacts(generation, createdPausedBy)
  return status?.generation === generation ? mergedFacts(status, created) : created
}

/**
 * When to say the next command of a subscription, RFC 3339: after its creation and after all that it has heard, whatever
 * clock is wrong. `now` in ms since the epoch.
 */
export function sayAt(now: number, generation: number, known: PauseFacts): string {
  const heard = [known.paused?.at, known.started]
    .map((time) => Date.parse(time ?? ''))
    .filter((ms) => !Number.isNaN(ms))
  return timeOf(Math.max(now, generation + 1, ...heard.map((ms) => ms + 1)))
}

/** For a person: why it is `Paused`, and what else keeps it from running. */
export function pausedText({ by }: Pause, problem: string | null): string {
  const paused = `paused by ${oneLine(by)}`
  return problem === null ? paused : `${paused}; once started: ${problem}`
}

/** The last moment that four digits of a year can tell. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function timeOf(ms: number): string {
  return new Date(Math.min(ms, lastMs)).toISOString()
}
