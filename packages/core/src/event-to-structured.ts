import type { CloudEvent } from './event.ts'
import { isJson } from './json-append.ts'
import { isJsonMediaType, isTextMediaType, isUtf8MediaType } from './media-type.ts'
import { utf8Text } from './utf8.ts'

/**
 * An event in the JSON format (CloudEvents JSON format 1.0.2), to be sent as `application/cloudevents+json`. A
 * structured event's value is returned as it is. A binary event's data goes in as its JSON text stands (never
 * through JavaScript's numbers), as a string when it is text, otherwise as base64.
 */
export function structuredJson(event: CloudEvent): Buffer {
  return measured.get(event) ?? built(event)
}

/** What was written already, because somebody asked how large it is before it is sent. */
const measured = new WeakMap<CloudEvent, Buffer>()

/** The length of `structuredJson`, which is written once for both. */
export function structuredBytes(event: CloudEvent): number {
  const json = structuredJson(event)
  measured.set(event, json)
  return json.length
}

function built(event: CloudEvent): Buffer {
  if (event.mode === 'structured' && event.value !== null) return event.value
  const members = [...event.attributes].map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`)
  const head = `{${members.join(',')}`
  if (event.mode === 'event-grid' || event.mode === 'custom') return withJsonData(head, event.data)
  const data = event.value
  if (data === null || data.length === 0) return Buffer.from(`${head}}`)

  const contentType = event.attributes.get('datacontenttype') ?? 'application/json'
  const text = isUtf8MediaType(contentType) ? utf8Text(data) : undefined
  if (text !== undefined && isJsonMediaType(contentType) && isJson(text)) {
    return withJsonData(head, data)
  }
  if (text !== undefined && isTextMediaType(contentType) && !isJsonMediaType(contentType)) {
    return Buffer.from(`${head},"data":${JSON.stringify(text)}}`)
  }
  return Buffer.from(`${head},"data_base64":"${data.toString('base64')}"}`)
}

function withJsonData(head: string, data: Buffer | null): Buffer {
  if (data === null) return Buffer.from(`${head}}`)
  return Buffer.concat([Buffer.from(`${head},"data":`), data, Buffer.from('}')])
}
