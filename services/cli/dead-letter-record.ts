import { binaryData, decodeDeadLetter, rfc3339, unknownShape } from '@barnabas/core'
import type { CloudEvent, DeliveryHeader, HeaderValue, InputSchema, KafkaRecord, RecordHeaders } from '@barnabas/core'

/** A dead letter as it can be read from its record; null for what its headers do not say. */
export interface DeadLetterRecord {
  readonly record: KafkaRecord
  readonly subscription: string | null
  readonly generation: number | null
  readonly reason: string
  /** RFC 3339. */
  readonly time: string
  readonly attempts: number | null
  readonly publishTime: string | null
  readonly firstAttemptTime: string | null
  readonly lastAttemptTime: string | null
  readonly lastOutcome: string | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly redrives: number | null
  readonly source: { readonly topic: string | null; readonly partition: number | null; readonly offset: number | null }
  readonly destination: string | null
  readonly responseBody: string | null
  readonly event: CloudEvent | null
  /** Why there is no event, in one line. */
  readonly malformed: string | null
}

/** What the subscription of this id reads from its topics; null where that is not known. */
export type InputOf = (subscriptionId: string) => InputSchema | null

/** Reads a record of a dead-letter topic; null when it is no dead letter of Barnabas. The event is read as its subscription does. */
export function readDeadLetter(record: KafkaRecord, inputOf: InputOf): DeadLetterRecord | null {
  // Read once: a record decodes its headers whenever it is asked for them.
  const { headers } = record
  const text = (name: DeliveryHeader) => textOf(headers[name])
  const number = (name: DeliveryHeader) => {
    const value = text(name)
    return value !== null && /^\d{1,16}$/.test(value) ? Number(value) : null
  }
  const reason = text('barnabas-dead-letter-reason')
  if (reason === null) return null
  const subscription = text('barnabas-subscription')
  const input = subscription === null ? null : inputOf(subscription)
  const decoded = decodeDeadLetter(record, input ?? unknownShape)
  return {
    record,
    subscription,
    generation: number('barnabas-subscription-generation'),
    reason,
    time: text('barnabas-dead-letter-time') ?? rfc3339(record.timestamp),
    attempts: number('barnabas-attempts'),
    publishTime: text('barnabas-publish-time'),
    firstAttemptTime: text('barnabas-first-attempt-time'),
    lastAttemptTime: text('barnabas-last-attempt-time'),
    lastOutcome: text('barnabas-last-outcome'),
    lastStatus: number('barnabas-last-status'),
    lastError: text('barnabas-last-error'),
    redrives: number('barnabas-redrives'),
    source: {
      topic: text('barnabas-source-topic'),
      partition: number('barnabas-source-partition'),
      offset: number('barnabas-source-offset'),
    },
    destination: text('barnabas-destination'),
    responseBody: text('barnabas-response-body'),
    event: decoded.kind === 'event' ? decoded.event : null,
    malformed: decoded.kind === 'malformed' ? decoded.message : null,
  }
}

/** A CloudEvent's data; the record's value of any other, which is an event in another schema or none. */
export function dataOf({ event, record }: DeadLetterRecord): Buffer | null {
  const isCloudEvent = event?.mode === 'binary' || event?.mode === 'structured'
  // A record that stands for an event in an envelope has another value than the event.
  return isCloudEvent && event.value === record.value ? binaryData(event).body : record.value
}

/** Where it stands, as `dead-letters show` takes it. */
export function positionText({
  topic,
  partition,
  offset,
}: Pick<KafkaRecord, 'topic' | 'partition' | 'offset'>): string {
  return `${topic}/${partition}/${offset}`
}

function textOf(value: RecordHeaders[string] | undefined): string | null {
  const only = Array.isArray(value) ? (value as readonly HeaderValue[]).at(-1) : (value as HeaderValue | undefined)
  return only === undefined || only === null ? null : only.toString('utf8')
}
