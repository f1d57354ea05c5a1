import * as z from 'zod'
import type { DeliveryState } from './delivery-state.ts'
import { rfc3339 } from './delivery-headers.ts'
import { outcomes } from './outcome.ts'
import { progressKey, progressPosition } from './progress-key.ts'
import type { DeadLetterReason } from './verdict.ts'
import { deadLetterReasons } from './verdict.ts'
import { jsonOf } from './json-text.ts'

/**
 * An event that stays where it is: it waits for its next attempt in place, or its subscription is blocked at it (row
 * B5). Stands in `barnabas.progress` under its position, so that whoever reads its partition next goes on counting.
 * Times are ms since the epoch.
 */
export interface InPlaceEvent {
  /** Without hops: it is in no tier. */
  readonly state: DeliveryState
  readonly eventId: string | null
  readonly standing: InPlaceStanding
  /** When this was written. */
  readonly at: number
}

export type InPlaceStanding =
  | { readonly kind: 'waiting'; readonly dueAt: number }
  | { readonly kind: 'blocked'; readonly reason: DeadLetterReason; readonly since: number }

/** A record in `barnabas.progress` is not larger; what is, is nobody's. */
const valueBytesMax = 8_192

const time = z
  .string()
  .max(40)
  .transform((text) => Date.parse(text))
  .refine((ms) => Number.isSafeInteger(ms))
const timeOrNull = time.nullable()

const valueSchema = z.object({
  kind: z.enum(['in-place', 'blocked']),
  eventId: z.string().nullable(),
  attempts: z.int().nonnegative(),
  publishTime: time,
  firstAttemptTime: timeOrNull,
  lastAttemptTime: timeOrNull,
  expiryTime: timeOrNull,
  lastOutcome: z.enum(outcomes).nullable(),
  lastStatus: z.int().nullable(),
  lastError: z.string().nullable(),
  skips: z.int().nonnegative(),
  redrives: z.int().nonnegative(),
  dueTime: time.optional(),
  reason: z.enum(deadLetterReasons).optional(),
  since: time.optional(),
  at: time,
})

/** The record's key and value, as they are written to `barnabas.progress`. */
export function inPlaceRecord(event: InPlaceEvent): { readonly key: Buffer; readonly value: Buffer } {
  const { state, eventId, standing, at } = event
  const value = {
    kind: standing.kind === 'waiting' ? 'in-place' : 'blocked',
    eventId: eventId?.slice(0, 1_024) ?? null,
    attempts: state.attempts,
    publishTime: rfc3339(state.publishTime),
    firstAttemptTime: timeText(state.firstAttemptTime),
    lastAttemptTime: timeText(state.lastAttemptTime),
    expiryTime: timeText(state.expiryTime),
    lastOutcome: state.lastOutcome,
    lastStatus: state.lastStatus,
    lastError: state.lastError,
    skips: state.skips,
    redrives: state.redrives,
    ...(standing.kind === 'waiting'
      ? { dueTime: rfc3339(standing.dueAt) }
      : { reason: standing.reason, since: rfc3339(standing.since) }),
    at: rfc3339(at),
  }
  return { key: Buffer.from(progressKey(state)), value: Buffer.from(JSON.stringify(value)) }
}

/** What stands in a record of `barnabas.progress`; null where it is no such event, whatever was written there. */
export function parseInPlaceEvent(key: string, value: Buffer): InPlaceEvent | null {
  const position = progressPosition(key)
  if (position === null || value.length > valueBytesMax) return null
  const parsed = valueSchema.safeParse(jsonOf(value)).data
  if (parsed === undefined) return null
  const { kind, eventId, at, dueTime, reason, since, ...facts } = parsed
  const standing = standingOf(kind, dueTime, reason, since)
  return standing === null ? null : { state: { ...position, ...facts, hops: 0 }, eventId, standing, at }
}

function standingOf(
  kind: 'in-place' | 'blocked',
  dueAt: number | undefined,
  reason: DeadLetterReason | undefined,
  since: number | undefined,
): InPlaceStanding | null {
  if (kind === 'in-place') return dueAt === undefined ? null : { kind: 'waiting', dueAt }
  return reason === undefined || since === undefined ? null : { kind: 'blocked', reason, since }
}

/** Whether something that is no in-place event claims to be one: it was damaged, and its event begins at attempt 1. */
export function claimsToBeInPlace(value: Buffer): boolean {
  const json = jsonOf(value)
  const kind = typeof json === 'object' && json !== null && 'kind' in json ? json.kind : undefined
  return kind !== 'late-success'
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms)
}
