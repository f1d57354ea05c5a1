import type { Place } from './notation-place.ts'
import { placeAt, reportAt } from './notation-place.ts'
import { isMapping, shown } from './subscription-field.ts'

/** What stands around an event subscription in Azure's API, templates and answers, and says nothing about delivery. */
const envelopeFields = [
  'name',
  'type',
  'systemData',
  'apiVersion',
  'scope',
  'dependsOn',
  'location',
  'tags',
  'resourceGroup',
  'etag',
  // Of the samples of the REST specification.
  'parameters',
  'responses',
  'title',
  'operationId',
]

/** The fields of `properties`, which a PATCH body and the output of Azure's command line write without it. */
export const propertyFields = [
  'destination',
  'deliveryWithResourceIdentity',
  'filter',
  'labels',
  'expirationTimeUtc',
  'eventDeliverySchema',
  'retryPolicy',
  'deadLetterDestination',
  'deadLetterWithResourceIdentity',
  'topic',
  'provisioningState',
] as const

/** What the body is called in the samples of the REST specification; the last is that of 2017-06-15-preview. */
const bodyNames = ['eventSubscriptionInfo', 'eventSubscriptionUpdateParameters', 'parameters']

/** Those of them that say where to deliver; beside a `sink` the others are more likely a slip than Event Grid's. */
const destinationFields = ['destination', 'deliveryWithResourceIdentity']
const tellingFields = [
  ...destinationFields,
  'eventDeliverySchema',
  'retryPolicy',
  'deadLetterDestination',
  'deadLetterWithResourceIdentity',
]

/** An event subscription taken out of what Azure wraps it in. */
export interface Envelope {
  readonly properties: Place
  /** Every other field of its mappings, ours among them. */
  readonly own: Readonly<Record<string, unknown>>
  /** Azure's name of it, absent when there is none. */
  readonly name: Place
}

/** Whether somebody means an event subscription of Event Grid. */
export function isEventGrid(fields: Readonly<Record<string, unknown>>): boolean {
  const has = (name: string) => Object.hasOwn(fields, name)
  if (has('properties') || (has('parameters') && isMapping(fields['parameters']))) return true
  return (has('sink') ? destinationFields : tellingFields).some(has)
}

/**
 * Opens a `PUT` body, a flat `PATCH` body, a whole ARM resource, an answer of Azure's command line, or a sample of the
 * REST specification, which has the body in its `parameters`.
 */
export function openEnvelope(root: Place): Envelope {
  const parameters = placeAt(root, 'parameters')
  if (!isMapping(parameters.value)) return openBody(root)
  const bodies = bodyNames.map((name) => placeAt(parameters, name))
  const body = bodies.find(({ value }) => value !== undefined)
  if (body === undefined) {
    const mend = 'the samples of other things than event subscriptions mean nothing here'
    reportAt(parameters)(`holds no eventSubscriptionInfo; ${mend}`)
    return openBody(root)
  }
  const inner = openBody(body)
  const name = [placeAt(parameters, 'eventSubscriptionName'), nameOf(root), inner.name].find(hasValue)
  return { properties: inner.properties, own: { ...inner.own, ...ownOf(root, []) }, name: name ?? inner.name }
}

function openBody(body: Place): Envelope {
  const { value } = body
  if (!isMapping(value)) {
    reportAt(body)(`${shown(value)} is not a mapping of fields to values`)
    return { properties: { ...body, value: {} }, own: {}, name: placeAt(body, 'name') }
  }
  checkType(placeAt(body, 'type'))
  const wrapper = placeAt(body, 'properties')
  if (wrapper.value !== undefined) return { properties: wrapper, own: ownOf(body, ['properties']), name: nameOf(body) }
  const isProperty = (name: string) => propertyFields.some((each) => each === name)
  const properties = Object.fromEntries(Object.entries(value).filter(([name]) => isProperty(name)))
  return {
    properties: { ...body, value: properties },
    own: ownOf(body, ['properties', ...propertyFields]),
    name: nameOf(body),
  }
}

/** What stands in a mapping besides Event Grid's envelope and the fields that are named. */
function ownOf({ value }: Place, others: readonly string[]): Readonly<Record<string, unknown>> {
  const isResourceId = (name: string, each: unknown) => name === 'id' && (each === null || isPath(each))
  const isOwn = (name: string) => !others.includes(name) && !envelopeFields.includes(name)
  const entries = isMapping(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.filter(([name, each]) => isOwn(name) && !isResourceId(name, each)))
}

/** The name, or the end of the resource id. */
function nameOf(body: Place): Place {
  const name = placeAt(body, 'name')
  const id = placeAt(body, 'id')
  if (hasValue(name) || !isPath(id.value)) return name
  return { ...id, value: id.value.split('/').at(-1) }
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.includes('/')
}

function hasValue({ value }: Place): boolean {
  return value !== undefined
}

function checkType(type: Place): void {
  const { value } = type
  if (value === undefined || (typeof value === 'string' && /\/eventSubscriptions$/i.test(value.trim()))) return
  reportAt(type)(
    `${shown(value)} is not an event subscription; only Microsoft.EventGrid/eventSubscriptions is accepted`,
  )
}

/**
 * The id that a name becomes: in lower case, because ids are. null and a problem when it does not fit; it is never
 * changed beyond that, so that two names do not become one subscription by surprise.
 */
export function idOf(name: Place, beside = '`properties`'): string | null {
  const { value } = name
  if (value === undefined) return null
  if (typeof value !== 'string') {
    reportAt(name)(`${shown(value)} is not text`)
    return null
  }
  const id = value.trim().toLowerCase()
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return id
  const proposal = proposedId(id)
  const mend = proposal === '' ? 'add --id ID' : `add --id ${proposal}, or \`id: ${proposal}\` beside ${beside}`
  reportAt(name)(
    `${shown(value)} is no id: 1–63 lower-case letters, digits and "-", beginning with a letter or digit; ${mend}`,
  )
  return null
}

function proposedId(name: string): string {
  // Of a nested resource's name only the end is its own.
  const own = name.slice(0, 10_000).split('/').at(-1) ?? ''
  return own
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 63)
    .replace(/-$/, '')
}
