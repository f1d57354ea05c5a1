import {
  maxEventsDefault,
  maxEventsLimit,
  preferredBytesDefault,
  preferredBytesDefaultOnKubernetes,
  preferredBytesMax,
  preferredBytesMin,
  windowMsMax,
} from './batch.ts'
import type { BatchLimits } from './batch.ts'
import { formatDuration, parseDuration } from './duration.ts'
import type { EventGridDefaults } from './retry-policy.ts'
import { isEventGridNotation } from './schemas.ts'
import type { Notation } from './schemas.ts'
import { parseSize } from './size.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, mapping, problemAt, readNumber, shown } from './subscription-field.ts'

/** `batch` as a person writes it. */
export const batchSchema = mapping({
  maxEvents: field((value, report) => readNumber(value, report, 1, maxEventsLimit)).optional(),
  preferredSize: field(readPreferredSize).optional(),
  window: field(readWindow).optional(),
})

export interface WrittenBatch {
  readonly maxEvents?: number | undefined
  readonly preferredSize?: string | undefined
  readonly window?: string | undefined
}

export type BatchDefaults = Pick<EventGridDefaults, 'batchMaxEvents' | 'batchPreferredBytes'>

/**
 * What `batch` means: off without any field, and with one of them the others have their defaults, in Event Grid's
 * notations those of the engine (rows A11 and C1); nobody waits without a window. `timeScale` multiplies the window.
 */
export function batchOf(
  written: WrittenBatch = {},
  notation: Notation = 'barnabas',
  ofEngine: BatchDefaults | null = null,
  timeScale = 1,
): BatchLimits {
  const { maxEvents, preferredSize } = written
  const windowMs = (parseDuration(written.window) ?? 0) * timeScale
  const isOff = preferredSize === undefined && windowMs === 0
  const engine = isEventGridNotation(notation) ? ofEngine : null
  const own = notation === 'event-grid-kubernetes' ? preferredBytesDefaultOnKubernetes : preferredBytesDefault
  return {
    maxEvents: maxEvents ?? (isOff ? 1 : (engine?.batchMaxEvents ?? maxEventsDefault)),
    preferredBytes: parseSize(preferredSize) ?? engine?.batchPreferredBytes ?? own,
    ...(windowMs === 0 ? {} : { windowMs }),
  }
}

/** Events of one request arrive all or none, in whatever order their receiver likes. */
export function problemsOfOrder({
  order = 'none',
  batch,
}: {
  readonly order?: string | undefined
  readonly batch?: WrittenBatch | undefined
}): SubscriptionProblem[] {
  if (order === 'none' || batchOf(batch).maxEvents === 1) return []
  return [
    problemAt(['order'], `${order} is not possible with batches; set batch.maxEvents to 1, or leave the order out`),
  ]
}

/** CloudEvents knows no batch in binary mode: several travel in another format than one alone. */
export function batchWarnings({
  batch,
  mode = 'binary',
}: {
  readonly batch?: WrittenBatch | undefined
  readonly mode?: string | undefined
}): string[] {
  if (mode !== 'binary' || batchOf(batch).maxEvents === 1) return []
  return [
    'batch: several events travel as application/cloudevents-batch+json, for there is no batch in binary mode; ' +
      'one alone still travels in binary mode, or as application/cloudevents+json with mode: structured',
  ]
}

function readWindow(value: unknown, report: Report): string | undefined {
  const ms = parseDuration(value)
  if (ms !== null && ms <= windowMsMax) return value as string
  return report(`${shown(value)} is not a duration from 0s to ${formatDuration(windowMsMax)}, such as 5s`)
}

function readPreferredSize(value: unknown, report: Report): string | undefined {
  const bytes = parseSize(value)
  if (bytes !== null && bytes >= preferredBytesMin && bytes <= preferredBytesMax) return value as string
  const range = `from 1KB to ${preferredBytesMax / 1_024}KB`
  return report(`${shown(value)} is not a size ${range}, such as 64KB`)
}
