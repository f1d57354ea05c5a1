/** Event Grid's schemas and headers, from a source topic to the receiver, its retry and its dead letter: rows A2, A15 and A20. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventGridDeserializer } from '@azure/eventgrid'
import { HTTP } from 'cloudevents'
import type { CloudEvent } from 'cloudevents'
import { beforeAll, describe, expect, test } from 'vitest'
import { apply, barnabasCommand, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { structuredEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'

const prefix = randomName('schemas')
const cleanUp = cleanUpAfterAll()
const token = 'hunter2-and-longer'
let receiver: Receiver
let letters: FollowedTopics
let control: ControlTopics
let secrets: string
const topics: Record<string, string> = {}

/** JSON that no one could parse and write again as it stands. */
const data = '{"customer": {"id": "k-1\\n€"}, "n": 9007199254740993, "one": 1.0, "twice": 1, "twice": 2}'
const cloudEvent = `{"specversion":"1.0", "id":"ce","source":"/tests","type":"paid","region":"eu","data":${data}}`
const eventGrid = `{"id":"eg","topic":"/t","eventType":"paid","subject":"/s","eventTime":"2026-01-02T03:04:05.6789Z","dataVersion":"1.0", "metadataVersion":"1","data":${data}}`
const custom = `{ "key": "cu", "kind": "paid", "customer": {"id": "k-1\\n€"}, "n": 9007199254740993, "one": 1.0 }`
/** As Event Grid posts it. */
const inArray = `[ ${eventGrid} ]\n`

const inputSchemaMapping = { id: { sourceField: 'key' }, eventType: { sourceField: 'kind' } }
const headers = {
  'X-Team': 'billing',
  Authorization: { secret: 'TOKEN' },
  'X-Renewed': { secret: 'RENEWED' },
}

beforeAll(async () => {
  receiver = await startReceiver(({ path, attempt, headers: got }) => {
    if (path.endsWith('/again')) return attempt === 1 ? 503 : 204
    if (path.endsWith('/refused')) return { status: 400, body: JSON.stringify(got) }
    return 204
  })
  cleanUp(() => receiver.close())
  secrets = await mkdtemp(join(tmpdir(), 'barnabas-secrets-'))
  cleanUp(() => rm(secrets, { recursive: true, force: true }))
  await writeFile(join(secrets, 'RENEWED'), 'from a file\n')
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix, { BARNABAS_SECRET_TOKEN: token, BARNABAS_SECRETS_DIR: secrets })
  cleanUp(() => barnabas.stop())
  for (const input of ['cloudevents', 'event-grid', 'custom', 'array', 'headers', 'late', 'never', 'damaged']) {
    topics[input] = await createSourceTopic(prefix, input)
  }
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

const subscriptionTo = (id: string, input: string, rest: Record<string, unknown>, path = ''): Written => ({
  id,
  topics: [topics[input]!],
  sink: `${receiver.url}/${id}${path}`,
  ...rest,
})

async function receivedAt(path: string, count = 1): Promise<readonly ReceivedRequest[]> {
  const there = (all: readonly ReceivedRequest[]) => all.filter((request) => request.path === path)
  return there(await receiver.until((all) => there(all).length >= count))
}

async function letterOf(subscription: string): Promise<FollowedRecord> {
  const isIt = (record: FollowedRecord) => header(record, 'barnabas-subscription') === subscription
  return (await letters.until((all) => all.some(isIt))).find(isIt)!
}

const objectType = 'application/cloudevents+json; charset=utf-8'
const arrayType = 'application/json; charset=utf-8'
const asCloudEvent = (attributes: string, json: string) => `{"specversion":"1.0",${attributes},"data":${json}}`
const fromEventGrid = asCloudEvent(
  '"type":"paid","source":"/t","id":"eg","time":"2026-01-02T03:04:05.6789Z","subject":"/s","dataversion":"1.0"',
  data,
)

describe('A15: every conversion there is', () => {
  const cells = [
    ['cloudevents', 'CloudEventSchemaV1_0', objectType],
    ['event-grid', 'CloudEventSchemaV1_0', objectType],
    ['event-grid', 'EventGridSchema', arrayType],
    ['custom', 'CloudEventSchemaV1_0', objectType],
    ['custom', 'EventGridSchema', arrayType],
    ['custom', 'CustomInputSchema', arrayType],
  ] as const
  const idOf = (input: string, schema: string) => `${input}-${schema.toLowerCase().replace(/[^a-z0-9]/g, '-')}`
  /** As milliseconds: the record's own timestamp is in what is made of it. */
  const writtenAt = Date.parse('2026-03-01T12:00:00.000Z')
  const wrapped = `{"id":"cu","topic":"TOPIC","subject":"","eventType":"paid","eventTime":"2026-03-01T12:00:00.000Z","dataVersion":"","metadataVersion":"1","data":${custom}}`
  const bodies: Record<string, string> = {
    'cloudevents-cloudeventschemav1-0': cloudEvent,
    'event-grid-cloudeventschemav1-0': fromEventGrid,
    'event-grid-eventgridschema': `[${eventGrid}]`,
    'custom-cloudeventschemav1-0': asCloudEvent(
      '"type":"paid","source":"TOPIC","id":"cu","time":"2026-03-01T12:00:00.000Z"',
      custom,
    ),
    'custom-eventgridschema': `[${wrapped}]`,
    'custom-custominputschema': `[${custom}]`,
  }

  beforeAll(async () => {
    const mapped = (input: string) => (input === 'custom' ? { inputSchemaMapping } : {})
    await apply(prefix, [
      ...cells.map(([input, schema]) =>
        subscriptionTo(idOf(input, schema), input, { input, schema, mode: 'structured', ...mapped(input) }),
      ),
      subscriptionTo('event-grid-binary', 'event-grid', { input: 'event-grid' }),
    ])
    await produce(plainKafka(), topics['cloudevents']!, [structuredEvent(cloudEvent)])
    await produce(plainKafka(), topics['event-grid']!, [{ value: eventGrid }])
    await produce(plainKafka(), topics['custom']!, [{ value: custom, timestamp: String(writtenAt) }])
  })

  test.each(cells)('A2: %s as %s, byte for byte', async (input, schema, contentType) => {
    const id = idOf(input, schema)
    const [request] = await receivedAt(`/${id}`)
    expect(request!.headers['content-type']).toBe(contentType)
    expect(request!.headers).not.toHaveProperty('accept')
    expect(request!.body.toString()).toBe(bodies[id]!.replace('TOPIC', topics['custom']!))
    const body = request!.body.toString()
    const deserializer = new EventGridDeserializer()
    if (schema === 'EventGridSchema') {
      const [event] = await deserializer.deserializeEventGridEvents(body)
      expect(event).toMatchObject({ id: input === 'custom' ? 'cu' : 'eg', eventType: 'paid' })
    }
    if (schema === 'CloudEventSchemaV1_0') {
      const event = HTTP.toEvent({ headers: request!.headers, body }) as CloudEvent<unknown>
      expect(event.validate()).toBe(true)
      const [byMicrosoft] = await deserializer.deserializeCloudEvents(body)
      expect({ id: byMicrosoft?.id, type: byMicrosoft?.type }).toEqual({ id: event.id, type: 'paid' })
    }
  })

  test('in binary mode an event in Event Grid’s schema is a CloudEvent, and its data the body', async () => {
    const [request] = await receivedAt('/event-grid-binary')
    expect(request!.body.toString()).toBe(data)
    expect(request!.headers).toMatchObject({
      'ce-specversion': '1.0',
      'ce-id': 'eg',
      'ce-source': '/t',
      'ce-type': 'paid',
      'ce-subject': '/s',
      'ce-time': '2026-01-02T03:04:05.6789Z',
      'ce-dataversion': '1.0',
      'content-type': 'application/json',
    })
  })
})

test('A15: types, filters and headers go by the event that is read, and a retry is the same event', async () => {
  const topic = await createSourceTopic(prefix, 'retried')
  topics['retried'] = topic
  const again = { input: 'custom', schema: 'EventGridSchema', retry: { schedule: ['100ms'] } }
  await apply(prefix, [
    subscriptionTo(
      'retried',
      'retried',
      {
        ...again,
        types: ['paid'],
        filters: [{ advanced: { operatorType: 'StringContains', key: 'customer.id', values: ['k-1'] } }],
        inputSchemaMapping: { eventType: { sourceField: 'kind' } },
        headers: { 'X-Customer': { path: '$.customer.id' } },
      },
      '/again',
    ),
  ])
  await produce(plainKafka(), topic, [{ value: custom.replace('"paid"', '"made"') }, { value: custom }])
  const [first, second] = await receivedAt('/retried/again', 2)
  expect(second!.attempt).toBe(2)
  expect(second!.body.toString()).toBe(first!.body.toString())
  const [event] = JSON.parse(second!.body.toString()) as readonly { readonly id: string }[]
  expect(event!.id).toMatch(new RegExp(`^${topic}-0-1-\\d+$`))
  expect(second!.headers['x-customer']).toBe('k-1%0A%E2%82%AC')
})

test('A15: a dead letter keeps the bytes and headers of its source record, whatever was delivered', async () => {
  const input = { input: 'event-grid', schema: 'EventGridSchema' }
  await apply(prefix, [subscriptionTo('refusing', 'array', { ...input, headers }, '/refused')])
  await produce(plainKafka(), topics['array']!, [{ key: 'k', value: inArray, headers: { 'x-mine': 'kept' } }])
  const [request] = await receivedAt('/refusing/refused')
  expect(request!.body.toString()).toBe(`[${eventGrid}]`)
  const letter = await letterOf('refusing')
  expect(letter.value?.toString()).toBe(inArray)
  expect(letter.key?.toString()).toBe('k')
  expect(header(letter, 'x-mine')).toBe('kept')
  expect(header(letter, 'barnabas-dead-letter-reason')).toBe('UndeliverableDueToHttpBadRequest')
  // The receiver sent back what it got.
  const answer = header(letter, 'barnabas-response-body')!
  expect(answer).toContain('"authorization":"***"')
  expect(answer).not.toContain(token)

  const args = ['dead-letters', 'list', '--event-id', 'eg', '-o', 'json']
  const { status, text } = await barnabasCommand(prefix, args)
  expect(status).toBe(0)
  const event = { id: 'eg', source: '/t', type: 'paid' }
  expect(JSON.parse(text)).toMatchObject([{ subscription: 'refusing', event }])
})

describe('A20: headers of a subscription', () => {
  test('text, secrets and what stands in the event', async () => {
    const dynamic = { 'X-N': { path: '$.data.n' }, 'X-Id': { path: '$.id' }, 'X-None': { path: '$.data.absent' } }
    await apply(prefix, [subscriptionTo('with-headers', 'headers', { headers: { ...headers, ...dynamic } })])
    await produce(plainKafka(), topics['headers']!, [structuredEvent(cloudEvent)])
    const [request] = await receivedAt('/with-headers')
    expect(request!.headers).toMatchObject({
      'x-team': 'billing',
      authorization: token,
      'x-renewed': 'from a file',
      'x-n': '9007199254740993',
      'x-id': 'ce',
    })
    expect(request!.headers).not.toHaveProperty('x-none')
    expect(JSON.stringify(await control.stored('with-headers'))).not.toContain(token)
  })

  test('without its secret a subscription is Start Failed, and starts when a file brings it', async () => {
    const late = { headers: { 'X-Late': { secret: 'LATE' } }, from: 'earliest' }
    await apply(prefix, [subscriptionTo('late', 'late', late)], {}, ['--no-wait'])
    const { reason } = await control.untilStatus('late', ({ status }) => status === 'Start Failed')
    expect(reason).toMatch(/^headers\.?\S*X-Late\S*: the secret LATE is not known .*; set BARNABAS_SECRET_LATE/)
    await produce(plainKafka(), topics['late']!, [structuredEvent(cloudEvent)])
    await writeFile(join(secrets, 'LATE'), 'here now')
    await control.untilStatus('late', ({ status }) => status === 'Running')
    const [request] = await receivedAt('/late')
    expect(request!.headers['x-late']).toBe('here now')
  })

  test("A3: in Event Grid's notation it goes on, and its events are dead letters at once", async () => {
    const never = { notation: 'event-grid', headers: { 'X-Never': { secret: 'NEVER' } }, handshake: 'none' }
    await apply(prefix, [subscriptionTo('never', 'never', never)])
    await produce(plainKafka(), topics['never']!, [structuredEvent(cloudEvent)])
    const letter = await letterOf('never')
    const told = ['dead-letter-reason', 'attempts', 'last-outcome'].map((name) => header(letter, `barnabas-${name}`))
    expect(told).toEqual(['DestinationInvalid', '0', null])
    expect(header(letter, 'barnabas-last-error')).toMatch(/^headers\.X-Never: the secret NEVER is not known/)
    const { reason } = await control.untilStatus('never', ({ status }) => status === 'Running')
    expect(reason).toMatch(/^reading 1 topic; its events are given up \(DestinationInvalid\): headers\.X-Never: /)
  })
})

test('A15: what is no event of the schema is a dead letter that says why', async () => {
  const input = { input: 'event-grid', schema: 'EventGridSchema' }
  await apply(prefix, [subscriptionTo('damaged', 'damaged', input)])
  await produce(plainKafka(), topics['damaged']!, [{ value: `[${eventGrid},${eventGrid}]` }, { value: eventGrid }])
  await receivedAt('/damaged')
  const letter = await letterOf('damaged')
  expect(header(letter, 'barnabas-dead-letter-reason')).toBe('EventMalformed')
  expect(header(letter, 'barnabas-last-error')).toBe('the value is an array of 2; a record carries one event')
  expect(letter.value?.toString()).toBe(`[${eventGrid},${eventGrid}]`)
})
