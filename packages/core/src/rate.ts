import type { Report } from './subscription-field.ts'
import { shown } from './subscription-field.ts'

/** How many requests may be made, as a bucket of tokens that fills steadily; a request takes one. */
export interface Rate {
  readonly tokensPerMs: number
  /** What it holds at most, at least one: what may be made up for after a pause. */
  readonly tokensMax: number
}

export const unitsMs = { s: 1_000, min: 60_000 } as const
const requestsMax = 1_000_000

/** So much of it may be made up for: a late timer costs nothing, and a receiver that was idle meets no burst. */
const burstMs = 100
const writtenRate = /^([1-9]\d{0,6})\/(s|min)$/

interface WrittenRate {
  readonly requests: number
  readonly unitMs: number
}

/** `100/s` or `120/min`, 1 to 1,000,000 of either; null for anything else. */
function parseRate(value: unknown): WrittenRate | null {
  const [, digits, unit] = (typeof value === 'string' ? writtenRate.exec(value) : null) ?? []
  const requests = Number(digits)
  return unit === undefined || requests > requestsMax
    ? null
    : { requests, unitMs: unitsMs[unit as keyof typeof unitsMs] }
}

/** Reads the field `rate`. */
export function readRate(value: unknown, report: Report): string | undefined {
  if (value === 'none' || parseRate(value) !== null) return value as string
  return report(
    `${shown(value)} is not a rate; a whole number from 1 to ${requestsMax} per second or minute, such as 100/s or 120/min, or none`,
  )
}

/** Of a written rate; `timeScale` multiplies its second or minute. Null for none. */
export function rateOf(written: string | undefined, timeScale: number): Rate | null {
  const parsed = parseRate(written)
  return parsed === null ? null : rateFrom(parsed, timeScale)
}

/** Of so many requests per unit of time. */
export function rateFrom({ requests, unitMs }: WrittenRate, timeScale: number): Rate {
  return { tokensPerMs: requests / (unitMs * timeScale), tokensMax: 1 + (requests * burstMs) / unitMs }
}

/** As `WebHook-Request-Rate` says it (CloudEvents, HTTP 1.1 Web Hooks 1.0.2, 4.1.3): requests per minute. */
export function requestsPerMinute({ tokensPerMs }: Rate, timeScale: number): number {
  return Math.max(1, Math.round(tokensPerMs * timeScale * unitsMs.min))
}

/** A process's part of a rate, `share` in [0, 1]. It may hold one token in any case, and gets it the later. */
export function shareOfRate({ tokensPerMs, tokensMax }: Rate, share: number): Rate {
  return { tokensPerMs: tokensPerMs * share, tokensMax: 1 + (tokensMax - 1) * share }
}

/** Of the partitions that there are, those that a process reads. */
export interface OwnedPartitions {
  readonly own: number
  readonly all: number
}

/** What the held topic gets of a rate, once there is one. */
export const heldShare = 0.2

/**
 * Which part of a subscription's rate a process may use, in [0, 1]: by the partitions of the source topics that it
 * reads, and, once its due retries are held, a fifth by those of the held topic. Over all processes it comes to 1,
 * whoever reads what. Null: it does not read them.
 */
export function shareOf({
  source,
  held,
}: {
  readonly source: OwnedPartitions | null
  readonly held: OwnedPartitions | null
}): number {
  const ofSource = fraction(source)
  return held === null ? ofSource : (1 - heldShare) * ofSource + heldShare * fraction(held)
}

function fraction(owned: OwnedPartitions | null): number {
  return owned === null || owned.all === 0 ? 0 : Math.min(1, owned.own / owned.all)
}

/** What is in a bucket, and when it was looked at, in ms of any clock. */
export interface TokenBucket {
  readonly tokens: number
  readonly at: number
}

/** As it is when nothing was sent yet: one request may be made at once. */
export function newBucket(now: number): TokenBucket {
  return { tokens: 1, at: now }
}

/** What is in it by now. A clock that was put back takes nothing away and adds nothing. */
export function refilled({ tokens, at }: TokenBucket, { tokensPerMs, tokensMax }: Rate, now: number): TokenBucket {
  const added = Math.max(0, now - at) * tokensPerMs
  return { tokens: Math.min(tokensMax, tokens + added), at: now }
}

/** After one request; null when there is none to be made yet. */
export function withoutToken({ tokens, at }: TokenBucket): TokenBucket | null {
  return tokens >= wholeToken ? { tokens: tokens - 1, at } : null
}

/** In how many ms there is a token; `Infinity` where none is ever added. */
export function untilTokenMs({ tokens }: TokenBucket, { tokensPerMs }: Rate): number {
  return tokens >= wholeToken ? 0 : (1 - tokens) / tokensPerMs
}

/** Sums of fractions fall short of one by their rounding. */
const wholeToken = 1 - 1e-9
