import type { CloudEvent } from './event.ts'
import { stringAt } from './json-members.ts'
import { structuredContent, type StructuredContent } from './structured-event.ts'

/** An event's data as the body of a request in binary mode. `body` is null when the event has no data. */
export interface BinaryData {
  readonly contentType: string | undefined
  readonly body: Buffer | null
}

/**
 * The data of an event as bytes. A binary event's are its value; a structured event's `data` is cut out of the
 * value as its JSON text stands, never parsed and written again: numbers, duplicate keys, escapes and white space
 * inside it arrive as they were sent. Text of another type and `data_base64` are decoded to what they stand for.
 */
export function binaryData(event: CloudEvent): BinaryData {
  const contentType = event.attributes.get('datacontenttype')
  if (event.mode === 'binary') return { contentType, body: event.value }
  if (event.mode === 'event-grid' || event.mode === 'custom')
    return { contentType: event.data === null ? undefined : 'application/json', body: event.data }
  const body = structuredBody(event.value)
  // The JSON format's implied type is set explicitly when the mode changes (JSON format §3.1.2).
  return { contentType: contentType ?? (body === null ? undefined : 'application/json'), body }
}

function structuredBody(value: Buffer | null): Buffer | null {
  const { data, value: json } = decodedContent(value)
  switch (data.kind) {
    case 'none':
      return null
    case 'json':
      return json.subarray(data.start, data.end)
    case 'text':
      return Buffer.from(stringAt(json, data.start, data.end), 'utf8')
    case 'base64':
      return Buffer.from(stringAt(json, data.start, data.end), 'base64')
    default:
      return data satisfies never
  }
}

function decodedContent(value: Buffer | null): StructuredContent & { readonly value: Buffer } {
  const content = value === null ? null : structuredContent(value)
  if (value === null || content?.kind !== 'content') throw new TypeError('not an event that decodeEvent returned')
  return { ...content, value }
}
