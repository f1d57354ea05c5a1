/** What a subscription was written in (interface, "A subscription"): decides arrays, `aeg-` headers and what follows from them. */
export const notations = ['barnabas', 'event-grid', 'event-grid-kubernetes'] as const
export type Notation = (typeof notations)[number]

/** What a webhook gets an event in, by Event Grid's names (row A15). */
export const deliverySchemas = ['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomInputSchema'] as const
export type DeliverySchema = (typeof deliverySchemas)[number]
