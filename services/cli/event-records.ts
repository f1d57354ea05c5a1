import { decodeEvent } from '@barnabas/core'
import type { OutgoingRecord } from '@barnabas/core'

/** What `send` was asked to send. */
export interface EventOrder {
  readonly topic: string
  readonly type: string
  readonly source: string
  /** Of the only event; of several, what stands before `-1`, `-2` … */
  readonly id: string
  readonly key: string | null
  readonly data: EventData | null
  readonly count: number
}

export interface EventData {
  readonly bytes: Buffer
  readonly contentType: string
}

/** The id of the n-th event, counted from 1. */
export function eventId({ id, count }: Pick<EventOrder, 'id' | 'count'>, eventNumber: number): string {
  return count === 1 ? id : `${id}-${eventNumber}`
}

/** The n-th event as a CloudEvent in binary mode (Kafka protocol binding 1.0.2, §3.2); `now` in ms is its time. */
export function eventRecord(order: EventOrder, eventNumber: number, now: number): OutgoingRecord {
  const { topic, type, source, key, data } = order
  return {
    topic,
    key: key === null ? null : Buffer.from(key),
    // Not null without data: on a compacted topic that would delete what the key stands for.
    value: data?.bytes ?? Buffer.alloc(0),
    headers: {
      ce_specversion: Buffer.from('1.0'),
      ce_id: Buffer.from(eventId(order, eventNumber)),
      ce_source: Buffer.from(source),
      ce_type: Buffer.from(type),
      ce_time: Buffer.from(new Date(now).toISOString()),
      ...(data === null ? {} : { 'content-type': Buffer.from(data.contentType) }),
    },
  }
}

/** What keeps the order from being a CloudEvent, in one line, or null. */
export function problemOfOrder(order: EventOrder): string | null {
  const decoded = decodeEvent(eventRecord(order, 1, 0))
  return decoded.kind === 'malformed' ? decoded.message : null
}
