import { binaryData, eventJson, isEventGridNotation } from '@barnabas/core'
import type { CloudEvent, FindSecret, RequestShape, SourcePosition, TransformedParts } from '@barnabas/core'
import { addEventGridHeaders } from './event-grid-headers.ts'
import { addOriginHeaders } from './origin-headers.ts'
import { addOwnHeaders } from './own-headers.ts'

export interface WebhookRequestOptions {
  /** Of the subscription: one object for all of its attempts. */
  readonly shape: RequestShape
  /** 1 on the first attempt; the lowest among the events. */
  readonly attemptNumber: number
  /** Where the event stood on its source topic; of one event alone. */
  readonly source?: SourcePosition | undefined
  /** What the subscription's transform makes of the events. */
  readonly transformed?: TransformedParts | undefined
}

/** What is the same for every request of a process. */
export interface RequestSettings {
  /** Who we say we are (`BARNABAS_ORIGIN`) to receivers that want to know (`addOriginHeaders`); nobody when absent. */
  readonly origin?: string | undefined
  readonly findSecret: FindSecret
}

export interface WebhookRequest {
  /** No value here is one that an HTTP client would refuse, provided that `decodeInput` made the events. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

type Events = readonly [CloudEvent, ...CloudEvent[]]

/**
 * What a webhook receives (interface, "What a webhook receives"; CloudEvents HTTP binding 1.0, sections 3.1 to 3.3).
 * Several events are never in binary mode, which has no batches: they travel as they would in structured mode. Throws
 * for what the parser of subscriptions and `problemOfSecrets` refuse.
 */
export function webhookRequest(
  events: Events,
  options: WebhookRequestOptions,
  settings: RequestSettings,
): WebhookRequest {
  const { shape, attemptNumber, transformed } = options
  // Without a prototype, for `__proto__` may be the name of a header too.
  const headers: Record<string, string> = Object.assign(Object.create(null) as object, {
    'user-agent': 'barnabas',
    'barnabas-subscription': shape.id,
    'barnabas-attempt': String(attemptNumber),
  })
  if (isEventGridNotation(shape.notation)) {
    addEventGridHeaders(headers, events, { shape, attemptNumber, source: options.source })
  }
  if (settings.origin !== undefined) addOriginHeaders(headers, shape, settings.origin)
  if (shape.headers.length > 0) addOwnHeaders(headers, events, shape, settings.findSecret)
  if (transformed !== undefined) addTransformedHeaders(headers, transformed, shape)
  // A transformed body is what it is in either mode; binary mode adds the attributes (docs/eventbridge.md, "Transforms").
  const isStructured = shape.mode === 'structured' || events.length > 1 || shape.transform?.body?.form === 'ORIGINAL'
  const [event] = events
  if (!isStructured) addAttributes(headers, event)
  if (transformed?.body !== undefined) {
    headers['content-type'] = transformed.body.contentType
    return { headers, body: transformed.body.bytes }
  }
  if (isStructured) return structuredRequest(headers, events, shape)
  const { contentType, body } = binaryData(event)
  if (contentType !== undefined) headers['content-type'] = contentType
  return { headers, body }
}

/** Those that the subscription names in `headers` come before. */
function addTransformedHeaders(
  headers: Record<string, string>,
  transformed: TransformedParts,
  { headers: own }: RequestShape,
): void {
  const taken = new Set(own.map(({ name }) => name.toLowerCase()))
  for (const [name, value] of Object.entries(transformed.headers)) {
    if (!taken.has(name.toLowerCase())) headers[name] = value
  }
}

/** Event Grid spec page §2.1; rows A2 and C1. A single CloudEvent is an object, but on Kubernetes, where all are arrays. */
function structuredRequest(
  headers: Record<string, string>,
  events: Events,
  { schema, notation }: RequestShape,
): WebhookRequest {
  if (schema === 'CloudEventSchemaV1_0' && events.length === 1 && notation !== 'event-grid-kubernetes') {
    headers['content-type'] = 'application/cloudevents+json; charset=utf-8'
    return { headers, body: eventJson(events[0], schema) }
  }
  headers['content-type'] = arrayTypes[schema]
  return { headers, body: jsonArray(events.map((event) => eventJson(event, schema))) }
}

const arrayTypes = {
  CloudEventSchemaV1_0: 'application/cloudevents-batch+json; charset=utf-8',
  EventGridSchema: 'application/json; charset=utf-8',
  CustomInputSchema: 'application/json; charset=utf-8',
} as const satisfies Record<RequestShape['schema'], string>

const openBracket = Buffer.from('[')
const comma = Buffer.from(',')
const closeBracket = Buffer.from(']')

/** The elements as their bytes stand, but for the byte order mark that a text may begin with and no element can. */
function jsonArray(elements: readonly Buffer[]): Buffer {
  const parts: Buffer[] = []
  for (const element of elements) {
    const hasMark = element[0] === 0xef
    parts.push(parts.length === 0 ? openBracket : comma, hasMark ? element.subarray(3) : element)
  }
  parts.push(closeBracket)
  return Buffer.concat(parts)
}

/** `datacontenttype` is the request's Content-Type (HTTP binding 3.1.1), every other attribute a `ce-` header (3.1.3). */
function addAttributes(headers: Record<string, string>, event: CloudEvent): void {
  for (const [name, value] of event.attributes) {
    if (name !== 'datacontenttype') headers[`ce-${name}`] = percentEncoded(value)
  }
}

const toBeEscaped = /["%]|[^\u0021-\u007e]/

/** HTTP binding 3.1.3.2: a space, `"`, `%` and everything outside printable ASCII travel as percent-encoded UTF-8. */
function percentEncoded(value: string): string {
  return toBeEscaped.test(value) ? value.replace(/["%]|[^\u0021-\u007e]+/g, utf8Escapes) : value
}

function utf8Escapes(text: string): string {
  let escapes = ''
  for (const byte of Buffer.from(text, 'utf8')) escapes += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return escapes
}
