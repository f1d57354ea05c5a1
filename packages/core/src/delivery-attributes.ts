import { binaryData } from './event-data.ts'
import type { CloudEvent } from './event.ts'
import { jsonAt, scalarText } from './json-path.ts'
import type { JsonPath } from './json-path.ts'
import { parseJson } from './json-text.ts'
import { isJsonMediaType } from './media-type.ts'

/** A header of one's own on every request of a subscription (row A20; Event Grid calls it a delivery attribute). */
export type DeliveryAttribute =
  | { readonly kind: 'static'; readonly name: string; readonly value: string }
  /** The value is known to the services alone, by this name. */
  | { readonly kind: 'secret'; readonly name: string; readonly secret: string }
  /** The value stands in the event. */
  | { readonly kind: 'dynamic'; readonly name: string; readonly path: JsonPath }

export const headersMax = 10
export const headerValueBytesMax = 4_096

/** What is wrong with a text as the value of a header, without the text itself; null for nothing. */
export function headerValueProblem(value: string): string | null {
  if (value === '') return 'is empty'
  if (/[^\x20-\x7e]/.test(value)) return 'holds a line break, a control character or one beyond ASCII'
  if (value.startsWith(' ') || value.endsWith(' ')) return 'begins or ends with a space, which HTTP does not carry'
  if (value.length <= headerValueBytesMax) return null
  return `has ${value.length} bytes, more than ${headerValueBytesMax}`
}

/**
 * The text that a path leads to in an event, as the event stands on its topic: of a CloudEvent a context attribute
 * (`$.type`) or what is in its data (`$.data.x`), of an event in another schema a member by its name there. Null where
 * there is none, and for what is not text, a number or a boolean (spec page §1.3).
 */
export function textAt(event: CloudEvent, path: JsonPath): string | null {
  if (event.mode === 'event-grid' || event.mode === 'custom') return scalarAt(event.value, path)
  const [first, ...below] = path
  if (first !== 'data') return below.length > 0 ? null : (event.attributes.get(String(first)) ?? null)
  const { contentType, body } = binaryData(event)
  if (body === null || (contentType !== undefined && !isJsonMediaType(contentType))) return null
  // The data of an event in binary mode was never looked at.
  return parseJson(body).kind === 'json' ? scalarAt(trimmed(body), below) : null
}

function scalarAt(json: Buffer, path: JsonPath): string | null {
  const found = jsonAt(json, path)
  return found === null ? null : scalarText(found)
}

/** Without the white space and the byte order mark that may stand around a JSON text. */
function trimmed(json: Buffer): Buffer {
  const isAround = (byte: number) => byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf
  let start = 0
  let end = json.length
  while (start < end && isAround(json[start]!)) start += 1
  while (end > start && json[end - 1]! <= 0x20) end -= 1
  return json.subarray(start, end)
}

/**
 * A text as the value of a header: what is not printable ASCII, and `%`, as percent-encoded UTF-8, and so are spaces at
 * its ends. So no text can smuggle a header, and every text can be read back. Null where none can stand there: it is
 * empty or has more than 4,096 bytes, and half of it would be another value.
 */
export function headerValueOf(text: string): string | null {
  const value = text.replace(/[^\x20-\x7e]+|%|^ +| +$/g, encodeURIComponent)
  return value === '' || value.length > headerValueBytesMax ? null : value
}
