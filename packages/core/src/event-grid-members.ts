/** The members of an event in Event Grid's schema beside its data. */
export interface EventGridEnvelope {
  readonly id: string
  /** Where it comes from: CloudEvents' `source`. */
  readonly topic: string
  /** May be empty. */
  readonly subject: string
  readonly eventType: string
  readonly eventTime: string
  /** Null where the event has none; may be empty. */
  readonly dataVersion: string | null
  readonly metadataVersion: string
}

export const metadataVersionDefault = '1'

/**
 * The same event by its CloudEvents names: `topic` is the source, as Event Grid itself converts it. It writes
 * `dataVersion` as a `dataschema` of `#1.0`, which is no absolute URI and so no valid CloudEvent; here it is the extension
 * attribute `dataversion`.
 */
export function attributesOf(envelope: EventGridEnvelope): ReadonlyMap<string, string> {
  const { id, topic, subject, eventType, eventTime, dataVersion } = envelope
  const attributes = new Map([
    ['specversion', '1.0'],
    ['type', eventType],
    ['source', topic],
    ['id', id],
    ['time', eventTime],
  ])
  if (subject !== '') attributes.set('subject', subject)
  if (dataVersion !== null && dataVersion !== '') attributes.set('dataversion', dataVersion)
  return attributes
}
