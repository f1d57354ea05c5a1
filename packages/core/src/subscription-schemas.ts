import type { FieldMapping, InputSchemaMapping } from './custom-event.ts'
import type { KafkaRecordInput } from './kafka-record-event.ts'
import { didYouMean } from './nearest-name.ts'
import { schemasOf } from './schemas.ts'
import type { DeliverySchema, EventInput, Notation } from './schemas.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { isMapping, problemAt, shown } from './subscription-field.ts'
import { kafkaRecordOf } from './subscription-kafka-record.ts'
import type { WrittenKafkaRecord } from './subscription-kafka-record.ts'

const textLengthMax = 1_024
const withoutDefault = ['id', 'topic', 'eventTime'] as const
const withDefault = ['eventType', 'subject', 'dataVersion'] as const
const mappedNames = [...withoutDefault, ...withDefault]

/**
 * Reads `inputSchemaMapping` by Event Grid's rules (spec page §4): `id`, `topic` and `eventTime` have a source alone,
 * the other three a source, a default or both. Event Grid's wrapping in `properties` is taken off.
 */
export function readInputSchemaMapping(value: unknown, report: Report): 'none' | InputSchemaMapping | undefined {
  if (value === 'none') return value
  if (!isMapping(value)) return report(`${shown(value)} is not a mapping; write { eventType: { sourceField: kind } }`)
  const { inputSchemaMappingType: type, properties, ...others } = value
  if (properties !== undefined) {
    if (type !== undefined && type !== 'Json')
      return report(`${shown(type)} is not known; only Json`, 'inputSchemaMappingType')
    const [other] = Object.keys(others)
    if (other !== undefined) return report('stands beside properties; everything is written in there', other)
    return readInputSchemaMapping(properties, report)
  }
  const mapping: Record<string, FieldMapping> = {}
  for (const [name, entry] of Object.entries(value)) {
    const known = mappedNames.find((each) => each === name)
    if (known === undefined) return report(`is not a field of an event${didYouMean(name, mappedNames)}`, name)
    const mapped = readFieldMapping(
      entry,
      withDefault.some((each) => each === known),
      report,
      known,
    )
    if (mapped === undefined) return undefined
    mapping[known] = mapped
  }
  return mapping
}

function readFieldMapping(value: unknown, mayDefault: boolean, report: Report, name: string): FieldMapping | undefined {
  const allowed = mayDefault ? ['sourceField', 'defaultValue'] : ['sourceField']
  const example = mayDefault ? '{ sourceField: kind, defaultValue: none }' : '{ sourceField: key }'
  if (!isMapping(value)) return report(`${shown(value)} is not a mapping; write ${example}`, name)
  // Event Grid's own JSON writes what is not set as null.
  const entries = Object.entries(value).filter(([, text]) => text !== null)
  for (const [key, text] of entries) {
    if (!allowed.includes(key)) return report(`is not known here; ${allowed.join(' or ')}`, name, key)
    if (typeof text !== 'string') return report(`${shown(text)} is not text`, name, key)
    if (text === '' && (key === 'sourceField' || name === 'eventType')) return report('is empty', name, key)
    if (text.length > textLengthMax) {
      return report(`has ${text.length} characters, more than ${textLengthMax}`, name, key)
    }
  }
  if (entries.length === 0) return report(`is empty; write ${example}`, name)
  return Object.fromEntries(entries) as FieldMapping
}

/** What of a written subscription says which schemas it takes and gives. */
export interface WrittenSchemas {
  readonly input?: EventInput | undefined
  readonly inputSchemaMapping?: 'none' | InputSchemaMapping | undefined
  readonly kafkaRecord?: 'none' | WrittenKafkaRecord | undefined
  readonly schema?: DeliverySchema | undefined
  readonly mode?: 'binary' | 'structured' | undefined
  readonly notation?: Notation | undefined
}

export interface ResolvedSchemas {
  readonly input: EventInput
  readonly inputSchemaMapping: InputSchemaMapping
  readonly kafkaRecord?: KafkaRecordInput
  readonly notation: Notation
  readonly schema: DeliverySchema
  readonly mode: 'binary' | 'structured'
}

/**
 * Everything but a CloudEvent is structured JSON, and so is a CloudEvent in Event Grid's notation unless it says
 * otherwise: its delivery knows no binary mode, and the arrays of Kubernetes rule it out.
 */
export function schemasOfWritten(written: WrittenSchemas): ResolvedSchemas {
  const { input = 'cloudevents', inputSchemaMapping = 'none', schema = 'CloudEventSchemaV1_0' } = written
  const { notation = 'barnabas' } = written
  const implied = schema === 'CloudEventSchemaV1_0' && notation === 'barnabas' ? 'binary' : 'structured'
  return {
    input,
    inputSchemaMapping: inputSchemaMapping === 'none' ? {} : inputSchemaMapping,
    ...(input === 'kafka-record' ? { kafkaRecord: kafkaRecordOf(written.kafkaRecord) } : {}),
    notation,
    schema,
    mode: written.mode ?? implied,
  }
}

export function problemsOfSchemas(written: WrittenSchemas): SubscriptionProblem[] {
  const { input, notation, schema, mode } = schemasOfWritten(written)
  const problems: SubscriptionProblem[] = []
  if (!schemasOf[input].includes(schema)) problems.push(problemAt(['schema'], refusalOf(input, schema)))
  if (written.inputSchemaMapping !== undefined && written.inputSchemaMapping !== 'none' && input !== 'custom') {
    problems.push(
      problemAt(['inputSchemaMapping'], `says how to read input: custom, not ${input}; leave one of them out`),
    )
  }
  if (written.kafkaRecord !== undefined && written.kafkaRecord !== 'none' && input !== 'kafka-record') {
    problems.push(
      problemAt(['kafkaRecord'], `says how to read input: kafka-record, not ${input}; leave one of them out`),
    )
  }
  if (mode === 'binary' && schema !== 'CloudEventSchemaV1_0') {
    problems.push(problemAt(['mode'], `only CloudEvents have a binary mode; with schema: ${schema} leave it out`))
  } else if (mode === 'binary' && notation === 'event-grid-kubernetes') {
    problems.push(problemAt(['mode'], `notation: ${notation} delivers arrays, which have no binary mode; leave it out`))
  }
  return problems
}

function refusalOf(input: EventInput, schema: DeliverySchema): string {
  if (schema === 'CustomInputSchema') {
    return `only a custom document can be delivered as one; with input: ${input} choose one of ${schemasOf[input].join(', ')}`
  }
  if (input === 'kafka-record')
    return `a Kafka record is delivered as a CloudEvent; with input: ${input} only CloudEventSchemaV1_0`
  return `CloudEvents have no form in Event Grid's schema, which would lose their extension attributes; with input: ${input} only ${schemasOf[input].join(', ')}`
}

/** What may surprise whoever reads the events by their type. */
export function warningsAboutSchemas(
  { input, inputSchemaMapping, schema }: ResolvedSchemas,
  typeDefault: string,
): string[] {
  if (input !== 'custom' || schema === 'CustomInputSchema' || inputSchemaMapping.eventType !== undefined) return []
  return [`inputSchemaMapping: says nothing of eventType, so every event has the type ${typeDefault}`]
}
