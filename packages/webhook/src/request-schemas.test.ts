import { decodeInput, handshakeRequest } from '@barnabas/core'
import type { CloudEvent, DeliveryAttribute, FindSecret, InputSchema, RequestShape } from '@barnabas/core'
import { EventGridDeserializer, isSystemEvent } from '@azure/eventgrid'
import { HTTP } from 'cloudevents'
import type { CloudEvent as SdkEvent } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { webhookRequest } from './request.ts'
import type { RequestSettings } from './request.ts'

const findSecret: FindSecret = (name) =>
  name === 'KEY' ? { kind: 'value', value: 'hunter2' } : { kind: 'unknown', message: `no ${name}` }
const settings: RequestSettings = { findSecret }
const shape: RequestShape = {
  id: 'orders-to-billing',
  notation: 'barnabas',
  handshake: 'none',
  schema: 'CloudEventSchemaV1_0',
  mode: 'structured',
  headers: [],
}
const source = { topic: 'orders', partition: 3, offset: 42 }
const data = '{"n": 9007199254740993, "one": 1.0}'
const eventGrid = (id: string, dataVersion = '1.0') =>
  `{"id":"${id}","topic":"/t","eventType":"paid","subject":"/s","eventTime":"2026-01-02T03:04:05Z","dataVersion":"${dataVersion}","metadataVersion":"1","data":${data}}`
const custom = (key: string) => `{"key": "${key}", "n": 1.0}`
const cloudEvent = (id: string) =>
  `{"specversion":"1.0","id":"${id}","source":"/orders","type":"paid","region":"eu","data":${data}}`

const inputs = {
  cloudevents: { input: 'cloudevents', inputSchemaMapping: {} },
  'event-grid': { input: 'event-grid', inputSchemaMapping: {} },
  custom: {
    input: 'custom',
    inputSchemaMapping: { id: { sourceField: 'key' }, eventType: { defaultValue: 'made' } },
  },
} as const satisfies Record<string, InputSchema>

function eventOf(input: keyof typeof inputs, json: string): CloudEvent {
  const decoded = decodeInput(inputs[input], { value: Buffer.from(json), headers: {} }, source, 0)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

type Events = readonly [CloudEvent, ...CloudEvent[]]
const request = (events: Events, change: Partial<RequestShape>, attemptNumber = 1, how = settings) =>
  webhookRequest(events, { shape: { ...shape, ...change }, attemptNumber, source }, how)

const arrayType = 'application/json; charset=utf-8'
const objectType = 'application/cloudevents+json; charset=utf-8'
const batchType = 'application/cloudevents-batch+json; charset=utf-8'
const asCloudEvent = (json: string) =>
  `{"specversion":"1.0","type":"paid","source":"/t","id":"${json}","time":"2026-01-02T03:04:05Z","subject":"/s","dataversion":"1.0","data":${data}}`
const wrapped = (key: string) =>
  `{"id":"${key}","topic":"orders","subject":"","eventType":"made","eventTime":"1970-01-01T00:00:00.000Z","dataVersion":"","metadataVersion":"1","data":${custom(key)}}`
const customAsCloudEvent = (key: string) =>
  `{"specversion":"1.0","type":"made","source":"orders","id":"${key}","time":"1970-01-01T00:00:00.000Z","data":${custom(key)}}`

describe('A2, A15, C1: content type and body, for one event and for several', () => {
  test.each([
    ['cloudevents', 'CloudEventSchemaV1_0', cloudEvent, cloudEvent, 'object'],
    ['event-grid', 'CloudEventSchemaV1_0', eventGrid, asCloudEvent, 'object'],
    ['event-grid', 'EventGridSchema', eventGrid, eventGrid, 'array'],
    ['custom', 'CloudEventSchemaV1_0', custom, customAsCloudEvent, 'object'],
    ['custom', 'EventGridSchema', custom, wrapped, 'array'],
    ['custom', 'CustomInputSchema', custom, custom, 'array'],
  ] as const)('%s as %s', (input, schema, written, delivered, single) => {
    const one = request([eventOf(input, written('a'))], { schema })
    expect(one.headers['content-type']).toBe(single === 'object' ? objectType : arrayType)
    expect(one.body?.toString()).toBe(single === 'object' ? delivered('a') : `[${delivered('a')}]`)
    expect(one.headers).not.toHaveProperty('accept')

    const two = request([eventOf(input, written('a')), eventOf(input, written('b'))], { schema })
    expect(two.headers['content-type']).toBe(single === 'object' ? batchType : arrayType)
    expect(two.body?.toString()).toBe(`[${delivered('a')},${delivered('b')}]`)

    const kubernetes = request([eventOf(input, written('a'))], { schema, notation: 'event-grid-kubernetes' })
    expect(kubernetes.headers['content-type']).toBe(single === 'object' ? batchType : arrayType)
    expect(kubernetes.body?.toString()).toBe(`[${delivered('a')}]`)
  })
})

test.each([
  ['cloudevents', ['CloudEventSchemaV1_0'], (json: string) => cloudEvent('a').replace(data, json)],
  ['event-grid', ['EventGridSchema', 'CloudEventSchemaV1_0'], (json: string) => eventGrid('a').replace(data, json)],
  [
    'custom',
    ['CustomInputSchema', 'EventGridSchema', 'CloudEventSchemaV1_0'],
    (json: string) => `{"key": "a", "document": ${json}}`,
  ],
] as const)(
  '10 MB of data in %s come byte for byte in every schema, and what a header names is found in them',
  (input, schemas, written) => {
    const item = '{"name": "x\\u00e4\\n", "n": 1.50},'
    const large = `{"items": [${item.repeat(10_000_000 / item.length)}0], "last": "found"}`
    const event = eventOf(input, written(large))
    const paths = [['data', 'last'] as const, ['document', 'last'] as const, ['data', 'document', 'last'] as const]
    const headers = paths.map((path, index) => ({ kind: 'dynamic', name: `X-${index}`, path }) as const)
    for (const schema of schemas) {
      const { body, headers: sent } = request([event], { schema, headers })
      expect(body!.includes(large), schema).toBe(true)
      expect(Object.values(sent), schema).toContain('found')
    }
  },
)

describe('what arrives is read by the SDKs', () => {
  const deserializer = new EventGridDeserializer()

  test("Microsoft's, in Event Grid's schema", async () => {
    const { body } = request([eventOf('event-grid', eventGrid('a')), eventOf('event-grid', eventGrid('b'))], {
      schema: 'EventGridSchema',
    })
    const events = await deserializer.deserializeEventGridEvents(body!.toString())
    expect(events.map(({ id, eventType, subject, dataVersion }) => ({ id, eventType, subject, dataVersion }))).toEqual([
      { id: 'a', eventType: 'paid', subject: '/s', dataVersion: '1.0' },
      { id: 'b', eventType: 'paid', subject: '/s', dataVersion: '1.0' },
    ])
    expect(events[0]).toMatchObject({ data: { one: 1 }, eventTime: new Date('2026-01-02T03:04:05Z') })
    const [made] = await deserializer.deserializeEventGridEvents(
      request([eventOf('custom', custom('k'))], { schema: 'EventGridSchema' }).body!.toString(),
    )
    expect(made).toMatchObject({ id: 'k', eventType: 'made', data: { key: 'k', n: 1 } })
  })

  test("Microsoft's, a handshake: its receiver finds the code to answer with, and the URL", async () => {
    const url = 'https://barnabas.example.com/handshakes/orders/token'
    const asked = { form: 'event-grid', code: 'a-code', url, eventId: 'e', now: 0, origin: 'o', rate: null } as const
    const { body } = handshakeRequest({ id: 'orders', topics: ['orders'] }, asked)
    const [event] = await deserializer.deserializeEventGridEvents(body!)
    expect(isSystemEvent('Microsoft.EventGrid.SubscriptionValidationEvent', event!)).toBe(true)
    expect(event).toMatchObject({ data: { validationCode: 'a-code', validationUrl: url }, eventTime: new Date(0) })
  })

  test("Microsoft's, CloudEvents as Event Grid on Kubernetes sends them, alone and several", async () => {
    const [one, two] = [eventOf('cloudevents', cloudEvent('a')), eventOf('cloudevents', cloudEvent('b'))] as const
    for (const events of [[one], [one, two]] as const) {
      const { headers, body } = request(events, { notation: 'event-grid-kubernetes' })
      expect(headers['content-type']).toBe(batchType)
      const ids = events.map(({ attributes }) => attributes.get('id'))
      const byMicrosoft = await deserializer.deserializeCloudEvents(body!.toString())
      expect(byMicrosoft.map((event) => [event.id, event.extensionAttributes])).toEqual(
        ids.map((each) => [each, { region: 'eu' }]),
      )
      const byProject = [HTTP.toEvent<unknown>({ headers, body: body!.toString() })].flat()
      expect(byProject.map((event) => [event.id, event['region']])).toEqual(ids.map((each) => [each, 'eu']))
    }
  })

  test("Microsoft's and the CloudEvents project's, as CloudEvents", async () => {
    for (const events of [
      [eventOf('event-grid', eventGrid('a'))],
      [eventOf('event-grid', eventGrid('a')), eventOf('event-grid', eventGrid('b'))],
      [eventOf('custom', custom('a'))],
    ] as unknown as readonly Events[]) {
      const { headers, body } = request(events, {})
      const ids = events.map(({ attributes }) => attributes.get('id'))
      const read = [HTTP.toEvent<unknown>({ headers, body: body!.toString() })].flat()
      expect(read.map(({ id }) => id)).toEqual(ids)
      for (const each of read) expect((each as SdkEvent<unknown>).validate()).toBe(true)
      const byMicrosoft = await deserializer.deserializeCloudEvents(body!.toString())
      expect(byMicrosoft.map(({ id }) => id)).toEqual(ids)
    }
  })
})

const aeg = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(aeg-|origin$|webhook-)/.test(name)))

describe("Event Grid's own headers", () => {
  test('are on no request of a subscription in our notation', () => {
    const event = eventOf('event-grid', eventGrid('a'))
    expect(aeg(request([event], { schema: 'EventGridSchema' }, 1, { ...settings, origin: 'me' }).headers)).toEqual({})
  })

  test("A2: in Event Grid's notation, the count 0 on the first attempt", () => {
    const event = eventOf('event-grid', eventGrid('a'))
    const common = {
      'aeg-event-type': 'Notification',
      'aeg-subscription-name': 'ORDERS-TO-BILLING',
      'aeg-output-event-id': 'orders-3-42',
    }
    const { headers } = request([event], { notation: 'event-grid', schema: 'EventGridSchema' })
    const versions = { 'aeg-data-version': '1.0', 'aeg-metadata-version': '1' }
    expect(aeg(headers)).toEqual({ ...common, ...versions, 'aeg-delivery-count': '0' })
    expect(headers).toMatchObject({ 'barnabas-subscription': 'orders-to-billing', 'barnabas-attempt': '1' })
    const later = request([event], { notation: 'event-grid' }, 7)
    expect(aeg(later.headers)).toEqual({ ...common, 'aeg-metadata-version': '1.0', 'aeg-delivery-count': '6' })
  })

  test.each<[string, Partial<RequestShape>, boolean]>([
    ['CloudEvents in the cloud', { notation: 'event-grid', handshake: 'cloudevents' }, true],
    ['CloudEvents in the cloud, without a handshake', { notation: 'event-grid' }, true],
    ["Event Grid's schema in the cloud", { notation: 'event-grid', schema: 'EventGridSchema' }, false],
    ['Kubernetes', { notation: 'event-grid-kubernetes' }, false],
    ['our notation', {}, false],
    ['our notation with the handshake of Event Grid', { handshake: 'event-grid' }, false],
    ['our notation with the handshake of CloudEvents', { handshake: 'cloudevents' }, true],
    ['the same in binary mode', { handshake: 'cloudevents', mode: 'binary' }, true],
  ])('who we are is told to receivers of %s: %o is %s', (_what, change, isTold) => {
    const event = eventOf('event-grid', eventGrid('a'))
    const { headers } = request([event], change, 1, { ...settings, origin: 'events.example.com' })
    const told = { origin: 'events.example.com', 'webhook-request-origin': 'events.example.com' }
    const { origin, 'webhook-request-origin': requestOrigin } = headers
    expect({ origin, 'webhook-request-origin': requestOrigin }).toEqual(
      isTold ? told : { origin: undefined, 'webhook-request-origin': undefined },
    )
    expect(request([event], change).headers).not.toHaveProperty('origin')
  })

  test('what the events of a batch do not agree on is left out', () => {
    const [one, two] = [eventOf('event-grid', eventGrid('a')), eventOf('event-grid', eventGrid('b', '2.0'))]
    const { headers } = request([one, two], { notation: 'event-grid', schema: 'EventGridSchema' })
    expect(headers).not.toHaveProperty('aeg-data-version')
    expect(headers).not.toHaveProperty('aeg-output-event-id')
    expect(headers['aeg-metadata-version']).toBe('1')
    const odd = request([eventOf('event-grid', eventGrid('a', '1\\r\\nX: 1'))], {
      notation: 'event-grid',
      schema: 'EventGridSchema',
    })
    expect(odd.headers['aeg-data-version']).toBe('1%0D%0AX: 1')
  })
})

describe('A20: headers of a subscription', () => {
  const headers: readonly DeliveryAttribute[] = [
    { kind: 'static', name: 'X-Team', value: 'billing' },
    { kind: 'secret', name: 'X-Key', secret: 'KEY' },
    { kind: 'dynamic', name: 'X-N', path: ['data', 'n'] },
    { kind: 'dynamic', name: 'X-Id', path: ['id'] },
    { kind: 'dynamic', name: 'X-None', path: ['data', 'absent'] },
  ]
  const own = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith('X-')))
  const common = { 'X-Team': 'billing', 'X-Key': 'hunter2', 'X-N': '9007199254740993' }

  test.each(['binary', 'structured'] as const)('stand on every request in %s mode', (mode) => {
    const event = eventOf('cloudevents', cloudEvent('a'))
    expect(own(request([event], { mode, headers }).headers)).toEqual({ ...common, 'X-Id': 'a' })
  })

  test('one that the events of a batch do not agree on is left out', () => {
    const events = [eventOf('cloudevents', cloudEvent('a')), eventOf('cloudevents', cloudEvent('b'))] as const
    expect(own(request(events, { headers }).headers)).toEqual(common)
  })

  test('a line break in an event smuggles nothing', () => {
    const event = eventOf('cloudevents', cloudEvent('a\\r\\nX-Injected: 1'))
    expect(own(request([event], { headers }).headers)).toEqual({ ...common, 'X-Id': 'a%0D%0AX-Injected: 1' })
  })
})
