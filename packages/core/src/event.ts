import type { EventGridEnvelope } from './event-grid-members.ts'
import { problemOfAttributes, quoted } from './event-attributes.ts'
import { mediaTypeEssence } from './media-type.ts'
import type { HeaderValue, KafkaRecord, RecordHeaders } from './record.ts'
import { structuredContent } from './structured-event.ts'
import { utf8Text } from './utf8.ts'

/** An event that was read, by its CloudEvents names whatever schema it came in. */
export type CloudEvent = KafkaEvent | ForeignEvent

/**
 * A CloudEvent 1.0 as it stood on its topic. The bytes of `value` are never parsed and written again: whoever
 * delivers it in the mode in which it came sends them as they are.
 */
export interface KafkaEvent {
  /** The content mode of the record it came in. */
  readonly mode: 'binary' | 'structured'
  /**
   * Every context attribute as text, `datacontenttype` included, `data` excluded. `specversion` is "1.0";
   * `id`, `source` and `type` are there and not empty.
   */
  readonly attributes: ReadonlyMap<string, string>
  /** The record's value: the data itself (binary) or the whole JSON text (structured). */
  readonly value: Buffer | null
}

/** An event that came in Event Grid's schema or in a custom one. */
export interface ForeignEvent {
  readonly mode: 'event-grid' | 'custom'
  /** What it is as a CloudEvent: the same promises as above. */
  readonly attributes: ReadonlyMap<string, string>
  /** The JSON text of the one event: in Event Grid's schema with `topic` and `metadataVersion`, which it may have lacked. */
  readonly value: Buffer
  readonly envelope: EventGridEnvelope
  /** The JSON text of its data, as it stood: of a custom event all of it. Null when it has none. */
  readonly data: Buffer | null
}

export type DecodedEvent =
  | { readonly kind: 'event'; readonly event: CloudEvent }
  /** `message` says in one line what is wrong: "attribute `id` is missing". */
  | { readonly kind: 'malformed'; readonly message: string }

const structuredMediaType = 'application/cloudevents+json'

/**
 * Reads a record as a CloudEvent (CloudEvents Kafka binding 1.0.2, §3). A content type of CloudEvents decides,
 * then `ce_` headers; without either the value may be CloudEvents JSON, because console producers cannot easily
 * set headers. In binary mode the value is not looked at.
 */
export function decodeEvent(record: Pick<KafkaRecord, 'value' | 'headers'>): DecodedEvent {
  const { value, headers } = record
  const names = Object.keys(headers)
  const contentTypeBytes = contentTypeOf(headers, names)
  if (contentTypeBytes === 'several') return malformed('header `content-type` is there several times')
  // Bytes beyond ASCII become characters beyond ASCII, which no attribute check lets pass.
  const contentType = contentTypeBytes?.toString('latin1') ?? ''

  const mediaType = mediaTypeEssence(contentType)
  if (mediaType === structuredMediaType) return decodeStructured(value)
  if (mediaType.startsWith('application/cloudevents')) {
    return malformed(`content type ${quoted(mediaType)} is not supported, only ${structuredMediaType} and binary mode`)
  }
  if (names.some((name) => marksBinaryMode(name) && single(headers[name]) !== null)) {
    return decodeBinary(value, headers, names, contentType)
  }
  const sniffed = decodeStructured(value)
  if (sniffed.kind === 'event') return sniffed
  return malformed(
    `no CloudEvent: there is no header ce_specversion, ce_id, ce_source or ce_type, no content-type ` +
      `${structuredMediaType}, and as CloudEvents JSON: ${sniffed.message}`,
  )
}

/** Whether its headers say that it is a CloudEvent, whatever it is. */
export function claimsToBeCloudEvent(headers: RecordHeaders): boolean {
  const names = Object.keys(headers)
  const contentType = contentTypeOf(headers, names)
  if (contentType === null || contentType === 'several') return names.some(marksBinaryMode)
  return (
    mediaTypeEssence(contentType.toString('latin1')).startsWith('application/cloudevents') ||
    names.some(marksBinaryMode)
  )
}

function decodeStructured(value: Buffer | null): DecodedEvent {
  if (value === null || value.length === 0) return malformed('the value is empty')
  const content = structuredContent(value)
  if (content.kind === 'malformed') return content
  return { kind: 'event', event: { mode: 'structured', attributes: content.attributes, value } }
}

function decodeBinary(
  value: Buffer | null,
  headers: RecordHeaders,
  names: readonly string[],
  contentType: string,
): DecodedEvent {
  const attributes = new Map<string, string>()
  for (const name of names) {
    if (!name.startsWith('ce_')) continue
    const bytes = single(headers[name])
    if (bytes === 'several') return malformed(`header ${quoted(name)} is there several times`)
    if (bytes === null) continue
    const text = utf8Text(bytes)
    if (text === undefined) return malformed(`header ${quoted(name)} is not UTF-8`)
    attributes.set(name.slice(3), text)
  }
  if (contentType !== '') attributes.set('datacontenttype', contentType)
  else if (attributes.get('datacontenttype') === '') attributes.delete('datacontenttype')
  const problem = problemOfAttributes(attributes)
  return problem === null ? { kind: 'event', event: { mode: 'binary', attributes, value } } : malformed(problem)
}

/** The one value of a header. Null is the same as absent, as it is in the JSON format. */
function single(value: RecordHeaders[string] | undefined): HeaderValue | 'several' {
  if (value === undefined || value === null || Buffer.isBuffer(value)) return value ?? null
  return value.length > 1 ? 'several' : (value[0] ?? null)
}

/** The `content-type` header in whatever case; an empty one says as much as none. */
function contentTypeOf(headers: RecordHeaders, names: readonly string[]): Buffer | null | 'several' {
  let found: Buffer | null = null
  for (const name of names) {
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue
    const bytes = single(headers[name])
    if (bytes === 'several') return bytes
    if (bytes === null || bytes.length === 0) continue
    if (found !== null) return 'several'
    found = bytes
  }
  return found
}

function marksBinaryMode(name: string): boolean {
  return name === 'ce_specversion' || name === 'ce_id' || name === 'ce_source' || name === 'ce_type'
}

function malformed(message: string): DecodedEvent {
  return { kind: 'malformed', message }
}
