/** What a subscription was written in (interface, "A subscription"): decides arrays, `aeg-` headers and what follows from them. */
export const notations = ['barnabas', 'event-grid', 'event-grid-kubernetes', 'eventbridge'] as const
export type Notation = (typeof notations)[number]

/** Event Grid's two, which share headers, statuses and the defaults of the engine. */
export function isEventGridNotation(notation: string | undefined): boolean {
  return notation === 'event-grid' || notation === 'event-grid-kubernetes'
}

/** What a source topic carries (interface, `input`). */
export const eventInputs = ['cloudevents', 'event-grid', 'custom', 'kafka-record'] as const
export type EventInput = (typeof eventInputs)[number]

/** What a webhook gets an event in, by Event Grid's names (row A15). */
export const deliverySchemas = ['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomInputSchema'] as const
export type DeliverySchema = (typeof deliverySchemas)[number]

/**
 * What each input can be delivered as (Event Grid spec page §4). CloudEvents have no form in Event Grid's schema, which
 * would lose their extension attributes; only a document of a custom schema can be handed on as one.
 */
export const schemasOf: Readonly<Record<EventInput, readonly DeliverySchema[]>> = {
  cloudevents: ['CloudEventSchemaV1_0'],
  'event-grid': ['CloudEventSchemaV1_0', 'EventGridSchema'],
  custom: ['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomInputSchema'],
  'kafka-record': ['CloudEventSchemaV1_0'],
}
