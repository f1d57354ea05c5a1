import type { SourcePosition } from './delivery-state.ts'
import { outcomeOfStatus } from './outcome.ts'
import { progressPosition } from './progress-key.ts'
import { jsonOf } from './json-text.ts'

/**
 * A receiver said that it has taken an event, and said so after the deadline of the attempt (row A7): the retry that is
 * queued for it need not be made. Stands in `barnabas.progress` under the event's position. Times are ms since the epoch.
 */
export interface LateSuccess {
  readonly subscriptionId: string
  readonly generation: number
  readonly source: SourcePosition
  /** One of before a redrive says nothing of what was asked for since. */
  readonly redrives: number
  /** Number of the attempt that was answered late. */
  readonly attempt: number
  readonly status: number
  readonly at: number
}

/** So long after its start an attempt may still be answered; counted in the time of `BARNABAS_TIME_SCALE`. */
export const lateAnswerWithinMs = 180_000

/** After so long nobody waits for it any more: twice the longest time to live of Event Grid. */
export const lateSuccessKeptMs = 2 * 86_400_000

export function lateSuccessValue({ redrives, attempt, status, at }: LateSuccess): Buffer {
  return Buffer.from(
    JSON.stringify({ kind: 'late-success', redrives, attempt, status, at: new Date(at).toISOString() }),
  )
}

/** What stands in a record of `barnabas.progress`; null where it is no late success, whatever was written there. */
export function parseLateSuccess(key: string, value: Buffer): LateSuccess | null {
  const position = progressPosition(key)
  if (position === null || value.length > 1_024) return null
  const { kind, redrives, attempt, status, at } = parsed(value)
  if (kind !== 'late-success' || typeof at !== 'string') return null
  const numbers = [redrives, attempt, status, Date.parse(at)]
  if (!numbers.every((number) => Number.isSafeInteger(number))) return null
  const [ofRedrives = 0, ofAttempt = 0, ofStatus = 0, ofAt = 0] = numbers as readonly number[]
  // What is no success, or of no attempt, withdraws nothing.
  if (ofRedrives < 0 || ofAttempt < 1 || outcomeOfStatus(ofStatus) !== 'Delivered') return null
  return {
    ...position,
    redrives: ofRedrives,
    attempt: ofAttempt,
    status: ofStatus,
    at: ofAt,
  }
}

function parsed(value: Buffer): Readonly<Record<string, unknown>> {
  const json = jsonOf(value)
  return typeof json === 'object' && json !== null ? { ...json } : {}
}
