import { customJson, eventGridJson } from './event-to-event-grid.ts'
import { structuredBytes, structuredJson } from './event-to-structured.ts'
import type { CloudEvent } from './event.ts'
import type { DeliverySchema } from './schemas.ts'

/** An event as JSON in the schema that a subscription delivers. Throws for a conversion that `apply` refuses. */
export function eventJson(event: CloudEvent, schema: DeliverySchema): Buffer {
  switch (schema) {
    case 'CloudEventSchemaV1_0':
      return structuredJson(event)
    case 'EventGridSchema':
      return eventGridJson(event)
    case 'CustomInputSchema':
      return customJson(event)
    default:
      return schema satisfies never
  }
}

/** The length of `eventJson`, for whoever fills a batch. */
export function eventJsonBytes(event: CloudEvent, schema: DeliverySchema): number {
  return schema === 'CloudEventSchemaV1_0' ? structuredBytes(event) : eventJson(event, schema).length
}
