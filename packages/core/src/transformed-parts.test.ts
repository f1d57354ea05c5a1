import { describe, expect, test } from 'vitest'
import { decodeEvent } from './event.ts'
import type { CloudEvent } from './event.ts'
import { transformedBytesMax } from './transform.ts'
import { parseSubscription } from './parse-subscription.ts'
import { transformedParts, transformedUrlLengthMax } from './transformed-parts.ts'

const sink = 'https://example.com/hook'

/** The data is JSON text, so that its numbers stay as they are written. */
function event(data: string, members = ''): CloudEvent {
  const value = Buffer.from(`{"specversion":"1.0","id":"1","source":"/s","type":"t"${members},"data":${data}}`)
  return decoded({ value, headers: {} })
}

function decoded(record: Parameters<typeof decodeEvent>[0]): CloudEvent {
  const result = decodeEvent(record)
  if (result.kind !== 'event') throw new Error(result.message)
  return result.event
}

function partsOf(transform: object, ...events: readonly [CloudEvent, ...CloudEvent[]]) {
  const parsed = parseSubscription({ id: 'a', topics: ['t'], sink, transform })
  if (parsed.kind !== 'valid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  return transformedParts(events, parsed.subscription.transform!, sink)
}

function bodyOf(body: object, ...events: readonly [CloudEvent, ...CloudEvent[]]): string {
  const parts = partsOf({ body }, ...events)
  if (parts.kind === 'impossible') return parts.message
  return `${parts.body?.contentType.split(/[/;]/)[1]}: ${parts.body?.bytes.toString()}`
}

const template = (text: string, value: object = { x: '$.data.x' }) => ({ form: 'TEMPLATE', value, template: text })

describe('a body', () => {
  test.each<[what: string, body: object, data: string, made: string]>([
    ['a constant', { form: 'CONSTANT', value: 'hello "you"\n' }, '{}', 'plain: hello "you"\n'],
    ['a constant that is JSON', { form: 'CONSTANT', value: '{"a":1}' }, '{}', 'json: {"a":1}'],
    ['a path to text', { form: 'JSONPATH', value: '$.data.x' }, '{"x":"a\\"b\\nc"}', 'plain: a"b\nc'],
    ['a path to a number', { form: 'JSONPATH', value: '$.data.x' }, '{"x":1.50}', 'json: 1.50'],
    ['a path to an object', { form: 'JSONPATH', value: '$.data' }, '{"x": [1, 2.0]}', 'json: {"x": [1, 2.0]}'],
    ['a path to null', { form: 'JSONPATH', value: '$.data.x' }, '{"x":null}', 'json: null'],
    ['a path to nothing', { form: 'JSONPATH', value: '$.data.x.y' }, '{"x":5}', 'json: null'],
    ['a path to an attribute', { form: 'JSONPATH', value: '$.type' }, '{}', 'plain: t'],
    ['a path into arrays', { form: 'JSONPATH', value: "$.data['x y'][1].z" }, '{"x y":[0,{"z":7}]}', 'json: 7'],
    ['doubled names: the last counts', { form: 'JSONPATH', value: '$.data.x' }, '{"x":1,"x":2}', 'json: 2'],
    // Within a string: escaped, so that no value breaks the template.
    ['text within quotes', template('{"m":"${x}"}'), '{"x":"plain"}', 'json: {"m":"plain"}'],
    [
      'quotes and line breaks',
      template('{"m":"<${x}>"}'),
      '{"x":"a\\"b\\r\\nc\\\\d\\u0000"}',
      'json: {"m":"<a\\"b\\r\\nc\\\\d\\u0000>"}',
    ],
    ['half of a surrogate pair', template('{"m":"${x}"}'), '{"x":"\\ud800"}', 'json: {"m":"\\ud800"}'],
    ['a number within quotes', template('{"m":"${x}"}'), '{"x":1.0}', 'json: {"m":"1.0"}'],
    ['an object within quotes', template('{"m":"${x}"}'), '{"x":{"a":"b"}}', 'json: {"m":"{\\"a\\":\\"b\\"}"}'],
    ['null within quotes', template('{"m":"${x}"}'), '{"x":null}', 'json: {"m":"null"}'],
    ['nothing within quotes', template('{"m":"${x}"}'), '{}', 'json: {"m":"${x}"}'],
    [
      'text that ends the string',
      template('{"m":"${x}","ok":true}'),
      '{"x":"\\",\\"ok\\":false,\\"y\\":\\""}',
      'json: {"m":"\\",\\"ok\\":false,\\"y\\":\\"","ok":true}',
    ],
    // In the place of a value: JSON as it stands, text that is none as a string.
    ['a number', template('{"m":${x}}'), '{"x":1.0}', 'json: {"m":1.0}'],
    ['an object', template('[${x}, ${x}]'), '{"x":{"a": 1}}', 'json: [{"a": 1}, {"a": 1}]'],
    ['text that is JSON', template('{"m":${x}}'), '{"x":"{\\"a\\":1}"}', 'json: {"m":{"a":1}}'],
    ['text that is none', template('{"m":${x}}'), '{"x":"a\\"b\\n"}', 'json: {"m":"a\\"b\\n"}'],
    ['text that would add a member', template('{"m":${x}}'), '{"x":"1,\\"n\\":2"}', 'json: {"m":"1,\\"n\\":2"}'],
    ['empty text', template('{"m":${x}}'), '{"x":""}', 'json: {"m":""}'],
    ['null', template('{"m":${x}}'), '{"x":null}', 'json: {"m":null}'],
    ['nothing', template('{"m":${x}}'), '{}', 'json: {"m":null}'],
    // A template that is no JSON is text, and so is what is put in.
    ['text in text', template('Hello ${x}!\n"${x}"'), '{"x":"a\\"b\\nc"}', 'plain: Hello a"b\nc!\n"a"b\nc"'],
    ['nothing in text', template('Hello ${x}!'), '{}', 'plain: Hello ${x}!'],
    ['null in text', template('Hello ${x}!'), '{"x":null}', 'plain: Hello null!'],
    ['a lone place', template('${x}'), '{"x":"paid"}', 'plain: paid'],
    ['XML', template('<a b="${x}"/>'), '{"x":"\\""}', 'plain: <a b="""/>'],
    ['two places without anything between', template('{"m":${x}${x}}'), '{"x":1}', 'plain: {"m":11}'],
    [
      'a value is not filled again',
      template('${x} ${y}', { x: '$.data.x', y: 'why' }),
      '{"x":"${y}"}',
      'plain: ${y} why',
    ],
    ['what is no path is what it says', template('${x}', { x: 'data.x' }), '{"x":1}', 'plain: data.x'],
    [
      'the whole event',
      template('{"e":${x}}', { x: '$' }),
      '{"x":1}',
      'json: {"e":{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"x":1}}}',
    ],
    ['what is no place', template('$x {x} ${ $${x}'), '{"x":1}', 'plain: $x {x} ${ $1'],
    ['an escaped quote before', template('{"m":"\\"${x}"}'), '{"x":"\\""}', 'json: {"m":"\\"\\""}'],
  ])('%s', (_what, body, data, made) => {
    expect(bodyOf(body, event(data))).toBe(made)
    if (made.startsWith('json: ')) expect(() => JSON.parse(made.slice(6)) as unknown).not.toThrow()
  })

  test('ORIGINAL makes none of its own: it is the event in structured mode', () => {
    expect(partsOf({ body: { form: 'ORIGINAL' } }, event('{}'))).toEqual({ kind: 'made', headers: {} })
  })

  test('events in binary mode are seen as their CloudEvents JSON', () => {
    const binary = (value: Buffer, contentType: string) => {
      const all = { specversion: '1.0', id: '1', source: '/s', type: 't', subject: 'a' }
      const headers = Object.entries(all).map(([name, text]) => [`ce_${name}`, Buffer.from(text)] as const)
      return decoded({ value, headers: { ...Object.fromEntries(headers), 'content-type': Buffer.from(contentType) } })
    }
    const body = template('${s} ${x} ${d} ${b}', { s: '$.subject', x: '$.data.x', d: '$.data', b: '$.data_base64' })
    expect(bodyOf(body, binary(Buffer.from(' {"x":1.0}'), 'application/json'))).toBe('plain: a 1.0 {"x":1.0} ${b}')
    expect(bodyOf(body, binary(Buffer.from('text'), 'text/plain'))).toBe('plain: a ${x} text ${b}')
    expect(bodyOf(body, binary(Buffer.from([255]), 'application/json'))).toBe('plain: a ${x} ${d} /w==')
  })

  test('of several events is an array, in which text is a string', () => {
    const events = [event('{"x":"a\\"b"}'), event('{"x":2.0}')] as const
    expect(bodyOf({ form: 'JSONPATH', value: '$.data.x' }, ...events)).toBe('json: ["a\\"b",2.0]')
    expect(bodyOf(template('Hello ${x}'), ...events)).toBe('json: ["Hello a\\"b","Hello 2.0"]')
    expect(bodyOf(template('{"m":"${x}"}'), ...events)).toBe('json: [{"m":"a\\"b"},{"m":"2.0"}]')
  })

  test('has at most 16 MiB, one byte more is refused', () => {
    const data = JSON.stringify({ x: 'x'.repeat(1_024) })
    const edge = template('${x}'.repeat(2_048))
    const long = event(JSON.stringify({ x: 'x'.repeat(transformedBytesMax / 2_048) }))
    expect(bodyOf(edge, long)).toHaveLength(transformedBytesMax + 'plain: '.length)
    expect(bodyOf(template(`${'${x}'.repeat(2_048)}!`), long)).toBe(
      'transform.body: would have more than 16777216 bytes',
    )
    expect(bodyOf(edge, event(data))).toHaveLength(2_048 * 1_024 + 'plain: '.length)
  })
})

describe('headers', () => {
  const headersOf = (headers: object, ...events: readonly [CloudEvent, ...CloudEvent[]]) => {
    const parts = partsOf({ headers }, ...events)
    return parts.kind === 'made' ? parts.headers : parts.message
  }

  test.each<[headers: object, data: string, made: object]>([
    [
      { form: 'CONSTANT', value: '{"X-Team":"billing","X-Try":1.0,"X-No":null}' },
      '{}',
      { 'X-Team': 'billing', 'X-Try': '1.0' },
    ],
    [template('{"X-Name":"${x}"}'), '{"x":"plain"}', { 'X-Name': 'plain' }],
    // No value can smuggle in a header, and every one can be read back.
    [template('{"X-Name":"${x}"}'), '{"x":"a\\r\\nX-Evil: 1\\"€%"}', { 'X-Name': 'a%0D%0AX-Evil: 1"%E2%82%AC%25' }],
    [template('{"X-Name":"${x}"}'), '{"x":"\\",\\"Host\\":\\"evil"}', { 'X-Name': '","Host":"evil' }],
    [template('{"X-Name":${x}}'), '{"x":{"a":1}}', {}],
    [template('{"X-Name":${x}}'), '{}', {}],
    [
      { form: 'JSONPATH', value: '$.data.x' },
      '{"x":{"X-A":"a","X-B":2,"x-a":"again","Host":"evil","ce-id":"2","a b":"c","":"d","X-C":[1]}}',
      { 'X-A': 'a', 'X-B': '2' },
    ],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":"{\\"X-A\\":\\"a\\"}"}', { 'X-A': 'a' }],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":"no JSON"}', {}],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":[1]}', {}],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":{"__proto__":"a"}}', { ['__proto__']: 'a' }],
  ])('%j of %s', (headers, data, made) => {
    expect(Object.entries(headersOf(headers, event(data)))).toEqual(Object.entries(made))
  })

  test('at most 10 come from an event', () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`X-${index}`, 'a']))
    expect(Object.keys(headersOf({ form: 'JSONPATH', value: '$.data' }, event(JSON.stringify(many))))).toHaveLength(10)
  })

  test('of several events are those that they agree about', () => {
    const headers = template('{"X-Name":"${x}","X-Type":"${t}"}', { x: '$.data.x', t: '$.type' })
    expect({ ...(headersOf(headers, event('{"x":1}'), event('{"x":2}')) as object) }).toEqual({ 'X-Type': 't' })
  })
})

describe('a URL', () => {
  const urlOf = (url: object, data: string) => {
    const parts = partsOf({ url }, event(data))
    return parts.kind === 'made' ? parts.url : parts.message
  }
  const at = (text: string) => template(`https://example.com${text}`)

  test.each<[url: object, data: string, made: string]>([
    [{ form: 'CONSTANT', value: 'https://example.com/else?a=b' }, '{}', 'https://example.com/else?a=b'],
    [
      at('/${x}?q=${x}'),
      '{"x":"a/b?c&d=\\"e\\"\\n€"}',
      'https://example.com/a%2Fb%3Fc%26d%3D%22e%22%0A%E2%82%AC?q=a%2Fb%3Fc%26d%3D%22e%22%0A%E2%82%AC',
    ],
    [at('/${x}'), '{"x":5}', 'https://example.com/5'],
    [at('/${x}'), '{"x":"\\ud800"}', 'https://example.com/%EF%BF%BD'],
    [at('/${x}'), '{}', 'transform.url: the event has nothing for ${x}'],
    [at('/a/${x}'), '{"x":".."}', 'transform.url: has "." or ".." in its path'],
    [at('/a/${x}${x}/b'), '{"x":"."}', 'transform.url: has "." or ".." in its path'],
    [at('/a/${x}'), '{"x":"%2e%2e"}', 'https://example.com/a/%252e%252e'],
    [at('/a?next=/../${x}'), '{"x":"b"}', 'https://example.com/a?next=/../b'],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":"https://example.com:443/y"}', 'https://example.com:443/y'],
    [
      { form: 'JSONPATH', value: '$.data.x' },
      '{"x":"https://evil.example/"}',
      'transform.url: is not at https://example.com, as the sink is: an event may not choose who receives it',
    ],
    [
      { form: 'JSONPATH', value: '$.data.x' },
      '{"x":"http://example.com/"}',
      'transform.url: is not at https://example.com, as the sink is: an event may not choose who receives it',
    ],
    [
      { form: 'JSONPATH', value: '$.data.x' },
      '{"x":"https://u:p@example.com/"}',
      'transform.url: has a user name or password, which belong into a header',
    ],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{"x":"/relative"}', 'transform.url: is not a URL'],
    [{ form: 'JSONPATH', value: '$.data.x' }, '{}', 'transform.url: is not a URL'],
  ])('%j of %s', (url, data, made) => {
    expect(urlOf(url, data)).toBe(made)
  })

  test('has at most 8,192 characters', () => {
    const x = 'x'.repeat(transformedUrlLengthMax - 'https://example.com/'.length)
    expect(urlOf(at('/${x}'), JSON.stringify({ x }))).toBe(`https://example.com/${x}`)
    expect(urlOf(at('/${x}'), JSON.stringify({ x: `${x}x` }))).toBe(
      'transform.url: has 8193 characters, more than 8192',
    )
  })
})

test('however many variables there are, an event is walked once', () => {
  const variables = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`v${index}`, `$.data[${index * 1_000}]`]),
  )
  const numbers = Array.from({ length: 1_000_000 }, (_, index) => index % 10)
  const startedAt = performance.now()
  const text = Object.keys(variables)
    .map((name) => `\${${name}}`)
    .join(' ')
  expect(bodyOf(template(text, variables), event(JSON.stringify(numbers)))).toHaveLength('plain: '.length + 199)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})
