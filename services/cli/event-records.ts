import { decodeInput, isJson } from '@barnabas/core'
import type { EventInput, OutgoingRecord } from '@barnabas/core'

/** What `send` was asked to send. */
export interface EventOrder {
  readonly topic: string
  /** What the topic carries: the `input` of the subscriptions that read it. */
  readonly input: SentInput
  readonly type: string
  readonly source: string
  readonly subject: string | null
  /** Of the only event; of several, what stands before `-1`, `-2` … */
  readonly id: string
  readonly key: string | null
  readonly data: EventData | null
  readonly count: number
}

/** The inputs that `send` can make events of; any record is one of the others. */
export const sentInputs = ['cloudevents', 'event-grid'] as const satisfies readonly EventInput[]
export type SentInput = (typeof sentInputs)[number]

export interface EventData {
  readonly bytes: Buffer
  readonly contentType: string
}

/** The id of the n-th event, counted from 1. */
export function eventId({ id, count }: Pick<EventOrder, 'id' | 'count'>, eventNumber: number): string {
  return count === 1 ? id : `${id}-${eventNumber}`
}

/** The n-th event; `now` in ms is its time. */
export function eventRecord(order: EventOrder, eventNumber: number, now: number): OutgoingRecord {
  return order.input === 'event-grid' ? eventGridRecord(order, eventNumber, now) : cloudEvent(order, eventNumber, now)
}

/** A CloudEvent in binary mode (Kafka protocol binding 1.0.2, §3.2). */
function cloudEvent(order: EventOrder, eventNumber: number, now: number): OutgoingRecord {
  const { topic, type, source, subject, key, data } = order
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
      ...(subject === null ? {} : { ce_subject: Buffer.from(subject) }),
      ce_time: Buffer.from(new Date(now).toISOString()),
      ...(data === null ? {} : { 'content-type': Buffer.from(data.contentType) }),
    },
  }
}

/** An event in Event Grid's schema, whose `topic` is what CloudEvents call `source`; the data as they were given. */
function eventGridRecord(order: EventOrder, eventNumber: number, now: number): OutgoingRecord {
  const { topic, type: eventType, source, key, data } = order
  const subject = order.subject ?? ''
  const eventTime = new Date(now).toISOString()
  const members = {
    id: eventId(order, eventNumber),
    topic: source,
    subject,
    eventType,
    eventTime,
    dataVersion: '1.0',
  }
  const json = JSON.stringify(members)
  return {
    topic,
    key: key === null ? null : Buffer.from(key),
    value:
      data === null
        ? Buffer.from(json)
        : Buffer.concat([Buffer.from(`${json.slice(0, -1)},"data":`), data.bytes, Buffer.from('}')]),
    headers: { 'content-type': Buffer.from('application/json') },
  }
}

/** What keeps the order from being an event of its input, in one line, or null. */
export function problemOfOrder(order: EventOrder): string | null {
  // Put between the other members, text that is no JSON could become members of its own.
  if (order.input === 'event-grid' && order.data !== null && !isJson(order.data.bytes.toString('utf8')))
    return '`data` is not JSON'
  const source = { topic: order.topic, partition: 0, offset: 0 }
  const decoded = decodeInput({ input: order.input, inputSchemaMapping: {} }, eventRecord(order, 1, 0), source, 0)
  return decoded.kind === 'malformed' ? decoded.message : null
}
