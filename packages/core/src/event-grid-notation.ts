import { translateDeadLetter } from './event-grid-dead-letter.ts'
import { translateDestination } from './event-grid-destination.ts'
import { idOf, openEnvelope, propertyFields } from './event-grid-envelope.ts'
import { translateFilter } from './event-grid-notation-filter.ts'
import type { Findings, Place } from './notation-place.ts'
import { comesFrom, entriesAt, fieldsAt, reportAt, textAt, warnAt, wordAt } from './notation-place.ts'
import { isOwn, merged } from './notation-own.ts'
import type { Translation } from './notation-own.ts'
import type { DeliverySchema } from './schemas.ts'
import { deliverySchemas } from './schemas.ts'
import { isMapping, problemAt, readNumber } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

const inputs = {
  EventGridSchema: 'event-grid',
  CustomInputSchema: 'custom',
  CloudEventSchemaV1_0: 'cloudevents',
} as const

/**
 * Translates an event subscription in Azure Event Grid's JSON (its REST API, 2020-10-15-preview; row C5 for Event
 * Grid on Kubernetes) into a subscription as a person would write it here. `notation` beside `properties` says which
 * of the two engines is meant. Our own fields may stand beside `properties`, and win: mappings field by field, all
 * others as a whole. Never throws, whatever the input.
 */
export function translateEventGrid(document: Fields): Translation {
  const findings: Findings = { product: 'Event Grid', problems: [], warnings: [], origins: [] }
  const { properties, own, name } = openEnvelope({ path: [], value: document, findings })
  if (isOfNamespace(properties)) return { kind: 'invalid', problems: findings.problems }
  const fields = fieldsAt(properties, propertyFields)
  const isKubernetes = own['notation'] === 'event-grid-kubernetes'
  checkWithoutMeaning(fields)
  const { schemaPlace, ...destination } = translateDestination(
    fields.destination,
    fields.deliveryWithResourceIdentity,
    own,
  )
  const schema = schemaOf(fields.eventDeliverySchema, schemaPlace, isKubernetes)
  const filter = translateFilter(fields.filter, isKubernetes)
  const retry = retryOf(fields.retryPolicy, isKubernetes)
  const deadLetter = translateDeadLetter(fields, isKubernetes)
  const { id, topics } = supplied(own, name, findings)
  if (findings.problems.length > 0) return { kind: 'invalid', problems: findings.problems }

  const translated = {
    id,
    topics,
    ...destination,
    input: inputs[schema],
    ...filter,
    schema,
    mode: 'structured',
    retry,
    notation: 'event-grid',
    handshake: isKubernetes ? 'none' : schema === 'CloudEventSchemaV1_0' ? 'cloudevents' : 'event-grid',
    deadLetter: deadLetter ?? 'none',
  }
  return {
    kind: 'translated',
    fields: merged(translated, withPlainMapping(own)),
    warnings: findings.warnings,
    origins: findings.origins.filter(({ ours }) => !isOwn(ours, own)),
  }
}

/** The namespace tier has another API, and a name for each thing of its own. */
function isOfNamespace(properties: Place): boolean {
  if (!isMapping(properties.value) || !Object.hasOwn(properties.value, 'deliveryConfiguration')) return false
  reportAt(properties)(
    'belongs to a subscription of a namespace topic, which is another API of Event Grid (the namespace tier); write that of ' +
      "a topic: push's `destination` as `properties.destination`, `maxDeliveryCount` and `eventTimeToLive` as " +
      '`retryPolicy.maxDeliveryAttempts` and `eventTimeToLiveInMinutes`, `filtersConfiguration` as `filter`',
    'deliveryConfiguration',
  )
  return true
}

/** What Azure has in the path of its request. */
function supplied(
  own: Fields,
  name: Place,
  { problems }: Findings,
): { readonly id: unknown; readonly topics: unknown } {
  const known = problems.length
  const id = Object.hasOwn(own, 'id') ? own['id'] : idOf(name)
  if (id === null && problems.length === known) {
    problems.push(problemAt(['id'], 'is missing; add --id ID, or write `id: ID` beside `properties`'))
  }
  if (!Object.hasOwn(own, 'topics')) {
    const why = "Event Grid's JSON does not say which Kafka topic is read"
    problems.push(
      problemAt(['topics'], `is missing: ${why}; add --topic TOPIC, or \`topics: [TOPIC]\` beside \`properties\``),
    )
  }
  return { id, topics: own['topics'] }
}

function checkWithoutMeaning({ expirationTimeUtc, labels }: Readonly<Record<'expirationTimeUtc' | 'labels', Place>>) {
  if (expirationTimeUtc.value !== undefined) {
    // Ignored, it would leave events flowing that nobody wants any more.
    reportAt(expirationTimeUtc)('a subscription does not expire here; take it out, and `barnabas delete` it in time')
  }
  const texts = entriesAt(labels, 10_000, '["label"]').map((label) => textAt(label, 10_000))
  if (texts.length > 0) warnAt(labels, 'are not kept; they mean nothing to delivery')
}

function schemaOf(place: Place, inDestination: Place | null, isKubernetes: boolean): DeliverySchema {
  comesFrom(inDestination ?? place, 'schema')
  comesFrom(inDestination ?? place, 'input')
  const beside = wordAt(place, deliverySchemas)
  const inside = inDestination === null ? undefined : wordAt(inDestination, deliverySchemas)
  if (inDestination !== null && beside !== undefined && inside !== undefined && beside !== inside) {
    reportAt(inDestination)(`${inside} is not ${beside}, which stands beside destination; write it once`)
  }
  const schema = inside ?? beside
  if (!isKubernetes) return schema ?? 'EventGridSchema'
  if (schema !== undefined && schema !== 'CloudEventSchemaV1_0') {
    const mend = 'write CloudEventSchemaV1_0, or take `notation` out for the cloud'
    reportAt(inDestination ?? place)(`Event Grid on Kubernetes delivers CloudEvents only, not ${schema}; ${mend}`)
  }
  return 'CloudEventSchemaV1_0'
}

function retryOf(place: Place, isKubernetes: boolean): Fields {
  const policy = fieldsAt(place, ['maxDeliveryAttempts', 'maxNumberOfAttempts', 'eventTimeToLiveInMinutes'])
  const { maxDeliveryAttempts, maxNumberOfAttempts, eventTimeToLiveInMinutes } = policy
  const attempts = numberAt(maxDeliveryAttempts, 30)
  const otherAttempts = numberAt(maxNumberOfAttempts, 30)
  if (attempts !== undefined && otherAttempts !== undefined && attempts !== otherAttempts) {
    reportAt(maxNumberOfAttempts)(
      `${otherAttempts} is not the ${attempts} of maxDeliveryAttempts; write one of the two`,
    )
  }
  const maxAttempts = attempts ?? otherAttempts
  const minutes = numberAt(eventTimeToLiveInMinutes, 1_440)
  comesFrom(place, 'retry')
  comesFrom(maxDeliveryAttempts.value === undefined ? maxNumberOfAttempts : maxDeliveryAttempts, 'retry', 'maxAttempts')
  comesFrom(eventTimeToLiveInMinutes, 'retry', 'timeToLive')
  return {
    schedule: isKubernetes ? 'event-grid-kubernetes' : 'event-grid',
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(minutes === undefined ? {} : { timeToLive: `${minutes}m` }),
  }
}

function numberAt(place: Place, max: number): number | undefined {
  return place.value === undefined ? undefined : readNumber(place.value, reportAt(place), 1, max)
}

/** An input mapping may be written as Azure's topics have it. */
function withPlainMapping(own: Fields): Fields {
  const mapping = own['inputSchemaMapping']
  if (!isMapping(mapping) || !Object.hasOwn(mapping, 'inputSchemaMappingType')) return own
  return mapping['inputSchemaMappingType'] === 'Json' ? { ...own, inputSchemaMapping: mapping['properties'] } : own
}
