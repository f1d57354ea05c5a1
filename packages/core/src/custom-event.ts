import { rfc3339 } from './delivery-headers.ts'
import { attributesOf, metadataVersionDefault } from './event-grid-members.ts'
import type { EventGridEnvelope } from './event-grid-members.ts'
import type { ForeignEvent } from './event.ts'
import { jsonAt, parseJsonPath, scalarText } from './json-path.ts'
import type { JsonPath } from './json-path.ts'
import { soleJsonObject } from './json-text.ts'
import type { TopicPartition } from './record.ts'

/** Where a member of the envelope comes from: a field of the document, else the default. */
export interface FieldMapping {
  readonly sourceField?: string
  readonly defaultValue?: string
}

/** `topic.properties.inputSchemaMapping` of Event Grid: how a document of one's own becomes an event (spec page §4). */
export interface InputSchemaMapping {
  readonly id?: FieldMapping
  readonly topic?: FieldMapping
  readonly eventTime?: FieldMapping
  readonly eventType?: FieldMapping
  readonly subject?: FieldMapping
  readonly dataVersion?: FieldMapping
}

/** What a document stands for that says nothing of its type. */
export const eventTypeDefault = 'Custom'

/** Where a record stood on its source topic, and when it was written (ms since the epoch): the same on every retry. */
export interface CustomRecord extends TopicPartition {
  readonly offset: number
  readonly publishTime: number
}

type Decoded =
  { readonly kind: 'event'; readonly event: ForeignEvent } | { readonly kind: 'malformed'; readonly message: string }

/**
 * Reads a value as one document of a custom schema: any JSON object (or an array of one), which becomes the data of an
 * event. What is not mapped, or not there, is made of the record's place and time, so that a retry has the same id;
 * `eventType`, `subject` and `dataVersion` that are mapped, not there and without a default make it malformed.
 */
export function decodeCustomEvent(value: Buffer | null, mapping: InputSchemaMapping, record: CustomRecord): Decoded {
  const found = soleJsonObject(value)
  if (found.kind === 'malformed') return found
  const { json } = found
  const problems: string[] = []
  const mapped = (name: keyof InputSchemaMapping): string | null => {
    const { sourceField, defaultValue } = mapping[name] ?? {}
    return (sourceField === undefined ? null : fieldText(json, sourceField)) ?? defaultValue ?? null
  }
  const mappedOr = (name: 'eventType' | 'subject' | 'dataVersion', unmapped: string): string => {
    const text = mapped(name)
    if (text !== null && (text !== '' || name !== 'eventType')) return text
    if (mapping[name] === undefined) return unmapped
    const what = `\`${mapping[name].sourceField ?? ''}\` is not text, a number or a boolean in the document`
    problems.push(`it has no ${name}: ${text === null ? what : `\`${mapping[name].sourceField ?? ''}\` is empty`}`)
    return ''
  }
  const { topic, partition, offset } = record
  // As a retry record spells it, which is what the later attempts are made from.
  const eventTime = rfc3339(record.publishTime)
  const envelope: EventGridEnvelope = {
    // With the time: a topic that was deleted and made again counts its offsets anew.
    id: mapped('id') || `${topic}-${partition}-${offset}-${Date.parse(eventTime)}`,
    topic: mapped('topic') || topic,
    subject: mappedOr('subject', ''),
    eventType: mappedOr('eventType', eventTypeDefault),
    eventTime: mapped('eventTime') || eventTime,
    dataVersion: mappedOr('dataVersion', ''),
    metadataVersion: metadataVersionDefault,
  }
  const [problem] = problems
  if (problem !== undefined) return { kind: 'malformed', message: `no event by inputSchemaMapping: ${problem}` }
  return {
    kind: 'event',
    event: { mode: 'custom', attributes: attributesOf(envelope), value: json, envelope, data: json },
  }
}

/** A member of that very name, else what the name leads to as a path; text, a number or a boolean as it is written. */
function fieldText(json: Buffer, sourceField: string): string | null {
  const found = jsonAt(json, [sourceField]) ?? jsonAt(json, pathOf(sourceField))
  return found === null ? null : scalarText(found)
}

const paths = new Map<string, JsonPath>()
const pathsMax = 10_000

function pathOf(sourceField: string): JsonPath {
  const known = paths.get(sourceField)
  if (known !== undefined) return known
  if (paths.size >= pathsMax) paths.clear()
  const path = parseJsonPath(sourceField) ?? [sourceField]
  paths.set(sourceField, path)
  return path
}
