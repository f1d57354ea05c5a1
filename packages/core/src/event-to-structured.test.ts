import { HTTP, type CloudEvent as SdkEvent } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { structuredJson } from './event-to-structured.ts'
import { decodeEvent, type CloudEvent } from './event.ts'

const head = '{"specversion":"1.0","id":"1","source":"/s","type":"t"'

function binaryEvent(contentType: string | null, value: Buffer | string | null, more: Record<string, string> = {}) {
  const attributes = new Map(Object.entries({ specversion: '1.0', id: '1', source: '/s', type: 't', ...more }))
  if (contentType !== null) attributes.set('datacontenttype', contentType)
  return { mode: 'binary', attributes, value: value === null ? null : Buffer.from(value as string) } as const
}

const written = (event: CloudEvent) => structuredJson(event).toString('utf8')

describe('a binary event in the JSON format', () => {
  test.each([
    '{"a":9007199254740993,"a":1.0,"b":1e400}',
    ' { "s" : "\\u0000\\ud800" }\n',
    '"grün"',
    'null',
    '['.repeat(100_000) + ']'.repeat(100_000),
  ])('JSON goes in as it stands: %.50s', (data) => {
    expect(written(binaryEvent(null, data))).toBe(`${head},"data":${data}}`)
    for (const type of ['application/json', 'Application/Vnd.X+JSON; charset=UTF-8', 'text/json']) {
      expect(written(binaryEvent(type, data))).toBe(`${head},"datacontenttype":"${type}","data":${data}}`)
    }
  })

  test.each<[name: string, contentType: string | null, value: Buffer | string | null, member: string]>([
    ['null', 'application/json', null, ''],
    ['empty', 'application/json', '', ''],
    ['damaged JSON', 'application/json', '{"a":', ',"data_base64":"eyJhIjo="'],
    ['damaged JSON of a text type', 'text/json', 'abc', ',"data_base64":"YWJj"'],
    ['JSON that would break out', 'application/json', '1,"id":"2"', ',"data_base64":"MSwiaWQiOiIyIg=="'],
    ['JSON behind a byte order mark', 'application/json', '\uFEFF1', ',"data_base64":"77u/MQ=="'],
    ['JSON in another charset', 'application/json; charset=utf-16', '1 ', ',"data_base64":"MSA="'],
    ['JSON that is no UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0x22]), ',"data_base64":"Iv8i"'],
    ['no type and no JSON', null, 'abc', ',"data_base64":"YWJj"'],
    ['text', 'text/plain', 'a"\n\0ä\u{1F680}\u2028', ',"data":"a\\"\\n\\u0000ä\u{1F680}\u2028"'],
    ['text that looks like JSON', 'text/plain', '{"a":1}', ',"data":"{\\"a\\":1}"'],
    ['text behind a byte order mark', 'text/xml; charset="utf-8"', '\uFEFFa', ',"data":"\uFEFFa"'],
    ['text that is no UTF-8', 'text/plain', Buffer.from([0x61, 0xff]), ',"data_base64":"Yf8="'],
    ['an encoded surrogate', 'text/plain', Buffer.from([0xed, 0xa0, 0x80]), ',"data_base64":"7aCA"'],
    ['text in another charset', 'text/plain; charset=iso-8859-1', 'abc', ',"data_base64":"YWJj"'],
    ['anything else', 'application/xml', '<a/>', ',"data_base64":"PGEvPg=="'],
  ])('%s', (_name, contentType, value, member) => {
    const type = contentType === null ? '' : `,"datacontenttype":${JSON.stringify(contentType)}`
    const text = written(binaryEvent(contentType, value))
    expect(text).toBe(`${head}${type}${member}}`)
    expect(JSON.parse(text)).toMatchObject({ id: '1' })
  })

  test('attributes are strings, whatever they look like and are called', () => {
    const more = { n: '1', b: 'true', subject: '"\\\n\0ä', constructor: 'x', 'x-y': 'z' }
    expect(JSON.parse(written(binaryEvent(null, null, more)))).toEqual({
      specversion: '1.0',
      id: '1',
      source: '/s',
      type: 't',
      ...more,
    })
    const event = { mode: 'binary', attributes: new Map([['__proto__', 'x']]), value: null } as const
    expect(written(event)).toBe('{"__proto__":"x"}')
  })

  test.each<[contentType: string, value: string, data: unknown]>([
    ['application/json', '{"a":[1,"ä",null]}', { a: [1, 'ä', null] }],
    ['text/plain', 'grün', 'grün'],
    ['application/xml', '<a/>', '<a/>'],
  ])('the SDK reads it as we meant it: %s', (contentType, value, data) => {
    const time = '2026-01-01T00:00:00.000Z'
    const body = written(binaryEvent(contentType, value, { time, subject: 'x', myextension: 'ä' }))
    const headers = { 'content-type': 'application/cloudevents+json' }
    const read = HTTP.toEvent<unknown>({ headers, body }) as SdkEvent<unknown>
    expect(read).toMatchObject({ id: '1', source: '/s', type: 't', time, subject: 'x', myextension: 'ä' })
    expect(read.datacontenttype).toBe(contentType)
    if (contentType === 'application/xml') expect(read.data_base64).toBe(Buffer.from(value).toString('base64'))
    else expect(read.data).toEqual(data)
  })
})

test('a structured event is the very bytes that came', () => {
  const value = Buffer.from(`\uFEFF ${head},"data":{"a":1.0,"a":9007199254740993}}\n`)
  const decoded = decodeEvent({ headers: {}, value })
  expect(decoded.kind === 'event' && structuredJson(decoded.event)).toBe(value)
})
