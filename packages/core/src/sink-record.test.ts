import { Kafka } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { decodeEvent } from './event.ts'
import type { CloudEvent } from './event.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { RecordHeaders } from './record.ts'
import { sinkRecord } from './sink-record.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const attributes = { ce_specversion: '1.0', ce_id: 'ä 1', ce_source: '/shop', ce_type: 'order.paid', ce_tenant: 't%1' }
const json = '{"specversion":"1.0","id":"ä 1","source":"/shop","type":"order.paid","tenant":"t%1","data":{"n": 1e2}}'

function event(value: string | null, headers: RecordHeaders): CloudEvent {
  const decoded = decodeEvent({ value: value === null ? null : bytes(value), headers })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return decoded.event
}

const inHeaders = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, bytes(value)]))
const binary = event('{"n": 1e2}', inHeaders({ ...attributes, 'content-type': 'application/json' }))
const structured = event(json, inHeaders({ 'content-type': 'application/cloudevents+json' }))

function recordOf(of: CloudEvent, fields: object = {}, key: Buffer | null = bytes('k')) {
  const read = parseSubscription({ id: 'copies', topics: ['orders'], sink: 'kafka:copies', ...fields })
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
  const findSecret = () => ({ kind: 'value', value: 'hunter2' }) as const
  const made = sinkRecord(of, { shape: read.subscription, key, attemptNumber: 3, findSecret })
  if (made.kind === 'impossible') return made.message
  const { headers, value, key: madeKey, ...rest } = made.record
  expect(rest).toEqual({})
  const texts = Object.entries(headers).map(([name, each]) => [name, (each as Buffer).toString('utf8')])
  return { key: madeKey?.toString(), value: value?.toString(), headers: Object.fromEntries(texts) as object }
}

const own = { 'barnabas-subscription': 'copies', 'barnabas-attempt': '3' }
const structuredType = { 'content-type': 'application/cloudevents+json; charset=UTF-8' }

describe('the event in the mode of the subscription, with the key of its record', () => {
  test.each([
    ['binary to binary', binary, {}, '{"n": 1e2}', { ...attributes, 'content-type': 'application/json' }],
    ['structured to binary', structured, {}, '{"n": 1e2}', { ...attributes, 'content-type': 'application/json' }],
    ['structured to structured', structured, { mode: 'structured' }, json, structuredType],
    ['binary without data', event(null, inHeaders(attributes)), {}, undefined, attributes],
  ])('%s', (_what, of, fields, value, headers) => {
    expect(recordOf(of, fields)).toEqual({ key: 'k', value, headers: { ...own, ...headers } })
  })

  test('binary to structured: the data stays as its text stands', () => {
    const made = recordOf(binary, { mode: 'structured' }, null)
    expect(made).toMatchObject({ key: undefined, headers: { ...own, ...structuredType } })
    expect((made as { value: string }).value).toContain('"data":{"n": 1e2}')
    expect(JSON.parse((made as { value: string }).value)).toMatchObject({ id: 'ä 1', tenant: 't%1' })
  })

  test.each(['binary', 'structured'])('a CloudEvents SDK reads what is written in %s mode', (mode) => {
    const timed = event(
      '{"n": 1e2}',
      inHeaders({ ...attributes, ce_time: '2026-01-02T03:04:05.000Z', 'content-type': 'application/json' }),
    )
    const { headers, value } = recordOf(timed, { mode }) as { headers: Record<string, string>; value: string }
    const read = Kafka.toEvent({ headers, key: '', value, body: value, timestamp: '0' } as never)
    expect(read).toMatchObject({ id: 'ä 1', source: '/shop', type: 'order.paid', tenant: 't%1', data: { n: 100 } })
  })
})

test('A20: delivery headers of the subscription become record headers', () => {
  const headers = {
    'X-Team': 'billing',
    'X-Key': { secret: 'KEY' },
    'X-Id': { path: '$.id' },
    'X-N': { path: '$.data.n' },
    'X-None': { path: '$.data.none' },
  }
  expect(recordOf(binary, { headers })).toMatchObject({
    headers: { 'X-Team': 'billing', 'X-Key': 'hunter2', 'X-Id': 'ä 1', 'X-N': '1e2' },
  })
  expect(recordOf(binary, { headers })).not.toHaveProperty('headers.X-None')
  const long = event(JSON.stringify({ none: 'ä'.repeat(2_049) }), inHeaders(attributes))
  expect(recordOf(long, { headers })).not.toHaveProperty('headers.X-None')
})

describe('transforms', () => {
  const path = (value: string) => ({ form: 'JSONPATH', value })

  test.each([
    ['a path', path('$.id'), 'ä 1'],
    ['a number', path('$.data.n'), '1e2'],
    ['a path that leads nowhere: no key', path('$.data.none'), undefined],
    ['a constant', { form: 'CONSTANT', value: 'null' }, 'null'],
    ['a template', { form: 'TEMPLATE', template: '${s}/${i}', value: { s: '$.source', i: '$.id' } }, '/shop/ä 1'],
  ])('key: %s', (_what, key, expected) => {
    expect(recordOf(binary, { transform: { key } })).toMatchObject({ value: '{"n": 1e2}' })
    expect((recordOf(binary, { transform: { key } }) as { key: unknown }).key).toBe(expected)
  })

  test('value: what it is in either mode, and binary mode adds the attributes', () => {
    const transform = { value: path('$.data.n') }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    expect(recordOf(binary, { transform })).toEqual({
      key: 'k',
      value: '1e2',
      headers: { ...attributes, ...own, ...type },
    })
    expect(recordOf(binary, { transform, mode: 'structured' })).toEqual({
      key: 'k',
      value: '1e2',
      headers: { ...own, ...type },
    })
    expect(recordOf(binary, { transform: { value: path('$.type') }, mode: 'structured' })).toEqual({
      key: 'k',
      value: 'order.paid',
      headers: { ...own, 'content-type': 'text/plain; charset=utf-8' },
    })
  })

  test('ORIGINAL as value is the event in structured mode', () => {
    expect(recordOf(structured, { transform: { value: { form: 'ORIGINAL' } } })).toEqual({
      key: 'k',
      value: json,
      headers: { ...own, ...structuredType },
    })
  })

  test('headers: those of `headers` come before, and none is one of an attribute', () => {
    const headers = { form: 'TEMPLATE', template: '{"X-Id":"${i}","X-Team":"other"}', value: { i: '$.id' } }
    expect(recordOf(binary, { transform: { headers } })).toMatchObject({
      headers: { 'X-Id': 'ä 1', 'X-Team': 'other' },
    })
    const chosen = event(
      '{"h":{"ce_id":"x","content-type":"x","barnabas-attempt":"9","X-A":"b"}}',
      inHeaders(attributes),
    )
    expect(recordOf(chosen, { transform: { headers: path('$.data.h') } })).toMatchObject({
      headers: { ...attributes, ...own, 'X-A': 'b' },
    })
    expect(recordOf(chosen, { transform: { headers: path('$.data.h') } })).not.toHaveProperty('headers.content-type')
  })

  test('what would be too large names its field', () => {
    const large = event(JSON.stringify({ n: 'x'.repeat(200_000) }), inHeaders(attributes))
    const value = { form: 'TEMPLATE', template: '${n}'.repeat(100), value: { n: '$.data.n' } }
    expect(recordOf(large, { transform: { value } })).toMatch(/^transform\.value: would have more than 16777216 bytes$/)
  })
})
