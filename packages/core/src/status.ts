import * as z from 'zod'

export const subscriptionStatuses = ['Ready', 'Starting', 'Running', 'Paused', 'Start Failed'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** How many changes of a subscription's status are remembered. */
export const statusHistoryMax = 20

const statusChangeSchema = z.object({
  time: z.string(),
  from: z.enum(subscriptionStatuses).nullable(),
  to: z.enum(subscriptionStatuses),
  reason: z.string(),
})

const statusRecordSchema = z.object({
  id: z.string(),
  status: z.enum(subscriptionStatuses),
  reason: z.string(),
  since: z.string(),
  generation: z.int(),
  revision: z.int(),
  firstRunning: z.string().nullable(),
  history: z.array(statusChangeSchema),
})

/** One entry of the history; `from` is null for the first. Times are RFC 3339 in UTC with milliseconds. */
export type StatusChange = Readonly<z.output<typeof statusChangeSchema>>

/** The value of a record in the status topic. */
export interface StatusRecord {
  readonly id: string
  readonly status: SubscriptionStatus
  /** For a person: why it is in this status. */
  readonly reason: string
  /** Since when it is in this status. */
  readonly since: string
  /** Which life of the subscription, and which revision of it, the status speaks of; 0 when its record carries none. */
  readonly generation: number
  readonly revision: number
  /** When this generation was first `Running`, null if never. It outlives the bounded history: who ran before must find its offsets. */
  readonly firstRunning: string | null
  /** The last 20 changes, the oldest first. */
  readonly history: readonly StatusChange[]
}

/** What a writer wants the status to say; `now` in ms since the epoch. */
export interface WantedStatus {
  readonly status: SubscriptionStatus
  readonly reason: string
  readonly generation: number
  readonly revision: number
  readonly now: number
}

/**
 * The record to write so that the status says what is wanted, or null when it says so already. Another generation
 * begins a new history. A change of revision alone is no entry in it.
 */
export function nextStatus(id: string, previous: StatusRecord | null, wanted: WantedStatus): StatusRecord | null {
  const { status, reason, generation, revision } = wanted
  const time = new Date(wanted.now).toISOString()
  const last = previous !== null && previous.generation === generation ? previous : null
  const sameStatus = last !== null && last.status === status
  const sameReason = sameStatus && last.reason === reason
  if (sameReason && last.revision === revision) return null
  const history = last?.history ?? []
  return {
    id,
    status,
    reason,
    since: sameStatus ? last.since : time,
    generation,
    revision,
    firstRunning: last?.firstRunning ?? (status === 'Running' ? time : null),
    history: sameReason
      ? history
      : [...history, { time, from: last?.status ?? null, to: status, reason }].slice(-statusHistoryMax),
  }
}

/** The record that a status topic's value holds, null for a tombstone and for what is no status of `id`. */
export function parseStatus(value: Buffer | null, id: string): StatusRecord | null {
  if (value === null) return null
  let json: unknown
  try {
    json = JSON.parse(value.toString('utf8'))
  } catch {
    return null
  }
  const parsed = statusRecordSchema.safeParse(json)
  return parsed.success && parsed.data.id === id ? parsed.data : null
}
