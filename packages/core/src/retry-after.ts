import type { AttemptResult } from './outcome.ts'
import type { Verdict } from './verdict.ts'

/** How long a receiver may ask to be left alone where no time to live ends the wait. */
const askedWithoutTimeToLiveMsMax = 86_400_000
/** 1,000 years: beyond every limit, and a number that can still be reckoned with. */
const secondsMax = 31_536_000_000

/** RFC 9110, 5.6.7: the one form that is to be written, and two that must still be read. */
const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
] as const

/**
 * The moment that a `Retry-After` header names (RFC 9110, 10.2.3), in ms since the epoch: whole seconds after `now`, or
 * a date. Null for anything else, which is as good as no header. The moment may be past, and as far off as anybody
 * likes to write.
 */
export function parseRetryAfter(value: string, now: number): number | null {
  const text = value.trim()
  if (/^\d{1,1000}$/.test(text)) return now + Math.min(Number(text), secondsMax) * 1_000
  if (!httpDates.some((form) => form.test(text))) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : at
}

/**
 * A retry waits until the later of what its schedule and what the receiver says (`Retry-After` on 429 and 503), but no
 * longer than its time to live, at whose end it becomes a dead letter; without one, no longer than a day. A receiver
 * means its own time: no scale for tests applies.
 */
export function obeyingRetryAfter(
  verdict: Verdict,
  { retryAfter, endedAt }: Pick<AttemptResult, 'retryAfter' | 'endedAt'>,
  expiryTime: number | null,
): Verdict {
  if (retryAfter === undefined || (verdict.kind !== 'retry' && verdict.kind !== 'retry-in-place')) return verdict
  const asked = Math.min(retryAfter, expiryTime ?? endedAt + askedWithoutTimeToLiveMsMax)
  return asked > verdict.dueAt ? { ...verdict, dueAt: Math.ceil(asked) } : verdict
}
