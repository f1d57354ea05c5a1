import { decodeInput } from './decode-input.ts'
import type { InputSchema } from './decode-input.ts'
import { parseRfc3339, rfc3339 } from './delivery-headers.ts'
import type { DeliveryHeader } from './delivery-headers.ts'
import type { DecodedEvent } from './event.ts'
import { eventGridJson } from './event-to-event-grid.ts'
import { structuredJson } from './event-to-structured.ts'
import { isJson, withMembers } from './json-append.ts'
import type { JsonText } from './json-append.ts'
import type { KafkaRecord } from './record.ts'
import type { DeliverySchema } from './schemas.ts'
import { utf8Text } from './utf8.ts'

/** The properties that Event Grid adds to an event that it could not deliver (row A15; spec/event-grid.md §3). */
export const deadLetterProperties = [
  'deadLetterReason',
  'deliveryAttempts',
  'lastDeliveryOutcome',
  'publishTime',
  'lastDeliveryAttemptTime',
  'lastHttpStatusCode',
] as const

type Property = (typeof deadLetterProperties)[number]
type Properties = Readonly<Record<Property, JsonText | undefined>>

/** What of a subscription says how its dead letters look in a blob; any subscription is one. */
export type DeadLetterShape = InputSchema & { readonly schema: DeliverySchema }

/** Of a subscription that is gone: what it read and how it delivered is not known any more. */
export const unknownShape: DeadLetterShape = {
  input: 'cloudevents',
  inputSchemaMapping: {},
  schema: 'CloudEventSchemaV1_0',
}

/**
 * A record of a dead-letter topic as Event Grid writes it into a blob: the event in the schema of its delivery, its members
 * byte for byte, and after them what is known of the delivery; on CloudEvents in lower case. An event of a custom schema
 * stands as the data of one in Event Grid's. What the event brought along under these names, as one that was a dead letter
 * before does, is replaced. What is no event, for it is damaged or too large, gets an envelope, so that nothing is left out.
 */
export function deadLetterJson(record: KafkaRecord, shape: DeadLetterShape): JsonText {
  const isCloudEvent = shape.schema === 'CloudEventSchemaV1_0'
  const read = decodeDeadLetter(record, shape)
  const known = propertiesOf(record)
  const added = deadLetterProperties.map((name) => [isCloudEvent ? name.toLowerCase() : name, known[name]] as const)
  if (read.kind === 'malformed') return withMembers(isCloudEvent ? inCloudEvent(record) : inEventGrid(record), added)
  return withMembers(isCloudEvent ? structuredJson(read.event) : eventGridJson(read.event), added)
}

/** The event of a record of a dead-letter topic, read as it was on its source topic. */
export function decodeDeadLetter(record: KafkaRecord, input: InputSchema): DecodedEvent {
  const origin = originOf(record)
  return decodeInput(input, record, origin, origin.publishTime)
}

/** Where the event stood on its source topic; what is not known of it is what is known of its dead letter. */
function originOf({ topic, partition, offset, timestamp, headers }: KafkaRecord) {
  const text = textIn({ headers })
  return {
    topic: text('barnabas-source-topic') ?? topic,
    partition: numberIn(text('barnabas-source-partition')) ?? partition,
    offset: numberIn(text('barnabas-source-offset')) ?? offset,
    publishTime: timeIn(text('barnabas-publish-time')) ?? timestamp,
  }
}

const damagedType = 'Barnabas.DamagedEvent'

/** Where it came from, and its bytes, which are `data` where they are JSON and `data_base64` where they are not. */
function inCloudEvent(record: KafkaRecord): JsonText {
  const { topic, partition, offset, publishTime } = originOf(record)
  const empty = objectOf({
    specversion: '1.0',
    id: `${partition}/${offset}`,
    source: `/${topic}`,
    type: damagedType,
    time: rfc3339(publishTime),
  })
  const content = contentOf(record)
  switch (content.kind) {
    case 'none':
      return empty
    case 'json':
      return withMembers(empty, [
        ['datacontenttype', json('application/json')],
        ['data', content.text],
      ])
    case 'base64':
      return withMembers(empty, [
        ['datacontenttype', json('application/octet-stream')],
        ['data_base64', content.text],
      ])
    default:
      return content satisfies never
  }
}

/** The same in Event Grid's schema, whose data is JSON always: `{ "base64": … }` where its bytes are not. */
function inEventGrid(record: KafkaRecord): JsonText {
  const { topic, partition, offset, publishTime } = originOf(record)
  const empty = objectOf({
    id: `${partition}/${offset}`,
    topic,
    subject: '',
    eventType: damagedType,
    eventTime: rfc3339(publishTime),
    dataVersion: '',
    metadataVersion: '1',
  })
  const content = contentOf(record)
  if (content.kind === 'none') return withMembers(empty, [['data', Buffer.from('null')]])
  const data = content.kind === 'json' ? content.text : withMembers(objectOf({}), [['base64', content.text]])
  return withMembers(empty, [['data', data]])
}

type Content = { readonly kind: 'none' } | { readonly kind: 'json' | 'base64'; /** JSON. */ readonly text: JsonText }

function contentOf({ value }: KafkaRecord): Content {
  if (value === null || value.length === 0) return { kind: 'none' }
  const text = utf8Text(value)
  if (text !== undefined && isJson(text)) return { kind: 'json', text: value }
  return { kind: 'base64', text: Buffer.from(JSON.stringify(value.toString('base64'))) }
}

function objectOf(members: Readonly<Record<string, string>>): JsonText {
  return Buffer.from(JSON.stringify(members))
}

function propertiesOf(record: Pick<KafkaRecord, 'headers'>): Properties {
  const text = textIn(record)
  return {
    deadLetterReason: json(text('barnabas-dead-letter-reason')),
    deliveryAttempts: json(numberIn(text('barnabas-attempts'))),
    lastDeliveryOutcome: json(text('barnabas-last-outcome')),
    publishTime: json(azureTime(text('barnabas-publish-time'))),
    lastDeliveryAttemptTime: json(azureTime(text('barnabas-last-attempt-time'))),
    lastHttpStatusCode: json(numberIn(text('barnabas-last-status'))),
  }
}

function textIn({ headers }: Pick<KafkaRecord, 'headers'>) {
  return (name: DeliveryHeader): string | undefined => {
    const value = headers[name]
    return Buffer.isBuffer(value) ? value.toString('utf8') : undefined
  }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function timeIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text)
}

/** With seven decimals, as .NET writes a time. */
function azureTime(text: string | undefined): string | undefined {
  const time = timeIn(text)
  return time === undefined ? undefined : rfc3339(time).replace('Z', '0000Z')
}

function json(value: string | number | undefined): JsonText | undefined {
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value))
}
