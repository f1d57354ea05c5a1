import * as z from 'zod'
import { jsonOf } from './json-text.ts'

/** That the dead letter at this position was sent again: what keeps it from being sent a second time (row B8). */
export interface RedriveMark {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Of the dead-letter topic: one that was deleted and made anew has another; null where brokers cannot tell. */
  readonly topicId: string | null
  readonly subscription: string
  /** How often the event was sent again, this time included. */
  readonly redrives: number
  readonly by: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string
}

/** Key and value of a mark in `barnabas.redrives`. */
export function redriveMarkRecord(mark: RedriveMark): { readonly key: Buffer; readonly value: Buffer } {
  const { topic, partition, offset, ...rest } = mark
  return { key: Buffer.from(`${topic}/${partition}/${offset}`), value: Buffer.from(JSON.stringify(rest)) }
}

const valueSchema = z.object({ topicId: z.string().nullable() })

/**
 * Where a mark stands for. Of one whose value is damaged `topicId` is null: it counts all the same, for it was
 * written. Null for what names no position, and for a mark that was removed.
 */
export function parseRedriveMark(
  key: Buffer | null,
  value: Buffer | null,
): Pick<RedriveMark, 'topic' | 'partition' | 'offset' | 'topicId'> | null {
  const match = /^([^/]{1,249})\/(\d{1,9})\/(\d{1,15})$/.exec(key?.toString('utf8') ?? '')
  if (match === null || value === null) return null
  return {
    topic: match[1]!,
    partition: Number(match[2]),
    offset: Number(match[3]),
    topicId: valueSchema.safeParse(jsonOf(value)).data?.topicId ?? null,
  }
}
