import { parseDuration } from './duration.ts'
import { translateEventGrid } from './event-grid-notation.ts'
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

  const beside = differences(fields, read)
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
    if (batch['maxEvents'] !== undefined) parts.push(webhook({ maxEventsPerBatch: batch['maxEvents'] }))
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

/** What has to stand beside `properties`, so that what is read from there is what was written; of mappings what differs. */
function differences(written: Fields, read: Fields): Fields {
  const retry = { schedule: 'event-grid', ...(written['retry'] as Fields | undefined) }
  const wanted: Fields = { ...withoutAbsent(ownDefaults, read), ...written, retry }
  const differing = Object.entries(wanted).filter(([name, value]) => !isSame(value, read[name]))
  return Object.fromEntries(differing.map(([name, value]) => [name, differingFields(value, read[name])]))
}

function withoutAbsent(fields: Fields, present: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => present[name] !== undefined))
}

function differingFields(wanted: unknown, found: unknown): unknown {
  if (!isMapping(wanted) || !isMapping(found)) return wanted
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(value, found[name])))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(meaningOf(one)) === JSON.stringify(meaningOf(other))
}

/** `24h` and `1440m`, `64KB` and `65536B` mean the same. */
function meaningOf(value: unknown): unknown {
  const duration = parseDuration(value)
  if (duration !== null) return { duration }
  const size = parseSize(value)
  if (size !== null) return { size }
  if (Array.isArray(value)) return value.map(meaningOf)
  if (!isMapping(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, meaningOf(each)] as const)
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

function withPart(whole: Fields, part: Fields): Fields {
  const entries = Object.entries(part).map(([name, value]) => {
    const below = whole[name]
    return [name, isMapping(below) && isMapping(value) ? withPart(below, value) : value] as const
  })
  return { ...whole, ...Object.fromEntries(entries) }
}

/** Every value of the query may be a key; nobody can tell by its name. */
function maskedUrl(url: string): { readonly url: string; readonly isMasked: boolean } {
  const [whole = '', fragment] = url.split(/#(.*)/s)
  const [base = '', query] = whole.split(/\?(.*)/s)
  if (query === undefined || query === '') return { url, isMasked: false }
  const masked = query.split('&').map((part) => (part.includes('=') ? part.replace(/=.*$/s, '=***') : '***'))
  return { url: `${base}?${masked.join('&')}${fragment === undefined ? '' : `#${fragment}`}`, isMasked: true }
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
