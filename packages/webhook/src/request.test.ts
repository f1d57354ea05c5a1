import { decodeEvent, type CloudEvent, type KafkaRecord, type RequestShape } from '@barnabas/core'
import { CloudEvent as SdkEvent, HTTP } from 'cloudevents'
import { expect, test } from 'vitest'
import { webhookRequest as requestOf } from './request.ts'
import type { RequestSettings, WebhookRequest, WebhookRequestOptions } from './request.ts'

const shape: RequestShape = {
  id: 'orders-to-billing',
  notation: 'barnabas',
  handshake: 'none',
  schema: 'CloudEventSchemaV1_0',
  mode: 'binary',
  headers: [],
}
const options = { shape, attemptNumber: 3 }
const structured = { ...options, shape: { ...shape, mode: 'structured' } } as const
const required = { specversion: '1.0', id: '1', source: '/orders', type: 'created' }

const nothing: RequestSettings = { findSecret: (name) => ({ kind: 'unknown', message: `no ${name}` }) }

function webhookRequest(events: readonly [CloudEvent, ...CloudEvent[]], how: WebhookRequestOptions): WebhookRequest {
  return requestOf(events, how, nothing)
}

function binaryEvent(attributes: Record<string, string>, value: Buffer | null, contentType?: string): CloudEvent {
  const headers: Record<string, Buffer> = {}
  for (const [name, text] of Object.entries(attributes)) headers[`ce_${name}`] = Buffer.from(text)
  if (contentType !== undefined) headers['content-type'] = Buffer.from(contentType)
  return eventOf({ value, headers })
}

function structuredEvent(json: string): CloudEvent {
  return eventOf({
    value: Buffer.from(json),
    headers: { 'content-type': Buffer.from('application/cloudevents+json; charset=utf-8') },
  })
}

function eventOf(record: Pick<KafkaRecord, 'value' | 'headers'>): CloudEvent {
  const decoded = decodeEvent(record)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

test('binary mode: ce- headers, the data with its content type, and what Barnabas adds; no Accept', () => {
  const value = Buffer.from('{"a": 1.0}')
  const event = binaryEvent({ ...required, subject: 'a/b', comexample: 'x' }, value, 'application/json')
  expect(webhookRequest([event], options)).toEqual({
    headers: {
      'user-agent': 'barnabas',
      'barnabas-subscription': 'orders-to-billing',
      'barnabas-attempt': '3',
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/orders',
      'ce-type': 'created',
      'ce-subject': 'a/b',
      'ce-comexample': 'x',
      'content-type': 'application/json',
    },
    body: value,
  })
})

test('structured mode: the event as CloudEvents JSON, and what Barnabas adds', () => {
  const json =
    '{"specversion":"1.0","id":"1","source":"/orders","type":"created","data":{"n":9007199254740993,"n":1.0}}'
  const request = webhookRequest([structuredEvent(json)], structured)
  expect(request.headers).toEqual({
    'user-agent': 'barnabas',
    'barnabas-subscription': 'orders-to-billing',
    'barnabas-attempt': '3',
    'content-type': 'application/cloudevents+json; charset=utf-8',
  })
  expect(request.body?.toString()).toBe(json)
})

test('the mode changes without a change of the data', () => {
  const data = '{"n":9007199254740993,"n":1.0,"z":"\\u0000"}'
  const toBinary = webhookRequest(
    [structuredEvent(`{"specversion":"1.0","id":"1","source":"/orders","type":"created","data":${data}}`)],
    options,
  )
  expect(toBinary.body?.toString()).toBe(data)
  expect(toBinary.headers['content-type']).toBe('application/json')

  const event = binaryEvent(required, Buffer.from(data), 'application/json')
  const toStructured = webhookRequest([event], structured)
  expect(toStructured.body?.toString()).toContain(data)
})

test.each([
  ['plain', 'plain'],
  ['a b', 'a%20b'],
  ['50%', '50%25'],
  ['say "hi"', 'say%20%22hi%22'],
  ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
  ['line\r\nX-Injected: 1', 'line%0D%0AX-Injected:%201'],
  ['\u0000\u0007\u007f\u0080', '%00%07%7F%C2%80'],
  ["!#$&'()*+,-./:;<=>?@[\\]^_`{|}~", "!#$&'()*+,-./:;<=>?@[\\]^_`{|}~"],
  ['', ''],
])('HTTP binding 3.1.3.2: the attribute %j travels as %j', (value, encoded) => {
  const { headers } = webhookRequest([binaryEvent({ ...required, subject: value }, null)], options)
  expect(headers['ce-subject']).toBe(encoded)
})

test('an event without data has no body and no content type', () => {
  const { headers, body } = webhookRequest([binaryEvent(required, null)], options)
  expect(body).toBeNull()
  expect(headers).not.toHaveProperty('content-type')
})

test('the CloudEvents SDK writes the same ce- headers and reads the event back', () => {
  const attributes = {
    ...required,
    subject: 'orders/4711',
    time: '2026-01-02T03:04:05.678Z',
    dataschema: 'https://example.com/schema',
    comexample: 'value',
  }
  const { headers, body } = webhookRequest(
    [binaryEvent(attributes, Buffer.from('{"a":1}'), 'application/json')],
    options,
  )
  const sdk = HTTP.binary(new SdkEvent({ ...attributes, datacontenttype: 'application/json', data: { a: 1 } }))
  const isAttribute = ([name]: [string, unknown]): boolean => name.startsWith('ce-') || name === 'content-type'
  const ours = Object.fromEntries(Object.entries(headers).filter(isAttribute))
  expect(ours).toEqual(Object.fromEntries(Object.entries(sdk.headers).filter(isAttribute)))

  const [read] = [HTTP.toEvent({ headers, body: body?.toString() })].flat()
  expect(read).toMatchObject({ ...attributes, data: { a: 1 } })
})

const batchType = 'application/cloudevents-batch+json; charset=utf-8'
const data = '{"n":9007199254740993,"n":1.0}'
const json = `{"specversion":"1.0","id":"1","source":"/orders","type":"created","data":${data}}`

test('several events in structured mode are a batch, each as its text stands', () => {
  const binary = binaryEvent({ ...required, id: '2' }, Buffer.from(data), 'application/json')
  const request = webhookRequest([structuredEvent(json), binary, structuredEvent(`\uFEFF${json}`)], structured)
  expect(request.headers['content-type']).toBe(batchType)
  const second = `{"specversion":"1.0","id":"2","source":"/orders","type":"created","datacontenttype":"application/json","data":${data}}`
  expect(request.body?.toString()).toBe(`[${json},${second},${json}]`)
})

test('A2, C1: one CloudEvent is an object, and on Kubernetes an array of one', () => {
  const inNotation = (notation: RequestShape['notation']) =>
    webhookRequest([structuredEvent(json)], { ...structured, shape: { ...structured.shape, notation } })
  const cloud = inNotation('event-grid')
  expect(cloud.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
  expect(cloud.body?.toString()).toBe(json)
  const kubernetes = inNotation('event-grid-kubernetes')
  expect(kubernetes.headers['content-type']).toBe(batchType)
  expect(kubernetes.body?.toString()).toBe(`[${json}]`)
})

test('several events of a subscription in binary mode are a batch all the same, for there is none of it', () => {
  const binary = binaryEvent({ ...required, id: '2' }, Buffer.from(data), 'application/json')
  const request = webhookRequest([structuredEvent(json), binary], options)
  expect(request).toEqual(webhookRequest([structuredEvent(json), binary], structured))
  const read = [HTTP.toEvent<unknown>({ headers: request.headers, body: request.body?.toString() })].flat()
  expect(read.map(({ id }) => id)).toEqual(['1', '2'])
})
