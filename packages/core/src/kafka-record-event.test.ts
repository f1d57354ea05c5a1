import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeInput } from './decode-input.ts'
import { binaryData } from './event-data.ts'
import { structuredJson } from './event-to-structured.ts'
import { decodeKafkaRecord, kafkaRecordDefault, recordValueTypes } from './kafka-record-event.ts'
import type { KafkaRecordInput } from './kafka-record-event.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { RecordHeaders } from './record.ts'
import { structuredContent } from './structured-event.ts'

const place = { topic: 'orders', partition: 3, offset: 42, publishTime: Date.parse('2022-08-01T09:32:56.797Z') }
const bytes = (text: string) => Buffer.from(text)

interface Given {
  readonly key?: Buffer | null
  readonly value?: Buffer | null
  readonly headers?: RecordHeaders
  readonly input?: Partial<KafkaRecordInput>
}

function decode({ key = null, value = null, headers = {}, input = {} }: Given) {
  return decodeKafkaRecord({ key, value, headers }, { ...kafkaRecordDefault, ...input }, place)
}

function eventOf(given: Given) {
  const decoded = decode(given)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

function dataOf(given: Given): Record<string, unknown> {
  return JSON.parse(String(binaryData(eventOf(given)).body)) as Record<string, unknown>
}

test('a record becomes the event that EventBridge makes of it', () => {
  const event = eventOf({
    key: bytes('k-1'),
    value: bytes('{"amount": 5}'),
    headers: { 'x-team': bytes('billing'), 'barnabas-attempts': bytes('2'), a: [bytes('1'), null] },
    input: { instance: 'alikafka_post-cn-1' },
  })
  const json = JSON.parse(String(structuredJson(event))) as Record<string, unknown>
  expect(json).toEqual({
    specversion: '1.0',
    id: 'orders-3-42-1659346376797',
    source: 'acs:alikafka',
    type: 'alikafka:Topic:Message',
    subject: 'acs:alikafka:alikafka_post-cn-1:topic:orders',
    time: '2022-08-01T09:32:56.797Z',
    datacontenttype: 'application/json; charset=utf-8',
    data: {
      topic: 'orders',
      partition: 3,
      offset: 42,
      timestamp: 1_659_346_376_797,
      headers: {
        headers: [
          { key: 'a', value: '1' },
          { key: 'a', value: null },
          { key: 'x-team', value: 'billing' },
        ],
        isReadOnly: false,
      },
      key: 'k-1',
      value: '{"amount": 5}',
    },
  })
  const { data: _data, ...attributes } = json
  expect(Object.fromEntries(event.attributes)).toEqual(attributes)
})

const notUtf8 = Buffer.from([0xc3, 0x28])
test.each<[what: string, given: Given, data: object]>([
  ['text', { value: bytes('a "b"\n€') }, { value: 'a "b"\n€' }],
  ['an empty text', { value: bytes('') }, { value: '' }],
  ['no value as text', { value: null }, { value: null }],
  ['no value as JSON', { value: null, input: { valueType: 'json' } }, { value: null }],
  ['no value as Base64', { value: null, input: { valueType: 'binary' } }, { value: null }],
  ['JSON', { value: bytes('{"a":[1]}'), input: { valueType: 'json' } }, { value: { a: [1] } }],
  ['JSON that is no object', { value: bytes(' 7 '), input: { valueType: 'json' } }, { value: 7 }],
  ['JSON behind a byte order mark', { value: bytes('\uFEFF[1]'), input: { valueType: 'json' } }, { value: [1] }],
  ['bytes', { value: notUtf8, key: bytes('k'), input: { valueType: 'binary' } }, { value: 'wyg=', key: 'aw==' }],
  ['a key of bytes', { key: notUtf8, value: bytes('v') }, { key: 'wyg=', value: 'v' }],
  ['no key', { value: bytes('v') }, { key: null }],
])('%s', (_what, given, data) => {
  expect(dataOf(given)).toMatchObject(data)
})

test('JSON stands byte for byte', () => {
  const value = '{"n": 9007199254740993, "one": 1.0, "twice": 1, "twice": 2}'
  expect(String(structuredJson(eventOf({ value: bytes(value), input: { valueType: 'json' } })))).toContain(
    `"value":${value}}}`,
  )
})

test.each<[what: string, given: Given, message: string]>([
  ['bytes as text', { value: notUtf8 }, 'no record of kafkaRecord.valueType: text: the value is not UTF-8; binary'],
  [
    'bytes as JSON',
    { value: notUtf8, input: { valueType: 'json' } },
    'kafkaRecord.valueType: json: the value is not UTF',
  ],
  ['text as JSON', { value: bytes('{'), input: { valueType: 'json' } }, 'json: the value is not JSON; text takes any'],
  ['nothing as JSON', { value: bytes(''), input: { valueType: 'json' } }, 'json: the value is not JSON'],
  ['half a CloudEvent', { value: bytes('{}'), headers: { ce_id: bytes('1') } }, 'attribute `specversion` is missing'],
  [
    'what says it is a CloudEvent',
    { value: bytes('{}'), headers: { 'Content-Type': bytes('application/cloudevents+json') } },
    'specversion',
  ],
  ['a batch', { headers: { 'content-type': bytes('application/cloudevents-batch+json') } }, 'is not supported'],
])('%s is malformed', (_what, given, message) => {
  expect(decode(given)).toEqual({ kind: 'malformed', message: expect.stringContaining(message) })
})

test('what is a CloudEvent already stays one', () => {
  const structured = bytes('{"specversion":"1.0","id":"1","source":"/s","type":"t"}')
  expect(eventOf({ value: structured })).toMatchObject({ mode: 'structured', value: structured })
  const headers = { ce_specversion: bytes('1.0'), ce_id: bytes('1'), ce_source: bytes('/s'), ce_type: bytes('t') }
  expect(eventOf({ value: notUtf8, headers })).toMatchObject({ mode: 'binary', value: notUtf8 })
})

test('a content type of something else, even twice, claims nothing', () => {
  const twice = { 'content-type': bytes('text/plain'), 'Content-Type': bytes('text/html') }
  expect(eventOf({ value: bytes('v'), headers: twice }).attributes.get('source')).toBe('acs:alikafka')
})

test('a retry is the same event, whatever was added to its record', () => {
  const { subscription } = parsed({ input: 'kafka-record', kafkaRecord: { valueType: 'json' } })
  const record = { key: bytes('k'), value: bytes('{}'), headers: { b: bytes('1'), a: bytes('2') } }
  const retried = { ...record, headers: { 'barnabas-hops': bytes('1'), a: bytes('2'), b: bytes('1') } }
  const [first, second] = [record, retried].map((each) => {
    const decoded = decodeInput(subscription, each, place, place.publishTime)
    return decoded.kind === 'event' ? String(structuredJson(decoded.event)) : decoded.message
  })
  expect(first).toContain('"value":{}}}')
  expect(second).toBe(first)
})

test('whatever the bytes, there is an event that is valid, or a message of one line', () => {
  const some = fc.option(fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each)))
  const names = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('ce_id', 'content-type', '__proto__', 'barnabas-x'),
  )
  const headers = fc.dictionary(names, fc.oneof(some, fc.array(some, { maxLength: 3 })))
  fc.assert(
    fc.property(some, some, headers, fc.constantFrom(...recordValueTypes), (key, value, each, valueType) => {
      const decoded = decode({ key, value, headers: each, input: { valueType } })
      if (decoded.kind === 'malformed') {
        expect(decoded.message).not.toMatch(/\n/)
      } else if (decoded.event.attributes.get('source') === 'acs:alikafka') {
        const content = structuredContent(structuredJson(decoded.event))
        if (content.kind === 'malformed') throw new Error(content.message)
        expect([...content.attributes]).toEqual([...decoded.event.attributes])
      }
    }),
  )
})

function parsed(fields: object) {
  const read = parseSubscription({ id: 'a', topics: ['orders'], sink: 'https://example.com/', ...fields })
  if (read.kind === 'invalid') throw new Error(read.problems.map(({ message }) => message).join('\n'))
  return read
}

test('the field: its defaults, and what is refused', () => {
  expect(parsed({ input: 'kafka-record' }).subscription).toMatchObject({
    input: 'kafka-record',
    kafkaRecord: { valueType: 'text', instance: '' },
    mode: 'binary',
  })
  const messages = (fields: object) => {
    const read = parseSubscription({ id: 'a', topics: ['orders'], sink: 'https://example.com/', ...fields })
    return read.kind === 'valid' ? [] : read.problems.map(({ message }) => message)
  }
  expect(messages({ kafkaRecord: {} })).toEqual([
    'kafkaRecord: says how to read input: kafka-record, not cloudevents; leave one of them out',
  ])
  expect(messages({ input: 'kafka-record', kafkaRecord: { valueType: 'JSON', instance: '', kind: 1 } })).toEqual([
    'kafkaRecord.valueType: "JSON" is not known; one of text, json, binary (did you mean json?)',
    'kafkaRecord.instance: is empty',
    'kafkaRecord.kind: is not a known field',
  ])
  expect(messages({ input: 'kafka-record', kafkaRecord: { instance: 'a\nb' } })).toEqual([
    String.raw`kafkaRecord.instance: "a\nb" is not the id of an instance; letters, digits, ".", "_" and "-"`,
  ])
})
