import { CloudEvent as SdkEvent, Kafka } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { decodeEvent, type DecodedEvent } from './event.ts'
import type { HeaderValue, RecordHeaders } from './record.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const required = {
  ce_specversion: bytes('1.0'),
  ce_id: bytes('1'),
  ce_source: bytes('/s'),
  ce_type: bytes('t'),
}
const requiredAttributes = { specversion: '1.0', id: '1', source: '/s', type: 't' }
const json = { 'content-type': bytes('application/cloudevents+json') }
const structuredValue = '{"specversion":"1.0","id":"1","source":"/s","type":"t"}'

const decodeHeaders = (headers: RecordHeaders) => decodeEvent({ headers, value: bytes('{}') })
const message = (decoded: DecodedEvent) => (decoded.kind === 'malformed' ? decoded.message : 'an event')
const attributesOf = (decoded: DecodedEvent) =>
  decoded.kind === 'event' ? Object.fromEntries(decoded.event.attributes) : decoded.message

describe('the content mode', () => {
  test.each<[name: string, headers: RecordHeaders, value: string | null, expected: string]>([
    ['ce_ headers', required, 'anything', 'binary'],
    ['ce_ headers and another content type', { ...required, 'content-type': bytes('text/plain') }, 'x', 'binary'],
    ['ce_ headers over a value that is CloudEvents JSON', required, structuredValue, 'binary'],
    ['a CloudEvents content type', json, structuredValue, 'structured'],
    [
      'its parameters',
      { 'content-type': bytes('application/cloudevents+json; charset=UTF-8') },
      structuredValue,
      'structured',
    ],
    [
      'its name and value in capitals',
      { 'Content-Type': bytes('Application/CloudEvents+JSON') },
      structuredValue,
      'structured',
    ],
    [
      'white space around it',
      { 'content-type': bytes(' application/cloudevents+json ;a=b') },
      structuredValue,
      'structured',
    ],
    ['a CloudEvents content type over ce_ headers', { ...required, ...json }, structuredValue, 'structured'],
    [
      'damaged ce_ headers beside it',
      { ...json, ce_id: [bytes('1'), bytes('2')], 'ce_ ': bytes('') },
      structuredValue,
      'structured',
    ],
    ['no headers, but CloudEvents JSON', {}, structuredValue, 'structured'],
    ['the same with white space before it', {}, ` \r\n\t${structuredValue}\n`, 'structured'],
    ['the same with a byte order mark', {}, `\uFEFF${structuredValue}`, 'structured'],
    [
      'a content type of JSON and CloudEvents JSON',
      { 'content-type': bytes('application/json') },
      structuredValue,
      'structured',
    ],
    ['null ce_ headers and CloudEvents JSON', { ce_id: null, ce_type: [null] }, structuredValue, 'structured'],
  ])('%s', (_name, headers, value, expected) => {
    const decoded = decodeEvent({ headers, value: value === null ? null : bytes(value) })
    expect(decoded.kind === 'event' ? decoded.event.mode : decoded.message).toBe(expected)
  })

  test.each([
    'application/cloudevents-batch+json',
    'application/cloudevents+avro',
    'application/cloudevents+protobuf',
    'application/cloudevents',
    'application/cloudevents+json-seq',
    'application/CloudEvents-Batch+JSON; charset=utf-8',
  ])('%s is refused by name', (contentType) => {
    const refused = message(decodeHeaders({ ...required, 'content-type': bytes(contentType) }))
    expect(refused).toContain(`content type "${contentType.toLowerCase().replace(/;.*/, '')}" is not supported`)
  })

  test.each<[name: string, headers: RecordHeaders, value: Buffer | null, reason: string]>([
    ['null', {}, null, 'the value is empty'],
    ['empty', {}, bytes(''), 'the value is empty'],
    ['no JSON', {}, bytes('hello'), 'the value is not JSON'],
    ['no UTF-8', {}, Buffer.from([0x7b, 0xff, 0x7d]), 'the value is not UTF-8'],
    ['an array', {}, bytes(`[${structuredValue}]`), 'the value is JSON, but an array'],
    ['a string', {}, bytes('"specversion"'), 'the value is JSON, but no object'],
    ['another object', {}, bytes('{"id":{"a":1}}'), 'attribute `specversion` is missing'],
    ['an object that inherits', {}, bytes('{"__proto__":{"specversion":"1.0"}}'), 'attribute `specversion` is missing'],
    [
      'other headers only',
      { ce_time: bytes('x'), traceparent: bytes('y') },
      bytes('{}'),
      'attribute `specversion` is missing',
    ],
    ['headers in capitals only', { CE_ID: bytes('1') }, bytes('{}'), 'attribute `specversion` is missing'],
    [
      'headers that are inherited',
      Object.create(required) as RecordHeaders,
      bytes('{}'),
      'attribute `specversion` is missing',
    ],
  ])('no CloudEvents headers and a value that is %s: says what was looked for', (_name, headers, value, reason) => {
    const refused = message(decodeEvent({ headers, value }))
    expect(refused).toContain('there is no header ce_specversion, ce_id, ce_source or ce_type')
    expect(refused).toContain('no content-type application/cloudevents+json')
    expect(refused).toContain(reason)
  })
})

describe('binary mode', () => {
  test('keeps the value: the very buffer, empty or null too', () => {
    for (const value of [bytes('{"a":1}'), Buffer.from([0xff, 0]), bytes(''), null]) {
      const decoded = decodeEvent({ headers: required, value })
      expect(decoded.kind === 'event' && decoded.event.value).toBe(value)
    }
  })

  test.each<[name: string, headers: RecordHeaders, attributes: Record<string, string>]>([
    [
      'UTF-8, not percent-encoded',
      { ce_subject: bytes('grün %20 \u{1F680}\u0000\n') },
      { subject: 'grün %20 \u{1F680}\u0000\n' },
    ],
    ['a real U+FFFD', { ce_subject: bytes('\uFFFD') }, { subject: '\uFFFD' }],
    ['a byte order mark', { ce_subject: bytes('\uFEFF\uFFFD') }, { subject: '\uFEFF\uFFFD' }],
    ['an empty value', { ce_subject: bytes('') }, { subject: '' }],
    ['a time that is none', { ce_time: bytes('yesterday') }, { time: 'yesterday' }],
    [
      'content-type',
      { 'content-type': bytes('text/plain; charset=utf-8') },
      { datacontenttype: 'text/plain; charset=utf-8' },
    ],
    ['Content-Type', { 'Content-Type': bytes('text/plain') }, { datacontenttype: 'text/plain' }],
    ['ce_datacontenttype alone', { ce_datacontenttype: bytes('text/plain') }, { datacontenttype: 'text/plain' }],
    [
      'content-type over ce_datacontenttype',
      { ce_datacontenttype: bytes('a/b'), 'content-type': bytes('c/d') },
      { datacontenttype: 'c/d' },
    ],
    [
      'an empty content-type beside another',
      { 'content-type': bytes(''), 'Content-Type': bytes('a/b') },
      { datacontenttype: 'a/b' },
    ],
    ['an empty content-type is none', { 'content-type': bytes(''), ce_datacontenttype: bytes('') }, {}],
    ['null headers are absent', { ce_subject: null, 'content-type': null }, {}],
    ['one value in a list', { ce_subject: [bytes('x')] }, { subject: 'x' }],
    ['an empty list', { ce_subject: [] }, {}],
    [
      'names beyond the specification that HTTP can carry',
      { ce_my_Ext: bytes('x'), "ce_a-b.c'": bytes('y') },
      { my_Ext: 'x', "a-b.c'": 'y' },
    ],
    ['names of Object.prototype', { ce_constructor: bytes('x'), constructor: bytes('y') }, { constructor: 'x' }],
    [
      'other headers, whatever they are',
      { x: Buffer.from([0xff]), y: [null, bytes('1')], 'barnabas-attempt': bytes('7'), 'ä b': null },
      {},
    ],
  ])('%s', (_name, headers, attributes) => {
    expect(attributesOf(decodeHeaders({ ...required, ...headers }))).toEqual({ ...requiredAttributes, ...attributes })
  })

  test('a header named __proto__ is one like any other', () => {
    const headers = JSON.parse('{"__proto__":null,"ce___proto__":null}') as Record<string, HeaderValue>
    Object.assign(headers, required)
    for (const name of ['__proto__', 'ce___proto__']) {
      Object.defineProperty(headers, name, { value: bytes('x'), enumerable: true })
    }
    const decoded = decodeHeaders(headers)
    expect(decoded.kind === 'event' && [...decoded.event.attributes.keys()]).toEqual([
      '__proto__',
      'specversion',
      'id',
      'source',
      'type',
    ])
  })

  test.each<[headers: RecordHeaders, expected: string]>([
    [{ ce_specversion: bytes('0.3') }, 'attribute `specversion` is "0.3"; only "1.0" is supported'],
    [{ ce_specversion: null }, 'attribute `specversion` is missing'],
    [{ ce_id: null }, 'attribute `id` is missing'],
    [{ ce_source: [] }, 'attribute `source` is missing'],
    [{ ce_type: null }, 'attribute `type` is missing'],
    [{ ce_id: bytes('') }, 'attribute `id` is empty'],
    [{ ce_source: bytes('') }, 'attribute `source` is empty'],
    [{ ce_type: bytes('') }, 'attribute `type` is empty'],
    [{ ce_id: [bytes('1'), bytes('1')] }, 'header "ce_id" is there several times'],
    [{ ce_subject: [null, null] }, 'header "ce_subject" is there several times'],
    [{ 'content-type': [bytes('a/b'), bytes('c/d')] }, 'header `content-type` is there several times'],
    [{ 'content-type': bytes('a/b'), 'Content-Type': bytes('a/b') }, 'header `content-type` is there several times'],
    [{ ce_subject: Buffer.from([0x61, 0xff]) }, 'header "ce_subject" is not UTF-8'],
    [{ ce_subject: Buffer.from([0xef, 0xbf, 0xbd, 0xed, 0xa0, 0x80]) }, 'header "ce_subject" is not UTF-8'],
    [{ 'content-type': bytes('text/plain\r\nx: y') }, 'attribute `datacontenttype` is "text/plain\\r\\nx: y"'],
    [{ 'content-type': bytes('text/grün') }, 'only printable ASCII can stand in it'],
    [{ 'content-type': Buffer.from([0x61, 0xff]) }, 'only printable ASCII can stand in it'],
    [{ ce_datacontenttype: bytes('a/\u007F') }, 'only printable ASCII can stand in it'],
    [{ 'ce_my ext': bytes('x') }, 'attribute name "my ext" cannot stand in an HTTP header'],
    [{ 'ce_ä\n': bytes('x') }, 'attribute name "ä\\n" cannot stand in an HTTP header'],
    [{ ce_: bytes('x') }, 'attribute name "" cannot stand in an HTTP header'],
    [{ ce_data: bytes('x') }, 'an attribute cannot be named `data`'],
    [{ ce_data_base64: bytes('x') }, 'an attribute cannot be named `data_base64`'],
    [{ ce_ID: bytes('2') }, 'attributes `ID` and `id` differ in upper and lower case only'],
  ])('%o is refused: %s', (headers, expected) => {
    expect(message(decodeHeaders({ ...required, ...headers }))).toContain(expected)
  })

  test('a long value is cut in a message of one line', () => {
    const refused = message(decodeHeaders({ ...required, ce_specversion: bytes('1\n'.repeat(50_000)) }))
    expect(refused.length).toBeLessThan(300)
    expect(refused).not.toContain('\n')
  })
})

/** What kafkajs makes of a message that the SDK made, once it went through a broker. */
function asRead({ headers, value }: { headers: Record<string, unknown>; value?: unknown }) {
  const there = Object.entries(headers).filter(([, header]) => header !== undefined)
  const read = there.map(([name, header]) => [name, bytes(String(header))] as const)
  return { headers: Object.fromEntries(read), value: typeof value === 'string' ? bytes(value) : null }
}

test.each([
  { data: '{"a":1}', datacontenttype: 'application/json' },
  { data: 'plain', datacontenttype: 'text/plain', subject: 'x', myextension: 'ä' },
  { time: '2026-01-02T03:04:05.678Z', dataschema: 'https://example.com/schema' },
])('an event that the SDK wrote in either mode has the attributes that it gave: %o', (attributes) => {
  const given = { ...requiredAttributes, time: '2026-01-01T00:00:00.000Z', ...attributes }
  const sdkEvent = new SdkEvent(given)
  const { data: _data, ...expected } = given
  expect(attributesOf(decodeEvent(asRead(Kafka.binary(sdkEvent))))).toEqual(expected)
  expect(attributesOf(decodeEvent(asRead(Kafka.structured(sdkEvent))))).toEqual(expected)
})
