import { headerValueBytesMax, textAt } from './delivery-attributes.ts'
import { binaryData } from './event-data.ts'
import { structuredJson } from './event-to-structured.ts'
import type { CloudEvent } from './event.ts'
import { ownHeaderValue } from './own-headers.ts'
import type { FindSecret } from './own-headers.ts'
import type { OutgoingRecord } from './record.ts'
import type { RequestShape } from './subscription.ts'
import { transformedRecord } from './transformed-record.ts'

export type SinkRecord =
  | { readonly kind: 'made'; readonly record: Omit<OutgoingRecord, 'topic'> }
  /** One line that names the field of the transform. */
  | { readonly kind: 'impossible'; readonly message: string }

export interface SinkRecordOptions {
  readonly shape: RequestShape
  /** Of the record that the event came in. */
  readonly key: Buffer | null
  /** 1 on the first attempt. */
  readonly attemptNumber: number
  readonly findSecret: FindSecret
}

const structuredType = 'application/cloudevents+json; charset=UTF-8'

/**
 * The record that a Kafka topic as sink gets (CloudEvents Kafka binding 1.0.2, sections 3.2 and 3.3): the key of the source
 * record, the event in binary or structured mode, and beside its own headers those of the subscription (row A20) and
 * `barnabas-subscription` and `barnabas-attempt`. Transforms make key, value and headers otherwise. Data goes over as its
 * bytes stand; an event without data has a null value in binary mode. Throws for a secret that is not known.
 */
export function sinkRecord(event: CloudEvent, options: SinkRecordOptions): SinkRecord {
  const { shape, attemptNumber, findSecret } = options
  const { transform } = shape
  const transformed = transform === undefined ? null : transformedRecord(event, transform)
  if (transformed?.kind === 'impossible') return transformed
  const headers: Record<string, Buffer> = {}
  const add = (name: string, value: string) => void (headers[name] = Buffer.from(value, 'utf8'))
  // A transformed value is what it is in either mode; binary mode adds the attributes (docs/eventbridge.md, "Transforms").
  const isStructured = shape.mode === 'structured' || transform?.value?.form === 'ORIGINAL'
  if (!isStructured) {
    for (const [name, value] of event.attributes) if (name !== 'datacontenttype') add(`ce_${name}`, value)
  }
  const { contentType, value } = transformed?.value ?? (isStructured ? structured(event) : binary(event))
  if (contentType !== undefined) add('content-type', contentType)
  add('barnabas-subscription', shape.id)
  add('barnabas-attempt', String(attemptNumber))
  for (const [name, text] of Object.entries(transformed?.headers ?? {})) add(name, text)
  for (const header of shape.headers) {
    const text = ownHeaderValue(header, findSecret, ({ path }) => textAt(event, path))
    if (text !== null && text !== '' && Buffer.byteLength(text) <= headerValueBytesMax) add(header.name, text)
  }
  const key = transformed?.key === undefined ? options.key : transformed.key
  return { kind: 'made', record: { key, value, headers } }
}

function structured(event: CloudEvent) {
  return { contentType: structuredType, value: structuredJson(event) }
}

function binary(event: CloudEvent) {
  const { contentType, body } = binaryData(event)
  return { contentType, value: body }
}
