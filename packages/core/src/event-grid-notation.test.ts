import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { translateEventGrid } from './event-grid-notation.ts'
import { parseSubscription } from './parse-subscription.ts'

type Json = Readonly<Record<string, unknown>>

const samples = new URL('../samples/event-grid/', import.meta.url)
const sampleNames = readdirSync(samples).map((file) => file.replace(/\.json$/, ''))

function sample(name: string): Json {
  return JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8')) as Json
}

/** What a document, and what is written beside it, is translated into. */
function translated(document: Json, beside: Json = { id: 'a', topics: ['orders'] }) {
  const translation = translateEventGrid({ ...document, ...beside })
  if (translation.kind === 'invalid') throw new Error(translation.problems.map(({ message }) => message).join('\n'))
  return translation
}

function problems(document: Json, beside: Json = { id: 'a', topics: ['orders'] }): readonly string[] {
  const translation = translateEventGrid({ ...document, ...beside })
  return translation.kind === 'invalid' ? translation.problems.map(({ message }) => message) : []
}

const url = 'https://billing.example.com/hook'
const hook = { endpointType: 'WebHook', properties: { endpointUrl: url } }
const topics = { topics: ['orders'] }
const cloud = {
  topics: ['orders'],
  sink: url,
  input: 'event-grid',
  schema: 'EventGridSchema',
  mode: 'structured',
  retry: { schedule: 'event-grid' },
  notation: 'event-grid',
  handshake: 'event-grid',
  deadLetter: 'none',
}
const kubernetes = {
  ...cloud,
  input: 'cloudevents',
  schema: 'CloudEventSchemaV1_0',
  retry: { schedule: 'event-grid-kubernetes' },
  notation: 'event-grid-kubernetes',
  handshake: 'none',
}
const blob = { blob: { account: 'shopdeadletters', container: 'dead-letters' } }
const subject = { subject: { beginsWith: '/orders/', endsWith: '/paid' } }

/** What each sample becomes, with `topics` beside it, and with `id: given` beside those that have no name. */
const expected: Readonly<Record<string, Json>> = {
  'put-least': { ...cloud, id: 'given' },
  'put-everything': {
    ...cloud,
    id: 'given',
    input: 'cloudevents',
    schema: 'CloudEventSchemaV1_0',
    handshake: 'cloudevents',
    batch: { maxEvents: 100, preferredSize: '128KB' },
    headers: { 'X-Team': 'billing', 'X-Customer': { path: '$.data.customer.id' } },
    types: ['order.paid', 'order.refunded'],
    filters: [
      { subject: { beginsWith: '/orders/', endsWith: '/paid', caseSensitive: true } },
      {
        advanced: {
          operatorType: 'NumberInRange',
          key: 'data.amount',
          values: [
            [1, 5],
            [9, 12.5],
          ],
          onArrays: true,
        },
      },
      { advanced: { operatorType: 'StringIn', key: 'data.country', values: ['de', 'fr'], onArrays: true } },
      { advanced: { operatorType: 'BoolEquals', key: 'data.express', value: true, onArrays: true } },
      { advanced: { operatorType: 'IsNotNull', key: 'data.customer', onArrays: true } },
    ],
    retry: { schedule: 'event-grid', maxAttempts: 10, timeToLive: '30m' },
    deadLetter: blob,
  },
  'put-custom-schema': { ...cloud, id: 'given', input: 'custom', schema: 'CustomInputSchema' },
  'put-identity': { ...cloud, id: 'given', deadLetter: blob },
  patch: { ...cloud, id: 'given', filters: [subject], retry: { schedule: 'event-grid', maxAttempts: 5 } },
  'rest-create': { ...cloud, id: 'orderstobilling', filters: [subject] },
  'rest-update': { ...cloud, id: 'orders-to-billing', filters: [subject] },
  'rest-function-url': {
    ...cloud,
    id: 'function',
    sink: 'https://shop.example.com/runtime/webhooks/EventGrid?functionName=Billing&code=<HIDDEN>',
    deadLetter: blob,
  },
  'arm-resource': {
    ...cloud,
    id: 'orders-to-billing',
    batch: { maxEvents: 1, preferredSize: '64KB' },
    retry: { schedule: 'event-grid', maxAttempts: 30, timeToLive: '1440m' },
  },
  'az-show': {
    ...cloud,
    id: 'az-show',
    input: 'cloudevents',
    schema: 'CloudEventSchemaV1_0',
    handshake: 'cloudevents',
    batch: { maxEvents: 10 },
    headers: { 'X-Team': 'billing', 'X-Customer': { path: '$.data.customer' } },
    types: ['order.paid'],
    filters: [{ subject: { endsWith: '.json' } }],
    retry: { schedule: 'event-grid', maxAttempts: 30, timeToLive: '1440m' },
    deadLetter: blob,
  },
  'arm-template': {
    ...cloud,
    id: 'given',
    types: ['Microsoft.Storage.BlobCreated'],
    filters: [{ advanced: { operatorType: 'StringContains', key: 'data.blobType', values: ['BlockBlob'] } }],
  },
  // Row C5; `notation` is absent, so it is the cloud's engine.
  'kubernetes-document': {
    ...cloud,
    id: 'given',
    input: 'cloudevents',
    schema: 'CloudEventSchemaV1_0',
    handshake: 'cloudevents',
    retry: { schedule: 'event-grid', maxAttempts: 3, timeToLive: '30m' },
  },
  'kubernetes-batch': {
    ...kubernetes,
    id: 'given',
    batch: { maxEvents: 10, preferredSize: '64KB' },
    types: ['order.paid'],
    filters: [
      subject,
      { advanced: { operatorType: 'NumberGreaterThan', key: 'data.amount', value: 5 } },
      { advanced: { operatorType: 'StringBeginsWith', key: 'Subject', values: ['/orders'] } },
    ],
  },
}

describe('samples', () => {
  test('every sample is in the tables', () => {
    expect(sampleNames.toSorted()).toEqual([...Object.keys(expected), 'storage-queue', 'event-hub'].toSorted())
  })

  test.each(Object.entries(expected))('C5: %s becomes a subscription of ours', (name, fields) => {
    const id = fields['id'] === 'given' ? { id: 'given' } : {}
    expect(translated(sample(name), { ...topics, ...id }).fields).toEqual(fields)
  })

  test('C5: the document’s sample for Kubernetes, with `notation` beside it', () => {
    const beside = { id: 'a', ...topics, notation: 'event-grid-kubernetes' }
    expect(translated(sample('kubernetes-document'), beside).fields).toEqual({
      ...kubernetes,
      id: 'a',
      retry: { schedule: 'event-grid-kubernetes', maxAttempts: 3, timeToLive: '30m' },
    })
  })

  test.each([
    [
      'storage-queue',
      /^parameters\.eventSubscriptionInfo\.properties\.destination\.endpointType: StorageQueue is no destination here, only WebHook is; a webhook of yours/,
    ],
    [
      'event-hub',
      /^properties\.destination\.endpointType: EventHub is no destination here, only WebHook is; write its HTTP address/,
    ],
  ])('%s is refused by name, with what works instead', (name, message) => {
    expect(problems(sample(name))).toEqual([expect.stringMatching(message)])
  })

  test('what is not taken over is said', () => {
    expect(translated(sample('put-everything')).warnings).toEqual([
      'properties.labels: are not kept; they mean nothing to delivery',
    ])
    expect(translated(sample('put-identity')).warnings).toEqual([
      expect.stringMatching(
        /^properties\.deliveryWithResourceIdentity\.identity: is ignored, for there are no managed/,
      ),
      expect.stringMatching(/^properties\.deadLetterWithResourceIdentity\.identity: is ignored; the account/),
    ])
    for (const name of ['put-least', 'arm-resource', 'kubernetes-batch']) {
      expect(translated(sample(name)).warnings).toEqual([])
    }
  })
})

describe('our own fields beside `properties` win', () => {
  const document = sample('put-everything')

  test.each<[Json, Json]>([
    [
      { from: 'earliest', concurrency: 3, timeout: '5s' },
      { from: 'earliest', concurrency: 3, timeout: '5s' },
    ],
    [{ sink: 'https://other.example.com/' }, { sink: 'https://other.example.com/' }],
    [{ types: ['x'] }, { types: ['x'] }],
    [{ filters: [] }, { filters: [] }],
    [
      { mode: 'binary', handshake: 'none', notation: 'barnabas' },
      { mode: 'binary', handshake: 'none', notation: 'barnabas' },
    ],
    // Mappings field by field.
    [{ retry: { timeToLive: '2h' } }, { retry: { schedule: 'event-grid', maxAttempts: 10, timeToLive: '2h' } }],
    [{ deadLetter: { topic: 'mine' } }, { deadLetter: { ...blob, topic: 'mine' } }],
    [{ deadLetter: 'none' }, { deadLetter: 'none' }],
    [{ batch: { maxEvents: 5 } }, { batch: { maxEvents: 5, preferredSize: '128KB' } }],
    [
      { headers: { 'x-team': 'sales', 'X-Key': { secret: 'KEY' } } },
      { headers: { 'X-Customer': { path: '$.data.customer.id' }, 'x-team': 'sales', 'X-Key': { secret: 'KEY' } } },
    ],
    [
      { input: 'custom', inputSchemaMapping: { id: { sourceField: 'n' } } },
      { input: 'custom', inputSchemaMapping: { id: { sourceField: 'n' } } },
    ],
    // As Azure's topics have it.
    [
      { inputSchemaMapping: { inputSchemaMappingType: 'Json', properties: { id: { sourceField: 'n' } } } },
      { inputSchemaMapping: { id: { sourceField: 'n' } } },
    ],
  ])('%j', (beside, fields) => {
    const { fields: all } = translated(document, { id: 'a', ...topics, ...beside })
    expect(all).toMatchObject(fields)
    for (const [name, value] of Object.entries(fields)) expect(all[name]).toEqual(value)
  })

  test('a sink beside another destination takes its place', () => {
    const { fields, warnings } = translated(sample('event-hub'), { id: 'a', ...topics, sink: url, endpoint: 'azure' })
    expect(fields).toMatchObject({
      sink: url,
      endpoint: 'azure',
      headers: { PartitionKey: { path: '$.data.customer' } },
    })
    expect(warnings).toEqual([expect.stringMatching(/^properties\.destination\.endpointType: EventHub gets nothing/)])
  })

  test('dead letters may be added by hand on Kubernetes', () => {
    const beside = { id: 'a', ...topics, deadLetter: { topic: 'mine' } }
    expect(translated(sample('kubernetes-batch'), beside).fields).toMatchObject({ deadLetter: { topic: 'mine' } })
  })

  test('an unknown one is left to the ordinary schema, which refuses it by name', () => {
    const parsed = parseSubscription({ ...sample('put-least'), id: 'a', ...topics, filter: {} })
    expect(parsed.kind === 'invalid' && parsed.problems.map(({ message }) => message)).toContain(
      'filter: is not a known field (did you mean filters?)',
    )
  })
})

describe('names and ids', () => {
  const named = (name: unknown, beside: Json = topics) => ({ name, properties: { destination: hook }, ...beside })

  test.each([
    ['OrdersToBilling', 'orderstobilling'],
    [' a ', 'a'],
    ['9-lives', '9-lives'],
    ['a'.repeat(63), 'a'.repeat(63)],
  ])('%j becomes %j', (name, id) => {
    expect(translated(named(name), {}).fields['id']).toBe(id)
  })

  test.each([
    ['My_Sub.1', '--id my-sub-1,'],
    ['-a', '--id a,'],
    ['a'.repeat(64), `--id ${'a'.repeat(63)},`],
    ['topic/Microsoft.EventGrid/Sub', '--id sub,'],
    ["[concat(parameters('topic'), '/Blob Created')]", '--id blob-created,'],
    ['äöü', '--id ID'],
    [7, '7 is not text'],
  ])('%j is refused with a proposal', (name, proposal) => {
    expect(problems(named(name), {})).toEqual([expect.stringContaining(proposal)])
    expect(problems(named(name), {})[0]).toMatch(/^name: /)
    expect(problems(named(name), { id: 'mine' })).toEqual([])
  })

  test('a resource id is no id, but ends with the name', () => {
    const id = '/subscriptions/1/providers/Microsoft.EventGrid/eventSubscriptions/FromId'
    expect(translated({ id, properties: { destination: hook } }, topics).fields['id']).toBe('fromid')
  })

  test('without them it is said how Azure’s path is supplied', () => {
    expect(problems(sample('put-least'), {})).toEqual([
      'id: is missing; add --id ID, or write `id: ID` beside `properties`',
      "topics: is missing: Event Grid's JSON does not say which Kafka topic is read; add --topic TOPIC, or `topics: [TOPIC]` beside `properties`",
    ])
  })
})

function put(properties: Json): Json {
  return { properties: { destination: hook, ...properties } }
}

function webhook(properties: Json): Json {
  return put({ destination: { endpointType: 'WebHook', properties: { endpointUrl: url, ...properties } } })
}

const onKubernetes = { id: 'a', ...topics, notation: 'event-grid-kubernetes' }

test.each<[Json, RegExp]>([
  [
    put({ retryPolicy: { maxDeliveryAttempts: 0 } }),
    /^properties\.retryPolicy\.maxDeliveryAttempts: 0 is not a whole number from 1 to 30$/,
  ],
  [put({ retryPolicy: { maxDeliveryAttempts: 31 } }), /maxDeliveryAttempts: 31 is not/],
  [put({ retryPolicy: { maxNumberOfAttempts: 31 } }), /maxNumberOfAttempts: 31 is not/],
  [
    put({ retryPolicy: { maxNumberOfAttempts: 3, maxDeliveryAttempts: 4 } }),
    /maxNumberOfAttempts: 3 is not the 4 of maxDeliveryAttempts/,
  ],
  [
    put({ retryPolicy: { eventTimeToLiveInMinutes: 0 } }),
    /eventTimeToLiveInMinutes: 0 is not a whole number from 1 to 1440$/,
  ],
  [put({ retryPolicy: { eventTimeToLiveInMinutes: 1441 } }), /eventTimeToLiveInMinutes: 1441 is not/],
  [put({ retryPolicy: { eventTimeToLiveInMinutes: '30' } }), /eventTimeToLiveInMinutes: "30" is not/],
  [
    put({ retryPolicy: { maxDeliveryAttemps: 3 } }),
    /maxDeliveryAttemps: is not a field of Event Grid that is known here \(did you mean maxDeliveryAttempts\?\)/,
  ],
  [
    put({ eventDeliverySchema: 'CustomEventSchema' }),
    /^properties\.eventDeliverySchema: "CustomEventSchema" is not known; one of .*did you mean CustomInputSchema/,
  ],
  [
    put({ expirationTimeUtc: '2030-01-01T00:00:00Z' }),
    /^properties\.expirationTimeUtc: a subscription does not expire here/,
  ],
  [
    put({ deliveryConfiguration: { deliveryMode: 'Push' }, filtersConfiguration: {} }),
    /^properties\.deliveryConfiguration: belongs to a subscription of a namespace topic, .* `properties\.destination`/,
  ],
  [put({ filters: {} }), /^properties\.filters: is not a field .*did you mean filter\?/],
  [
    put({ filter: { subjectIsCaseSensitive: true } }),
    /subjectIsCaseSensitive: is not a field .*did you mean isSubjectCaseSensitive/,
  ],
  [put({ filter: { includedEventTypes: 'a' } }), /includedEventTypes: "a" is not a list/],
  [webhook({ endpointUrl: undefined }), /^properties\.destination\.properties\.endpointUrl: is missing; write https/],
  [
    webhook({ endpointUrl: undefined, endpointBaseUrl: url }),
    /endpointUrl: is missing: Azure's answers show endpointBaseUrl alone.*--include-full-endpoint-url/,
  ],
  [webhook({ endpointUrl: `${url}?code=***` }), /endpointUrl: its query was masked/],
  [webhook({ maxEventsPerBatch: 0 }), /maxEventsPerBatch: 0 is not a whole number from 1 to 5000$/],
  [webhook({ maxEventsPerBatch: 5_001 }), /maxEventsPerBatch: 5001 is not/],
  [
    webhook({ preferredBatchSizeInKilobytes: 1_025 }),
    /preferredBatchSizeInKilobytes: 1025 is not a whole number from 1 to 1024$/,
  ],
  [webhook({ minimumTlsVersionAllowed: '1.3' }), /minimumTlsVersionAllowed: "1\.3" is not known/],
  [
    webhook({ azureActiveDirectoryTenantId: 't' }),
    /azureActiveDirectoryTenantId: tokens of Microsoft Entra ID are not fetched here; .*headers: { Authorization: { secret: NAME } }/,
  ],
  [
    webhook({
      deliveryAttributeMappings: [{ name: 'X-Key', type: 'Static', properties: { value: 's3cret', isSecret: true } }],
    }),
    /deliveryAttributeMappings\[0\]\.properties\.isSecret: a secret may not be stored .*`headers: { X-Key: { secret: X_KEY } }`.*BARNABAS_SECRET_X_KEY$/,
  ],
  [
    webhook({
      deliveryAttributeMappings: Array.from({ length: 11 }, (_, index) => ({
        name: `X-${index}`,
        type: 'Static',
        properties: { value: 'v' },
      })),
    }),
    /deliveryAttributeMappings: has 11 entries, more than 10/,
  ],
  [
    webhook({
      deliveryAttributeMappings: ['X-A', 'x-a'].map((name) => ({ name, type: 'Static', properties: { value: 'v' } })),
    }),
    /deliveryAttributeMappings\[1\]\.name: "x-a" stands twice/,
  ],
  [
    webhook({ deliveryAttributeMappings: [{ name: 'X-A', type: 'Dynamic', properties: { value: 'v' } }] }),
    /properties\.value: belongs to a Static mapping/,
  ],
  [
    put({ destination: { endpointType: 'WebHoook', properties: { endpointUrl: url } } }),
    /endpointType: "WebHoook" is not known; one of WebHook, .*did you mean WebHook/,
  ],
  [put({ destination: { properties: { endpointUrl: url } } }), /endpointType: is missing; write WebHook/],
  [{ filter: {}, retryPolicy: {} }, /^destination: is missing, and a subscription is applied whole, as with PUT/],
  [
    put({ deliveryWithResourceIdentity: { identity: {}, destination: hook } }),
    /deliveryWithResourceIdentity: stands beside destination/,
  ],
  [
    put({
      deadLetterDestination: { endpointType: 'StorageBlob', properties: { resourceId: 'acc', blobContainerName: 'c' } },
    }),
    /resourceId: "acc" is not the resource id of a storage account; write /,
  ],
  [
    put({
      deadLetterDestination: {
        endpointType: 'StorageQueue',
        properties: { resourceId: '/storageAccounts/a', blobContainerName: 'c' },
      },
    }),
    /deadLetterDestination\.endpointType: "StorageQueue" is not known; one of StorageBlob/,
  ],
  [
    put({ deadLetterDestination: { endpointType: 'StorageBlob', properties: { resourceId: '/storageAccounts/a' } } }),
    /blobContainerName: is missing/,
  ],
  [
    { ...put({}), type: 'Microsoft.EventGrid/topics' },
    /^type: "Microsoft\.EventGrid\/topics" is not an event subscription/,
  ],
  [{ parameters: { topicInfo: {} } }, /^parameters: holds no eventSubscriptionInfo/],
  [
    {
      properties: {
        destination: {
          endpointType: 'WebHook',
          properties: { endpointUrl: url, eventDeliverySchema: 'EventGridSchema' },
        },
        eventDeliverySchema: 'CloudEventSchemaV1_0',
      },
    },
    /destination\.properties\.eventDeliverySchema: EventGridSchema is not CloudEventSchemaV1_0/,
  ],
])('%j is refused: %s', (document, message) => {
  const beside = { id: 'a', ...topics }
  expect(problems(document, beside).filter((each) => message.test(each))).toHaveLength(1)
  // Never a secret.
  expect(problems(document, beside).join()).not.toContain('s3cret')
})

test.each<[Json, RegExp]>([
  [
    { deadLetterDestination: { endpointType: 'StorageBlob' } },
    /^properties\.deadLetterDestination: Event Grid on Kubernetes has no dead-lettering; .*`deadLetter: {}`/,
  ],
  [
    { deadLetterWithResourceIdentity: {} },
    /deadLetterWithResourceIdentity: Event Grid on Kubernetes has no dead-lettering/,
  ],
  [
    { eventDeliverySchema: 'EventGridSchema' },
    /eventDeliverySchema: Event Grid on Kubernetes delivers CloudEvents only, not EventGridSchema/,
  ],
  [
    { filter: { enableAdvancedFilteringOnArrays: true } },
    /enableAdvancedFilteringOnArrays: .*does not filter on arrays/,
  ],
  ...[
    'StringNotContains',
    'StringNotBeginsWith',
    'StringNotEndsWith',
    'NumberInRange',
    'NumberNotInRange',
    'IsNullOrUndefined',
    'IsNotNull',
  ].map((operatorType): [Json, RegExp] => [
    { filter: { advancedFilters: [{ operatorType, key: 'data.a' }] } },
    new RegExp(`advancedFilters\\[0\\]\\.operatorType: ${operatorType} is not supported`),
  ]),
  [
    { filter: { advancedFilters: [{ operatorType: 'StringIn', key: 'region', values: ['eu'] }] } },
    /advancedFilters\[0\]\.key: "region" is an extension attribute/,
  ],
])('on Kubernetes %j is refused, and in the cloud it is not', (properties, message) => {
  expect(problems(put(properties), onKubernetes)).toEqual([expect.stringMatching(message)])
  expect(problems(put(properties)).filter((each) => message.test(each))).toEqual([])
})

test.each<[string, boolean]>([
  ...['id', 'source', 'subject', 'type', 'specversion', 'time', 'datacontenttype', 'dataschema', 'data'].map(
    (key): [string, boolean] => [key, true],
  ),
  ['Subject', true],
  ['data.region', true],
  ['Data.order.region', true],
  ['data_base64', false],
  ['database', false],
  ['eventType', false],
  ['topic', false],
  ['comexampleextension', false],
  ['region.data', false],
  ['$.data.region', false],
])('on Kubernetes the key %s is taken: %j (spec 1.5: no extension attributes)', (key, isTaken) => {
  const filter = { advancedFilters: [{ operatorType: 'StringIn', key, values: ['eu'] }] }
  const refusal = `properties.filter.advancedFilters[0].key: "${key}" is an extension attribute, which`
  const refusals: unknown[] = isTaken ? [] : [expect.stringContaining(refusal)]
  expect(problems(put({ filter }), onKubernetes)).toEqual(refusals)
  expect(problems(put({ filter }))).toEqual([])
})

// As the samples of the REST specification have them; the later ones are of 2023-06-01-preview and 2023-12-15-preview.
test.each<[string, Json]>([
  ['AzureFunction', { resourceId: '/a/sites/shop/functions/Billing', maxEventsPerBatch: 1 }],
  ['EventHub', { resourceId: '/a/namespaces/shop/eventhubs/orders' }],
  ['ServiceBusQueue', { resourceId: '/a/namespaces/shop/queues/orders' }],
  ['ServiceBusTopic', { resourceId: '/a/namespaces/shop/topics/orders' }],
  ['HybridConnection', { resourceId: '/a/namespaces/shop/hybridConnections/orders' }],
  ['StorageQueue', { resourceId: '/a/storageAccounts/shop', queueName: 'orders', queueMessageTimeToLiveInSeconds: -1 }],
  ['PartnerDestination', { resourceId: '/a/partnerDestinations/shop' }],
  ['MonitorAlert', { severity: 'Sev2', description: 'an alert', actionGroups: ['/a/actiongroups/shop'] }],
  ['NamespaceTopic', { resourceId: '/a/namespaces/shop/topics/orders' }],
])(
  '%s is refused by its name, with what to write instead; with a sink beside it that is delivered to',
  (type, properties) => {
    const document = put({ destination: { endpointType: type, properties } })
    expect(problems(document)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^properties\\.destination\\.endpointType: ${type} is no destination here, .*(sink:|endpointUrl) https://`,
        ),
      ),
    ])
    const { fields, warnings } = translated(document, { id: 'a', ...topics, sink: url })
    expect(fields['sink']).toBe(url)
    expect(warnings.filter((each) => each.includes(`${type} gets nothing from here`))).toHaveLength(1)
  },
)

test.each<[string, Json]>([
  ['of a topic on Kubernetes', { topicName: 'orders', topicInfo: { kind: 'AzureArc' } }],
  ['that reads a subscription', { scope: 'subscriptions/1', eventSubscriptionName: 'orders' }],
])('a sample of the REST specification %s is refused as no event subscription', (_what, parameters) => {
  expect(problems({ parameters, responses: {} })).toContainEqual(
    expect.stringContaining('parameters: holds no eventSubscriptionInfo'),
  )
})

test.each(['eventSubscriptionInfo', 'eventSubscriptionUpdateParameters', 'parameters'])(
  'a sample of the REST specification may have its body in `%s`',
  (body) => {
    const parameters = { scope: 'subscriptions/1', eventSubscriptionName: 'Orders', [body]: webhook({}) }
    const { fields } = translated({ parameters, responses: {} }, topics)
    expect(fields).toMatchObject({ id: 'orders', sink: url, handshake: 'event-grid' })
  },
)

test('TLS versions that are not spoken, and tokens that an own header stands in for, are warnings', () => {
  const document = webhook({ minimumTlsVersionAllowed: '1.0', azureActiveDirectoryTenantId: 't' })
  const beside = { id: 'a', ...topics, headers: { authorization: { secret: 'TOKEN' } } }
  expect(translated(document, beside).warnings).toEqual([
    expect.stringContaining('azureActiveDirectoryTenantId: is ignored; `headers.Authorization`'),
    expect.stringContaining('minimumTlsVersionAllowed: 1.0 is not spoken here; TLS 1.2 is the lowest'),
  ])
})

test('a secret header is accepted where ours stands beside it', () => {
  const mapping = { name: 'X-Key', type: 'Static', properties: { value: 'Hidden', isSecret: true } }
  const beside = { id: 'a', ...topics, headers: { 'x-key': { secret: 'KEY' } } }
  expect(translated(webhook({ deliveryAttributeMappings: [mapping] }), beside).fields['headers']).toEqual({
    'x-key': { secret: 'KEY' },
  })
})

describe('what the ordinary schema refuses is told in Event Grid’s words, at its place', () => {
  const advanced = (count: number, values: readonly unknown[] = ['x']) =>
    put({
      filter: {
        subjectBeginsWith: '/',
        advancedFilters: Array.from({ length: count }, () => ({ operatorType: 'StringIn', key: 'data.a', values })),
      },
    })

  test.each<[Json, string, RegExp]>([
    [
      webhook({ endpointUrl: '<your_webhook_url>' }),
      'properties.destination.properties.endpointUrl',
      /"<your_webhook_url>" is not an http\(s\) URL/,
    ],
    [
      webhook({ endpointUrl: 'https://u:p@example.com/' }),
      'properties.destination.properties.endpointUrl',
      /user name and password/,
    ],
    [
      put({ filter: { includedEventTypes: ['x'.repeat(1_025)] } }),
      'properties.filter.includedEventTypes[0]',
      /more than 1024/,
    ],
    [put({ filter: { subjectEndsWith: 'x'.repeat(1_025) } }), 'properties.filter.subjectEndsWith', /more than 1024/],
    [advanced(26, ['x']), 'properties.filter.advancedFilters[25]', /more than 25 advanced filters/],
    [advanced(1, ['x'.repeat(513)]), 'properties.filter.advancedFilters[0].values[0]', /513 characters, more than 512/],
    [
      advanced(
        2,
        Array.from({ length: 13 }, () => 'x'),
      ),
      'properties.filter.advancedFilters[1].values',
      /above 25/,
    ],
    [
      put({ filter: { advancedFilters: [{ operatorType: 'StringIs', key: 'a' }] } }),
      'properties.filter.advancedFilters[0].operatorType',
      /"StringIs" is not an operator/,
    ],
  ])('%#', (document, place, message) => {
    const parsed = parseSubscription({ ...document, id: 'a', ...topics })
    const texts = parsed.kind === 'invalid' ? parsed.problems.map((problem) => problem.message) : []
    const found = texts.filter((text) => text.startsWith(`${place}: `))
    expect(found).toEqual([expect.stringMatching(message)])
  })
})
