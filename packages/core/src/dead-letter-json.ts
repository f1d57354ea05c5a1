import { parseRfc3339, rfc3339 } from './delivery-headers.ts'
import type { DeliveryHeader } from './delivery-headers.ts'
import { structuredJson } from './event-to-structured.ts'
import { decodeEvent } from './event.ts'
import { isJson, withMembers } from './json-append.ts'
import type { JsonText } from './json-append.ts'
import type { KafkaRecord } from './record.ts'
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

/**
 * A record of a dead-letter topic as Event Grid writes it into a blob: the event as it was delivered, its members byte for
 * byte, and after them what is known of its delivery; for CloudEvents in lower case. What the event brought along under
 * these names, as one that was a dead letter before does, is replaced. What is no event, for it is damaged or too large,
 * gets an envelope, so that nothing is left out.
 */
export function deadLetterJson(record: KafkaRecord): JsonText {
  const read = decodeEvent(record)
  const known = propertiesOf(record)
  const lowerCase = deadLetterProperties.map((name) => [name.toLowerCase(), known[name]] as const)
  return withMembers(read.kind === 'event' ? structuredJson(read.event) : envelope(record), lowerCase)
}

/**
 * The envelope of what is no event: where it came from, and its bytes, which are `data` where they are JSON and
 * `data_base64` where they are not.
 */
function envelope({ topic, partition, offset, timestamp, headers, value }: KafkaRecord): JsonText {
  const text = textIn({ headers })
  const position = {
    topic: text('barnabas-source-topic') ?? topic,
    partition: text('barnabas-source-partition') ?? partition,
    offset: text('barnabas-source-offset') ?? offset,
  }
  const attributes = {
    specversion: '1.0',
    id: `${position.partition}/${position.offset}`,
    source: `/${position.topic}`,
    type: 'Barnabas.DamagedEvent',
    time: rfc3339(timeIn(text('barnabas-publish-time')) ?? timestamp),
  }
  const empty = Buffer.from(JSON.stringify(attributes))
  if (value === null || value.length === 0) return empty
  const valueText = utf8Text(value)
  if (valueText !== undefined && isJson(valueText))
    return withMembers(empty, [
      ['datacontenttype', json('application/json')],
      ['data', value],
    ])
  const base64 = json(value.toString('base64'))
  return withMembers(empty, [
    ['datacontenttype', json('application/octet-stream')],
    ['data_base64', base64],
  ])
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
