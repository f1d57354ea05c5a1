import { rfc3339 } from './delivery-headers.ts'
import { claimsToBeCloudEvent, decodeEvent } from './event.ts'
import type { DecodedEvent } from './event.ts'
import { isJson } from './json-append.ts'
import type { HeaderValue, KafkaRecord, RecordHeaders, TopicPartition } from './record.ts'
import { utf8Text } from './utf8.ts'

/** What a record's value becomes in the data of its event: EventBridge's `ValueDataType` `Text`, `JSON` and `Binary`. */
export const recordValueTypes = ['text', 'json', 'binary'] as const
export type RecordValueType = (typeof recordValueTypes)[number]

/** `kafkaRecord` of a subscription with `input: kafka-record`. */
export interface KafkaRecordInput {
  readonly valueType: RecordValueType
  /** Stands in the event's `subject`, where patterns look for it; may be empty. */
  readonly instance: string
}

export const kafkaRecordDefault: KafkaRecordInput = { valueType: 'text', instance: '' }

/** The record on its source topic: the same on every retry. `publishTime` in ms since the epoch. */
export interface RecordPlace extends TopicPartition {
  readonly offset: number
  readonly publishTime: number
}

/**
 * Reads any Kafka record as the event that EventBridge makes of it (its spec page, §4.3), unless it is a CloudEvent
 * already. What claims to be one by its headers and is not, is malformed; so is a value that is not of its type.
 * Headers that begin with `barnabas-` are left out: only a retry has ours, and whose own are there changes on its way.
 */
export function decodeKafkaRecord(
  record: Pick<KafkaRecord, 'key' | 'value' | 'headers'>,
  { valueType, instance }: KafkaRecordInput,
  place: RecordPlace,
): DecodedEvent {
  const own = decodeEvent(record)
  if (own.kind === 'event' || claimsToBeCloudEvent(record.headers)) return own
  const value = valueJson(record.value, valueType)
  if (typeof value === 'string') return { kind: 'malformed', message: `no record of kafkaRecord.valueType: ${value}` }

  const { topic, partition, offset, publishTime } = place
  const time = rfc3339(publishTime)
  const attributes = {
    specversion: '1.0',
    // Made of its place, so that every attempt has the same. With the time: a topic that was made again counts anew.
    id: `${topic}-${partition}-${offset}-${Date.parse(time)}`,
    source: 'acs:alikafka',
    type: 'alikafka:Topic:Message',
    subject: `acs:alikafka:${instance}:topic:${topic}`,
    time,
    datacontenttype: 'application/json; charset=utf-8',
  }
  const data = {
    topic,
    partition,
    offset,
    timestamp: Date.parse(time),
    headers: { headers: headersOf(record.headers), isReadOnly: false },
    key: valueType === 'binary' ? (record.key?.toString('base64') ?? null) : textOrBase64(record.key),
  }
  const json = Buffer.concat([
    Buffer.from(`${opened(attributes)},"data":${opened(data)},"value":`),
    value,
    Buffer.from('}}'),
  ])
  const event = { mode: 'structured', attributes: new Map(Object.entries(attributes)), value: json } as const
  return { kind: 'event', event }
}

/** A JSON object that can take more members. */
function opened(object: object): string {
  return JSON.stringify(object).slice(0, -1)
}

/** The value as JSON, or what is wrong with it. A deletion marker (no value) is null whatever the type. */
function valueJson(value: Buffer | null, valueType: RecordValueType): Buffer | string {
  if (value === null) return Buffer.from('null')
  if (valueType === 'binary') return Buffer.from(JSON.stringify(value.toString('base64')))
  const text = utf8Text(value)
  if (text === undefined) return `${valueType}: the value is not UTF-8; binary takes any bytes`
  if (valueType === 'text') return Buffer.from(JSON.stringify(text))
  const hasByteOrderMark = text.startsWith('\uFEFF')
  if (!isJson(hasByteOrderMark ? text.slice(1) : text)) return 'json: the value is not JSON; text takes any UTF-8'
  // As its bytes stand: never through JavaScript's numbers.
  return hasByteOrderMark ? value.subarray(3) : value
}

/** In the order of their names, because Kafka's clients promise none between different names. */
function headersOf(headers: RecordHeaders): readonly { readonly key: string; readonly value: string | null }[] {
  const names = Object.keys(headers).filter((name) => !name.startsWith('barnabas-'))
  return names.toSorted().flatMap((name) => valuesOf(headers[name]).map((value) => ({ key: name, value })))
}

function valuesOf(value: RecordHeaders[string] | undefined): readonly (string | null)[] {
  const isOne = (each: typeof value): each is HeaderValue | undefined => each == null || Buffer.isBuffer(each)
  return isOne(value) ? [textOrBase64(value ?? null)] : value.map(textOrBase64)
}

function textOrBase64(bytes: HeaderValue): string | null {
  return bytes === null ? null : (utf8Text(bytes) ?? bytes.toString('base64'))
}
