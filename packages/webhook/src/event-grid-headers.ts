import type { CloudEvent, RequestShape, SourcePosition } from '@barnabas/core'
import { agreedValue } from './own-headers.ts'

export interface EventGridHeadersOptions {
  readonly shape: RequestShape
  readonly attemptNumber: number
  readonly source?: SourcePosition | undefined
}

/**
 * Event Grid's own headers (spec page §2.1). The name is in upper case and the count 0 on the first attempt, as the
 * service really sends them. What the events of a batch do not agree on is left out, because one value would be wrong
 * for some of them; so is an empty version.
 */
export function addEventGridHeaders(
  headers: Record<string, string>,
  events: readonly [CloudEvent, ...CloudEvent[]],
  { shape, attemptNumber, source }: EventGridHeadersOptions,
): void {
  headers['aeg-event-type'] = 'Notification'
  headers['aeg-subscription-name'] = shape.id.toUpperCase()
  headers['aeg-delivery-count'] = String(attemptNumber - 1)
  if (events.length === 1 && source !== undefined) {
    headers['aeg-output-event-id'] = `${source.topic}-${source.partition}-${source.offset}`
  }
  if (shape.schema === 'CloudEventSchemaV1_0') {
    headers['aeg-metadata-version'] = '1.0'
    return
  }
  for (const [name, member] of versions) {
    const value = agreedValue(events, (event) => ('envelope' in event ? event.envelope[member] : null))
    if (value !== null) headers[name] = value
  }
}

const versions = [
  ['aeg-data-version', 'dataVersion'],
  ['aeg-metadata-version', 'metadataVersion'],
] as const
