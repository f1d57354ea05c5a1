import type { CloudEvent, ForeignEvent } from './event.ts'
import { withMembers } from './json-append.ts'
import { jsonMembers } from './json-members.ts'

/**
 * An event in Event Grid's schema: as it came, with what it lacks of the schema, or the envelope that its custom document was given, with the document
 * as it stands under `data`. Throws for a CloudEvent, which has no such form (`apply` refuses it: its extension
 * attributes would be lost).
 */
export function eventGridJson(event: CloudEvent): Buffer {
  if (event.mode === 'event-grid') return withSchemaMembers(event)
  if (event.mode !== 'custom')
    throw new TypeError(`a CloudEvent in ${event.mode} mode has no form in Event Grid's schema`)
  const { id, topic, subject, eventType, eventTime, dataVersion, metadataVersion } = event.envelope
  const head = JSON.stringify({ id, topic, subject, eventType, eventTime, dataVersion, metadataVersion })
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"data":`),
    event.data ?? Buffer.from('null'),
    Buffer.from('}'),
  ])
}

/**
 * With `dataVersion` and `data` where its publisher left them out: Azure's SDKs refuse an event, and the whole batch with
 * it, that lacks one of them. Not where one of that name in another case is there, for some receivers take it for the same.
 */
function withSchemaMembers({ value, envelope, data }: ForeignEvent): Buffer {
  if (envelope.dataVersion !== null && data !== null) return value
  const names = jsonMembers(value).map(({ name }) => name)
  const isElsewhere = (wanted: string) =>
    names.some((name) => name !== wanted && name.toLowerCase() === wanted.toLowerCase())
  const missing = [
    ...(data === null && !isElsewhere('data') ? [['data', Buffer.from('null')] as const] : []),
    ...(envelope.dataVersion === null && !isElsewhere('dataVersion')
      ? [['dataVersion', Buffer.from('""')] as const]
      : []),
  ]
  return withMembers(value, missing)
}

/** The document that a producer wrote, as it stands. Throws for an event that did not come in a custom schema. */
export function customJson(event: CloudEvent): Buffer {
  if (event.mode !== 'custom') throw new TypeError('only an event of a custom schema has a custom form')
  return event.value
}
