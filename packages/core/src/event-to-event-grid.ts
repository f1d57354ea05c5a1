import type { CloudEvent } from './event.ts'

/**
 * An event in Event Grid's schema: as it came, or the envelope that its custom document was given, with the document
 * as it stands under `data`. Throws for a CloudEvent, which has no such form (`apply` refuses it: its extension
 * attributes would be lost).
 */
export function eventGridJson(event: CloudEvent): Buffer {
  if (event.mode === 'event-grid') return event.value
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

/** The document that a producer wrote, as it stands. Throws for an event that did not come in a custom schema. */
export function customJson(event: CloudEvent): Buffer {
  if (event.mode !== 'custom') throw new TypeError('only an event of a custom schema has a custom form')
  return event.value
}
