import { formatDuration, parseDuration } from './duration.ts'
import { didYouMean } from './nearest-name.ts'
import type { RetryLimits, RetrySpec } from './retry-policy.ts'
import { retryLimitsOf, retryPresets } from './retry-policy.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { problemAt, shown } from './subscription-field.ts'

export const delaysMax = 500
const delayMaxMs = 86_400_000
/** A repeated delay has no end of its own: below this a dead receiver would be hammered. */
const repeatedDelayMinMs = 100

/** `retry` as a person wrote it, each field read. */
export interface WrittenRetry {
  readonly schedule?: string | readonly string[] | undefined
  readonly maxAttempts?: number | undefined
  readonly timeToLive?: string | undefined
  readonly neverOn?: readonly number[] | undefined
}

/** Reads `retry.schedule`: a preset's name, or a list of delays whose last entry may be `repeat`. */
export function readSchedule(value: unknown, report: Report): string | readonly string[] | undefined {
  if (Array.isArray(value)) return readDelays(value, report)
  if (typeof value === 'string' && retryPresets.some((preset) => preset === value)) return value
  return report(
    `${shown(value)} is not a schedule; one of ${retryPresets.join(', ')}, or a list such as [1s, 10s, 5m]` +
      didYouMean(value, retryPresets),
  )
}

function readDelays(list: readonly unknown[], report: Report): readonly string[] | undefined {
  if (list.length === 0) return report('is empty; for no retries at all set maxAttempts: 1')
  if (list.length > delaysMax) return report(`has ${list.length} delays, more than ${delaysMax}`)
  let good = true
  for (const [index, entry] of list.entries()) {
    if (entry === 'repeat') {
      if (index > 0 && index === list.length - 1) continue
      report('repeat may only stand last, behind the delay that it repeats', index)
      good = false
      continue
    }
    const delayMs = parseDuration(entry)
    if (delayMs !== null && delayMs <= delayMaxMs) continue
    report(`${shown(entry)} is not a delay from 0s to ${formatDuration(delayMaxMs)} such as 500ms, 30s, 5m`, index)
    good = false
  }
  return good ? (list as readonly string[]) : undefined
}

/** Reads `retry.neverOn`: HTTP statuses of failures. */
export function readNeverOn(value: unknown, report: Report): readonly number[] | undefined {
  if (!Array.isArray(value)) return report(`${shown(value)} is not a list; write [400, 413], or [] for none`)
  if (value.length > 500) return report(`has ${value.length} statuses, more than 500`)
  let good = true
  for (const [index, status] of value.entries()) {
    if (!Number.isInteger(status) || status < 100 || status > 599) {
      report(`${shown(status)} is not an HTTP status from 100 to 599`, index)
      good = false
    } else if (status >= 200 && status <= 204) {
      report(`${status} is a success; only failures can be exempt from retries`, index)
      good = false
    }
  }
  return good ? (value as readonly number[]) : undefined
}

/** What `retry` means, and what in it would lengthen its schedule or leave it without an end. */
export function retrySpecOf(written: WrittenRetry): {
  readonly spec: RetrySpec
  readonly problems: readonly SubscriptionProblem[]
} {
  const schedule = scheduleOf(written.schedule ?? 'event-grid')
  const timeToLiveMs = written.timeToLive === undefined ? undefined : (parseDuration(written.timeToLive) ?? undefined)
  const spec = { schedule, maxAttempts: written.maxAttempts, timeToLiveMs, neverOn: written.neverOn }
  return { spec, problems: retryProblems(spec, retryLimitsOf(schedule)) }
}

function retryProblems({ schedule, maxAttempts, timeToLiveMs }: RetrySpec, limits: RetryLimits): SubscriptionProblem[] {
  const problems: SubscriptionProblem[] = []
  const name = typeof schedule === 'string' ? schedule : `a list of ${schedule.delaysMs.length} delays`
  if (maxAttempts !== undefined && maxAttempts > limits.maxAttempts) {
    const message = `${maxAttempts} is more than ${name} makes; from 1 to ${limits.maxAttempts}`
    problems.push(problemAt(['retry', 'maxAttempts'], message))
  }
  const { timeToLiveMinMs, timeToLiveMaxMs } = limits
  if (timeToLiveMs !== undefined && (timeToLiveMs < timeToLiveMinMs || timeToLiveMs > timeToLiveMaxMs)) {
    const range = `from ${formatDuration(timeToLiveMinMs)} to ${formatDuration(timeToLiveMaxMs)}`
    const message = `${formatDuration(timeToLiveMs)} is not possible with ${name}; ${range}`
    problems.push(problemAt(['retry', 'timeToLive'], message))
  }
  if (typeof schedule !== 'string' && schedule.repeatLast) {
    if (maxAttempts === undefined && timeToLiveMs === undefined) {
      const message = 'repeat has no end of its own; set maxAttempts or timeToLive'
      problems.push(problemAt(['retry', 'schedule'], message))
    }
    if (schedule.delaysMs.at(-1)! < repeatedDelayMinMs) {
      const message = `a repeated delay must be at least ${formatDuration(repeatedDelayMinMs)}`
      problems.push(problemAt(['retry', 'schedule', schedule.delaysMs.length - 1], message))
    }
  }
  return problems
}

function scheduleOf(written: string | readonly string[]): RetrySpec['schedule'] {
  if (typeof written === 'string') return retryPresets.find((preset) => preset === written) ?? 'event-grid'
  const delaysMs = written.filter((entry) => entry !== 'repeat').map((entry) => parseDuration(entry) ?? 0)
  return { delaysMs, repeatLast: written.at(-1) === 'repeat' }
}
