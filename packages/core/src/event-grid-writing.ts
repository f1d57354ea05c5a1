import { parseDuration } from './duration.ts'
import { translateEventGrid } from './event-grid-notation.ts'
import { differences, maskedUrl, withoutAbsent, withPart } from './notation-writing.ts'
import type { ReadSubscription } from './parse-subscription.ts'
import { parseSize } from './size.ts'
import { isMapping } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

export interface EventGridDocument {
  /** A whole resource; our own fields that Event Grid has no word for stand beside its `properties`. */
  readonly document: Fields
  /** What a reader has to know: what Event Grid does not understand, what is masked, what is not known any more. */
  readonly notes: readonly string[]
}

/** What our own notation means where nothing is written, and Event Grid's something else. */
const ownDefaults: Fields = {
  input: 'cloudevents',
  schema: 'CloudEventSchemaV1_0',
  mode: 'binary',
  handshake: 'none',
  deadLetter: {},
}

/**
 * Writes a subscription in Event Grid's notation, so that `parseSubscription` reads the same again: whatever the
 * notation cannot say stands beside `properties`. Secrets are masked: those of the sink's query, which may hold
 * any (a masked one is refused when it is read), and those of headers, which are known here by their name alone.
 */
export function writeEventGrid(
  { subscription, written }: ReadSubscription,
  revision: number | null,
): EventGridDocument {
  const fields: Fields = written
  const { notation, schema } = subscription
  const secrets = secretHeaders(fields['headers'])
  const own = { notation, topics: written.topics, ...(Object.keys(secrets).length > 0 ? { headers: secrets } : {}) }

  let properties: Fields = webhook({ endpointUrl: written.sink })
  let read = translated({ ...own, id: written.id, properties }) ?? {}
  for (const part of [{ eventDeliverySchema: schema }, ...expressible(fields)]) {
    const candidate = withPart(properties, part)
    // What this engine of Event Grid refuses stands beside.
    const translation = translated({ ...own, id: written.id, properties: candidate })
    if (translation === null) continue
    properties = candidate
    read = translation
  }

  const beside = differences(wantedOf(fields, read), read)
  const { url, isMasked } = maskedUrl(written.sink)
  const document = {
    name: written.id,
    type: 'Microsoft.EventGrid/eventSubscriptions',
    ...own,
    ...beside,
    ...(isMapping(beside['headers']) ? { headers: { ...secrets, ...beside['headers'] } } : {}),
    ...(revision === null ? {} : { revision }),
    properties: withPart(properties, webhook(isMasked ? { endpointUrl: url, endpointBaseUrl: url.split('?')[0] } : {})),
  }
  return { document, notes: notesOf(document, properties, isMasked) }
}

/** What can be said in Event Grid's words, in parts of which each is left out where its engine refuses it. */
function expressible(fields: Fields): readonly Fields[] {
  const { batch, types, filters, retry, deadLetter, headers } = fields
  const parts: Fields[] = []
  if (isMapping(batch)) {
    const bytes = parseSize(batch['preferredSize'])
    if (Number(batch['maxEvents']) <= 5_000) parts.push(webhook({ maxEventsPerBatch: batch['maxEvents'] }))
    if (bytes !== null && bytes % 1_024 === 0) parts.push(webhook({ preferredBatchSizeInKilobytes: bytes / 1_024 }))
  }
  const mappings = isMapping(headers) ? Object.entries(headers).flatMap(mappingOf) : []
  if (mappings.length > 0) parts.push(webhook({ deliveryAttributeMappings: mappings }))
  if (Array.isArray(types) && types.length > 0) parts.push({ filter: { includedEventTypes: types } })
  const filter = filterOf(Array.isArray(filters) ? filters : [])
  if (filter !== null) parts.push({ filter })
  if (isMapping(retry)) {
    const minutes = (parseDuration(retry['timeToLive']) ?? 0) / 60_000
    if (retry['maxAttempts'] !== undefined) parts.push({ retryPolicy: { maxDeliveryAttempts: retry['maxAttempts'] } })
    if (minutes > 0) parts.push({ retryPolicy: { eventTimeToLiveInMinutes: minutes } })
  }
  const blob = isMapping(deadLetter) ? deadLetter['blob'] : undefined
  if (isMapping(blob)) parts.push({ deadLetterDestination: blobDestination(blob) })
  return parts
}

function webhook(properties: Fields): Fields {
  return { destination: { endpointType: 'WebHook', properties } }
}

function mappingOf([name, value]: readonly [string, unknown]): readonly Fields[] {
  if (typeof value === 'string') return [{ name, type: 'Static', properties: { value, isSecret: false } }]
  if (!isMapping(value)) return []
  // As Azure's answers have it.
  if (value['secret'] !== undefined) {
    return [{ name, type: 'Static', properties: { value: 'Hidden', isSecret: true } }]
  }
  const path = value['path']
  if (typeof path !== 'string') return []
  return [{ name, type: 'Dynamic', properties: { sourceField: path.replace(/^\$\./, '') } }]
}

function secretHeaders(headers: unknown): Fields {
  const entries = isMapping(headers) ? Object.entries(headers) : []
  return Object.fromEntries(entries.filter(([, value]) => isMapping(value) && value['secret'] !== undefined))
}

/** One filter of the subject and then advanced ones that agree about arrays; null for any others. */
function filterOf(filters: readonly unknown[]): Fields | null {
  const operators = filters.map((filter) => (isMapping(filter) ? Object.keys(filter).join() : ''))
  if (filters.length === 0 || !/^(subject)?(,?advanced)*$/.test(operators.join())) return null
  const operandsOf = (name: string) =>
    filters.flatMap((filter) => (isMapping(filter) && isMapping(filter[name]) ? [filter[name]] : []))
  const [subject = {}] = operandsOf('subject')
  const advanced = operandsOf('advanced')
  const onArrays = advanced.some((each) => each['onArrays'] === true)
  const { beginsWith, endsWith, caseSensitive } = subject
  return {
    ...(beginsWith === undefined ? {} : { subjectBeginsWith: beginsWith }),
    ...(endsWith === undefined ? {} : { subjectEndsWith: endsWith }),
    ...(caseSensitive === undefined ? {} : { isSubjectCaseSensitive: caseSensitive }),
    ...(onArrays ? { enableAdvancedFilteringOnArrays: true } : {}),
    ...(advanced.length === 0 ? {} : { advancedFilters: advanced.map(({ onArrays: _onArrays, ...each }) => each) }),
  }
}

function blobDestination({ account, container }: Fields): Fields {
  const resourceId = `/providers/Microsoft.Storage/storageAccounts/${String(account)}`
  return { endpointType: 'StorageBlob', properties: { resourceId, blobContainerName: container } }
}

function translated(document: Fields): Fields | null {
  const translation = translateEventGrid(document)
  return translation.kind === 'translated' ? translation.fields : null
}

/** What has to come out of the translation, so that it is what was written. */
function wantedOf(written: Fields, read: Fields): Fields {
  const retry = { schedule: 'event-grid', ...(written['retry'] as Fields | undefined) }
  return { ...withoutAbsent(ownDefaults, read), ...written, retry }
}

function notesOf(document: Fields, properties: Fields, isMasked: boolean): readonly string[] {
  const eventGridOwn = ['name', 'type', 'notation', 'topics', 'revision', 'properties']
  const beside = Object.keys(document).filter((name) => !eventGridOwn.includes(name))
  const notes: string[] = []
  if (beside.length > 0) {
    const what = `Event Grid has no word for what stands in ${beside.join(', ')}`
    notes.push(`${what}: it stands beside \`properties\`, where \`barnabas apply\` reads it and Azure does not`)
  }
  if (isMasked) {
    notes.push(
      'endpointUrl: its query is masked with ***, for it may hold a secret; write it again before you apply this',
    )
  }
  if (properties['deadLetterDestination'] !== undefined) {
    notes.push("deadLetterDestination: of its resourceId only the account's name is known here")
  }
  return notes
}
