import { expect, describe, test } from 'vitest'
import { decodeEvent, type DecodedEvent } from './event.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const requiredAttributes = { specversion: '1.0', id: '1', source: '/s', type: 't' }
const json = { 'content-type': bytes('application/cloudevents+json') }
const envelope = (members: string) => `{"specversion":"1.0","id":"1","source":"/s","type":"t"${members}}`

const decodeJson = (text: string | Buffer) => decodeEvent({ headers: json, value: Buffer.from(text as string) })
const message = (decoded: DecodedEvent) => (decoded.kind === 'malformed' ? decoded.message : 'an event')
const attributesOf = (decoded: DecodedEvent) =>
  decoded.kind === 'event' ? Object.fromEntries(decoded.event.attributes) : decoded.message

describe('an event in the JSON format', () => {
  test.each<[name: string, members: string, attributes: Record<string, string>]>([
    ['strings', ',"subject":"grün"', { subject: 'grün' }],
    ['escapes in names and values', ',"sub\\u006aect":"\\u0000\\ud83d\\ude80\\/"', { subject: '\u0000\u{1F680}/' }],
    [
      'numbers as they are written',
      ',"a":9007199254740993,"b":1.0,"c":-1e400',
      { a: '9007199254740993', b: '1.0', c: '-1e400' },
    ],
    ['booleans', ',"a":true,"b":false', { a: 'true', b: 'false' }],
    ['null is absent', ',"subject":null,"not a name":null', {}],
    ['the last of several', ',"a":{},"a":"1","id":"2","a":"3"', { id: '2', a: '3' }],
    ['the last of several is null', ',"a":"1","a":null', {}],
    ['data is no attribute', ',"data":{"id":"9","specversion":"0.3"},"after":"x"', { after: 'x' }],
    ['names of Object.prototype', ',"constructor":"x","toString":"y"', { constructor: 'x', toString: 'y' }],
    ['a number as id', ',"id":17', { id: '17' }],
    ['an empty datacontenttype is none', ',"datacontenttype":""', {}],
    ['data_base64 null is none', ',"data":1,"data_base64":null', {}],
  ])('%s', (_name, members, attributes) => {
    expect(attributesOf(decodeJson(envelope(members)))).toEqual({ ...requiredAttributes, ...attributes })
  })

  test('an attribute named __proto__ is one like any other', () => {
    const decoded = decodeJson(envelope(',"__proto__":"x"'))
    expect(decoded.kind === 'event' && decoded.event.attributes.get('__proto__')).toBe('x')
  })

  test('keeps the very buffer', () => {
    const value = bytes(`\uFEFF ${envelope('')}\n`)
    const decoded = decodeEvent({ headers: json, value })
    expect(decoded.kind === 'event' && decoded.event.value).toBe(value)
  })

  test.each<[value: string | Buffer, expected: string]>([
    ['', 'the value is empty'],
    ['{', 'the value is not JSON: '],
    [`${envelope('')},`, 'the value is not JSON: '],
    [envelope(',"a":01'), 'the value is not JSON: '],
    [Buffer.concat([bytes('{"specversion":"'), Buffer.from([0xc0, 0x80]), bytes('"}')]), 'the value is not UTF-8'],
    [Buffer.from(`\uFEFF${envelope('')}`, 'utf16le'), 'the value is not UTF-8'],
    [`\uFEFF\uFEFF${envelope('')}`, 'the value is not JSON'],
    ['[]', 'the value is JSON, but an array'],
    ['null', 'the value is JSON, but no object'],
    ['{}', 'attribute `specversion` is missing'],
    ['{"specversion":null}', 'attribute `specversion` is missing'],
    ['{"specversion":"0.3","id":{}}', 'attribute `specversion` is "0.3"; only "1.0" is supported'],
    ['{"specversion":["1.0"]}', 'attribute "specversion" is an object or array'],
    ['{"specversion":"1.0","source":"/s","type":"t"}', 'attribute `id` is missing'],
    ['{"specversion":"1.0","id":"1","source":"","type":"t"}', 'attribute `source` is empty'],
    ['{"specversion":"1.0","id":"1","source":"/s","type":null}', 'attribute `type` is missing'],
    [envelope(',"a":{}'), 'attribute "a" is an object or array'],
    [envelope(',"a":[1]'), 'attribute "a" is an object or array'],
    [envelope(',"subject":"\\ud83d"'), 'attribute "subject" holds half of a surrogate pair'],
    [envelope(',"\\ud83d":"x"'), 'cannot stand in an HTTP header'],
    [envelope(',"@context":"x"'), 'attribute name "@context" cannot stand in an HTTP header'],
    [envelope(',"Type":"x"'), 'attributes `Type` and `type` differ in upper and lower case only'],
    [envelope(',"datacontenttype":"a/b\\r\\nx: y"'), 'only printable ASCII can stand in it'],
    [envelope(',"data":1,"data_base64":"AA=="'), '`data` and `data_base64` are both there'],
    [envelope(',"data":null,"data_base64":"AA=="'), '`data` and `data_base64` are both there'],
    [envelope(',"data_base64":7'), '`data_base64` is not a string of base64'],
    [envelope(',"data_base64":"AA"'), '`data_base64` is not a string of base64'],
    [envelope(',"data_base64":"A==="'), '`data_base64` is not a string of base64'],
    [envelope(',"data_base64":"A=A="'), '`data_base64` is not a string of base64'],
    [envelope(',"data_base64":"_-8="'), '`data_base64` is not a string of base64'],
    [envelope(',"data_base64":"AA\\n=="'), '`data_base64` is not a string of base64'],
    [envelope(',"datacontenttype":"text/plain","data":"\\udc00"'), '`data` holds half of a surrogate pair'],
  ])('%j is refused: %s', (value, expected) => {
    const refused = message(decodeJson(value))
    expect(refused).toContain(expected)
    expect(refused).not.toMatch(/[\r\n]/)
  })

  test('a null value under a CloudEvents content type is refused', () => {
    expect(decodeEvent({ headers: json, value: null })).toEqual({ kind: 'malformed', message: 'the value is empty' })
  })

  test('a megabyte of brackets costs no stack, whole or cut off', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    expect(decodeJson(envelope(`,"data":${deep}`)).kind).toBe('event')
    expect(message(decodeJson(envelope(`,"a":${deep}`)))).toContain('is an object or array')
    expect(message(decodeJson('['.repeat(1_000_000)))).toContain('the value is not JSON')
    expect(message(decodeJson('{"a":'.repeat(200_000)))).toContain('the value is not JSON')
  })
})
