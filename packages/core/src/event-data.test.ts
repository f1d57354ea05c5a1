import { describe, expect, test } from 'vitest'
import { binaryData, type BinaryData } from './event-data.ts'
import { decodeEvent, type CloudEvent } from './event.ts'

function structuredEvent(members: string): CloudEvent {
  const value = Buffer.from(`{"specversion":"1.0","id":"1",${members}"source":"/s","type":"t"}`)
  const decoded = decodeEvent({ headers: {}, value })
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

const readable = ({ contentType, body }: BinaryData) => [contentType, body?.toString('utf8') ?? null]

describe('the data of a structured event', () => {
  test.each([
    '9007199254740993',
    '1.0',
    '-0',
    '1e400',
    '0.1000000000000000055511151231257827021181583404541015625',
    '{"a":1,"a":2,"__proto__":{"b":1}}',
    '{ "b" : [ 1 ,\t2 ] ,\r\n "a" : { } }',
    '"\\u0000\\u00e4\\/\\ud800"',
    '"ends with a backslash \\\\"',
    '"] } , \\" data_base64"',
    '"grün \u{1F680}\u2028"',
    '""',
    '[]',
    '{}',
    'true',
    'null',
  ])('arrives as its JSON text stands: %s', (text) => {
    for (const members of [`"data":${text},`, ` "d\\u0061ta" :\n ${text}\t, `, `"data":"first","data":${text},`]) {
      expect(readable(binaryData(structuredEvent(members)))).toEqual(['application/json', text])
    }
  })

  test.each<[members: string, contentType: string | undefined, body: string | null]>([
    ['"datacontenttype":"application/json","data":"<a/>",', 'application/json', '"<a/>"'],
    ['"datacontenttype":"application/vnd.x+JSON; v=1","data":"a",', 'application/vnd.x+JSON; v=1', '"a"'],
    ['"datacontenttype":"text/json","data":"a",', 'text/json', '"a"'],
    ['"datacontenttype":"application/xml","data":"<a b=\\"\\u00e4\\"/>",', 'application/xml', '<a b="ä"/>'],
    ['"data":"\\ufeffa\\u0000\\ud83d\\ude80","datacontenttype":"text/plain",', 'text/plain', '\uFEFFa\0\u{1F680}'],
    ['"datacontenttype":"text/plain","data":"",', 'text/plain', ''],
    ['"datacontenttype":"application/jsonx","data":"a",', 'application/jsonx', 'a'],
    ['"datacontenttype":"application/xml","data":{"a":1.0},', 'application/xml', '{"a":1.0}'],
    ['"datacontenttype":"application/xml","data":null,', 'application/xml', null],
    ['"datacontenttype":"image/png","data_base64":"AGE\\u003d",', 'image/png', '\0a'],
    ['"datacontenttype":"image/png","data_base64":"",', 'image/png', ''],
    ['"data_base64":"eyJhIjoxfQ==",', 'application/json', '{"a":1}'],
    ['"datacontenttype":"application/xml",', 'application/xml', null],
    ['"x":"data",', undefined, null],
    ['"data_base64":null,', undefined, null],
  ])('%s', (members, contentType, body) => {
    expect(readable(binaryData(structuredEvent(members)))).toEqual([contentType, body])
  })

  test('is found behind a byte order mark', () => {
    const value = Buffer.from('\uFEFF{"specversion":"1.0","id":"1","source":"/s","type":"t","data":1.0}')
    const decoded = decodeEvent({ headers: {}, value })
    expect(decoded.kind === 'event' && readable(binaryData(decoded.event))).toEqual(['application/json', '1.0'])
  })

  test('is found for a copy of the event and of its bytes', () => {
    const event = structuredEvent('"data":1.0,')
    const copy = { ...event, value: Buffer.from(event.value!) }
    expect(binaryData(copy)).toEqual(binaryData(event))
  })

  test('a megabyte of it, nested or flat, comes whole', () => {
    const megabytes = ['['.repeat(500_000) + ']'.repeat(500_000), JSON.stringify('\\"ä'.repeat(200_000))]
    for (const text of megabytes) {
      const { body } = binaryData(structuredEvent(`"data":${text},`))
      expect(body?.equals(Buffer.from(text))).toBe(true)
    }
    const { body } = binaryData(structuredEvent(`"data_base64":"${Buffer.alloc(1_000_000, 7).toString('base64')}",`))
    expect(body?.equals(Buffer.alloc(1_000_000, 7))).toBe(true)
  })

  test('an event that never was decoded is a mistake of the program', () => {
    expect(() => binaryData({ mode: 'structured', attributes: new Map(), value: null })).toThrow(TypeError)
    expect(() => binaryData({ mode: 'structured', attributes: new Map(), value: Buffer.from('{') })).toThrow(TypeError)
  })
})

test('the data of a binary event is its value, untouched and unread', () => {
  for (const value of [Buffer.from([0xff, 0]), Buffer.alloc(0), null]) {
    const typed = { mode: 'binary', attributes: new Map([['datacontenttype', 'application/json']]), value } as const
    expect(binaryData(typed)).toEqual({ contentType: 'application/json', body: value })
    expect(binaryData(typed).body).toBe(value)
    expect(binaryData({ ...typed, attributes: new Map() }).contentType).toBeUndefined()
  }
})
