import * as z from 'zod'
import { handshakeSchema } from './handshake.ts'
import type { Handshake } from './handshake.ts'
import { jsonOf } from './json-text.ts'
import { mergedFacts, pausedText, saidAtSchema } from './pause.ts'
import type { Pause, PauseFacts } from './pause.ts'

export const subscriptionStatuses = ['Ready', 'Starting', 'Running', 'Paused', 'Start Failed'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** How many changes of a subscription's status are remembered. */
export const statusHistoryMax = 20

const statusChangeSchema = z.object({
  // Counted with: how long a subscription rested is added to times to live.
  time: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  from: z.enum(subscriptionStatuses).nullable(),
  to: z.enum(subscriptionStatuses),
  reason: z.string(),
})

const blockedEventSchema = z.object({
  topic: z.string(),
  partition: z.int(),
  offset: z.int(),
  eventId: z.string().nullable(),
  attempts: z.int(),
  lastOutcome: z.string().nullable(),
  since: z.string(),
})

/** An event that a subscription is blocked at (row B5). `since` is RFC 3339; `eventId` is null where nobody knows it. */
export type BlockedEvent = Readonly<z.output<typeof blockedEventSchema>>

/** Of more blocks than these a status names the first; the reason says how many there are. */
export const blockedNamedMax = 100

const statusRecordSchema = z.object({
  id: z.string(),
  status: z.enum(subscriptionStatuses),
  reason: z.string(),
  since: z.string(),
  generation: z.int(),
  revision: z.int(),
  startedTopics: z.array(z.string()),
  missedTopics: z.array(z.string()),
  topicIds: z.record(z.string(), z.string()).default({}),
  skippedOffsets: z.int().default(0),
  handshake: handshakeSchema.nullable().default(null).catch(null),
  probation: z.object({ cause: z.string(), since: z.string(), until: z.string() }).nullable().default(null),
  parked: z.int().default(0),
  blocked: z.array(blockedEventSchema).default([]).catch([]),
  started: saidAtSchema.nullable().default(null).catch(null),
  paused: z.object({ at: saidAtSchema, by: z.string() }).nullable().default(null).catch(null),
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
  /** The topics with which this generation was `Running`: on these it must find its committed offsets. */
  readonly startedTopics: readonly string[]
  /** The topics that were missing since they are subscribed to: their stored start offsets are of a topic that is gone. */
  readonly missedTopics: readonly string[]
  /** Of the topics with which it was `Running`: one that was deleted and made again has another id. */
  readonly topicIds: Readonly<Record<string, string>>
  /** How many offsets of its topics were gone before this life could read them (retention, DeleteRecords). */
  readonly skippedOffsets: number
  /** Where the handshake with its receiver stands; null when none was begun. */
  readonly handshake: Handshake | null
  /** Why its endpoint is left to rest, since when, and until when nothing is attempted; then come trials. Null for not. */
  readonly probation: { readonly cause: string; readonly since: string; readonly until: string } | null
  /** How many of its events wait for a retry. */
  readonly parked: number
  /** The events that it is blocked at, by topic, partition and offset. */
  readonly blocked: readonly BlockedEvent[]
  /** `at` of the last `start` that was taken up, null for none. */
  readonly started: string | null
  /** By which `pause` it rests, whatever else is the matter with it; null when it does not. */
  readonly paused: Pause | null
  /** The last 20 changes, the oldest first. */
  readonly history: readonly StatusChange[]
}

/** What a writer wants the status to say; `now` in ms since the epoch. */
export interface WantedStatus {
  readonly status: SubscriptionStatus
  readonly reason: string
  readonly generation: number
  readonly revision: number
  /** With `Running`: the topics it runs on. */
  readonly topics?: readonly string[]
  /** With `Start Failed`: source topics that do not exist. */
  readonly missing?: readonly string[]
  /** With `Running`: the ids of its topics, as far as the brokers tell. */
  readonly topicIds?: ReadonlyMap<string, string>
  /** When it is known. */
  readonly skippedOffsets?: number
  /** Absent: as it was in this life. */
  readonly handshake?: Handshake
  /** When it is known; times in ms since the epoch. */
  readonly probation?: { readonly cause: string; readonly since: number; readonly until: number } | null
  readonly parked?: number
  /** When it is known. */
  readonly blocked?: readonly BlockedEvent[]
  /** What was said of this life, as far as the writer has heard it; the status keeps what it knows beyond that. */
  readonly said?: PauseFacts
  readonly now: number
}

/**
 * The record to write so that the status says what is wanted, or null when it says so already. Another generation
 * begins a new history. A change of revision alone is no entry in it. One that is paused is `Paused`, whatever else is
 * wanted: what would keep it from running then stands in the reason.
 */
export function nextStatus(id: string, previous: StatusRecord | null, wanted: WantedStatus): StatusRecord | null {
  const { generation, revision } = wanted
  const time = new Date(wanted.now).toISOString()
  const last = previous !== null && previous.generation === generation ? previous : null
  const known = { paused: last?.paused ?? null, started: last?.started ?? null }
  const { paused, started } = wanted.said === undefined ? known : mergedFacts(known, wanted.said)
  const status = paused === null ? wanted.status : 'Paused'
  const reason = paused === null ? wanted.reason : pausedText(paused, problemOf(wanted))
  const sameStatus = last !== null && last.status === status
  const sameReason = sameStatus && last.reason === reason
  const { topics, missing = [] } = wanted
  const startedTopics = topics ?? last?.startedTopics.filter((topic) => !missing.includes(topic)) ?? []
  const missedBefore = last?.missedTopics.filter((topic) => topics?.includes(topic) ?? true) ?? []
  const missedTopics = [...new Set([...missedBefore, ...missing])]
  const sameTopics =
    last !== null && sameNames(last.startedTopics, startedTopics) && sameNames(last.missedTopics, missedTopics)
  const skippedOffsets = wanted.skippedOffsets ?? last?.skippedOffsets ?? 0
  const topicIds = wanted.topicIds === undefined ? (last?.topicIds ?? {}) : Object.fromEntries(wanted.topicIds)
  const handshake = wanted.handshake ?? last?.handshake ?? null
  const sameHandshake = JSON.stringify(last?.handshake) === JSON.stringify(handshake)
  const probation = wanted.probation === undefined ? (last?.probation ?? null) : writtenProbation(wanted.probation)
  const parked = wanted.parked ?? last?.parked ?? 0
  const blocked = (wanted.blocked ?? last?.blocked ?? []).slice(0, blockedNamedMax)
  const sameFacts =
    last?.started === started &&
    last.paused?.at === paused?.at &&
    sameTopics &&
    sameHandshake &&
    sameIds(last.topicIds, topicIds) &&
    last.skippedOffsets === skippedOffsets &&
    last.parked === parked &&
    JSON.stringify(last.blocked) === JSON.stringify(blocked) &&
    last.probation?.since === probation?.since &&
    last.probation?.until === probation?.until
  if (sameReason && last.revision === revision && sameFacts) return null
  const history = last?.history ?? []
  return {
    id,
    status,
    reason,
    since: sameStatus ? last.since : time,
    generation,
    revision,
    startedTopics,
    missedTopics,
    topicIds,
    skippedOffsets,
    handshake,
    probation,
    parked,
    blocked,
    started,
    paused,
    history: sameReason
      ? history
      : [...history, { time, from: last?.status ?? null, to: status, reason }].slice(-statusHistoryMax),
  }
}

/** What would keep it from running if it were not paused. */
function problemOf({ status, reason }: WantedStatus): string | null {
  return status === 'Start Failed' || status === 'Ready' ? reason : null
}

function writtenProbation(probation: NonNullable<WantedStatus['probation']> | null): StatusRecord['probation'] {
  if (probation === null) return null
  const { cause, since, until } = probation
  return { cause, since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index])
}

function sameIds(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const topics = Object.keys(one)
  return topics.length === Object.keys(other).length && topics.every((topic) => one[topic] === other[topic])
}

/** The record that a status topic's value holds, null for a tombstone and for what is no status of `id`. */
export function parseStatus(value: Buffer | null, id: string): StatusRecord | null {
  if (value === null) return null
  const parsed = statusRecordSchema.safeParse(jsonOf(value))
  return parsed.success && parsed.data.id === id ? parsed.data : null
}
