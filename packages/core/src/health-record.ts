import * as z from 'zod'
import { fnv1a } from './fnv1a.ts'
import { probationAfterMax, probationCauses } from './probation-policy.ts'
import type { Health } from './probation.ts'
import { jsonOf } from './json-text.ts'

/** What a status can say: up to the end of the year 9999. */
const time = z.int().nonnegative().max(253_402_300_799_999)
const count = z.int().nonnegative()
const markMax = 16
/** How many processes that are gone a record names at a time. */
export const takenOverMax = 100

const healthRecordSchema = z.object({
  subscription: z.string().min(1).max(249),
  process: z.string().min(1).max(249),
  generation: count,
  endpoint: z.string().max(markMax),
  failing: z
    .object({ since: time, events: z.array(z.string().max(markMax)).max(probationAfterMax) })
    .nullable()
    .default(null),
  lastSuccess: time.nullable().default(null),
  ended: time.nullable().default(null),
  probation: z
    .object({ cause: z.enum(probationCauses), failingSince: time, since: time, until: time, lengthMs: count })
    .nullable()
    .default(null),
  parkedIn: count.default(0),
  parkedOut: count.default(0),
  takenOver: z.array(z.string().max(249)).max(takenOverMax).default([]),
})

/**
 * What one process says of one subscription: a record of `barnabas.health`, key `<subscription>/<process>`. Times are ms
 * since the epoch by its clock.
 */
export interface HealthRecord extends Health {
  readonly subscription: string
  readonly process: string
  /** Which life of the subscription. */
  readonly generation: number
  /** Which endpoint it speaks of (`endpointMark`): a subscription may be given another. */
  readonly endpoint: string
  /** Events that it parked for the first time, and events that it brought to their end: parked are those in and not out. */
  readonly parkedIn: number
  readonly parkedOut: number
  /** Processes that are gone and whose counts are in these, until their records are removed. */
  readonly takenOver: readonly string[]
}

/** Under the key of a process without a subscription: it lives. Null once it has left. */
export type HealthTopicRecord =
  | { readonly kind: 'presence'; readonly process: string; readonly isThere: boolean }
  | {
      readonly kind: 'health'
      readonly subscription: string
      readonly process: string
      readonly record: HealthRecord | null
    }

/** A short mark of the sink, which may hold a secret. */
export function endpointMark(sink: string): string {
  return fnv1a(sink).toString(36)
}

export function healthKey(subscription: string, process: string): Buffer {
  return Buffer.from(`${subscription}/${process}`)
}

export function presenceKey(process: string): Buffer {
  return Buffer.from(`/${process}`)
}

export function healthValue(record: HealthRecord): Buffer {
  return Buffer.from(JSON.stringify(record))
}

/** What a record of the topic says; null for damage and what is no health record, as if it was not there. */
export function parseHealth(key: Buffer | null, value: Buffer | null): HealthTopicRecord | null {
  const text = key?.toString('utf8') ?? ''
  const slash = text.indexOf('/')
  const [subscription, process] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash < 0 || process === '') return null
  if (subscription === '') return { kind: 'presence', process, isThere: value !== null }
  const record = value === null ? null : (healthRecordSchema.safeParse(jsonOf(value)).data ?? null)
  if (record !== null && (record.subscription !== subscription || record.process !== process)) return null
  return { kind: 'health', subscription, process, record }
}
