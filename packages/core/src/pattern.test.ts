import { describe, expect, test } from 'vitest'
import { decodeInput } from './decode-input.ts'
import type { InputSchema } from './decode-input.ts'
import { decodeEvent } from './event.ts'
import type { CloudEvent } from './event.ts'
import { compileFilter } from './filter.ts'
import { eventView } from './filter-view.ts'
import { explainPattern } from './pattern.ts'
import type { EventPattern } from './pattern.ts'
import { readPattern } from './read-pattern.ts'

function structured(members: object): CloudEvent {
  const value = Buffer.from(
    JSON.stringify({ specversion: '1.0', id: '1', source: 'acs.oss', type: 'oss:Put', ...members }),
  )
  const decoded = decodeEvent({ value, headers: {} })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return decoded.event
}

function binary(data: string, attributes: Readonly<Record<string, string>> = {}): CloudEvent {
  const all = { specversion: '1.0', id: '1', source: 'acs.oss', type: 'oss:Put', ...attributes }
  const headers = Object.entries(all).map(([name, text]) => [`ce_${name}`, Buffer.from(text)] as const)
  const decoded = decodeEvent({ value: Buffer.from(data), headers: Object.fromEntries(headers) })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return decoded.event
}

function read(pattern: unknown): EventPattern {
  const problems: string[] = []
  const result = readPattern(pattern, (message, ...path) => void problems.push(`${path.join('.')}: ${message}`))
  if (result === undefined) throw new Error(problems.join('\n'))
  return result
}

const matches = (pattern: unknown, event: CloudEvent) => compileFilter([], [{ pattern: read(pattern) }])(event)
/** What one list of conditions says to a value in the data; undefined leaves it out. */
const says = (conditions: unknown, value: unknown) =>
  matches({ data: { x: conditions } }, structured({ data: { x: value } }))

describe('one condition on one value', () => {
  test.each<[conditions: unknown[], passing: unknown[], failing: unknown[]]>([
    // Exact values: equal as text; null is nothing but null.
    [['a'], ['a', ['b', 'a']], ['A', 'ab', '', null, undefined, [], {}, [{ a: 'a' }], [['a']]]],
    [['300'], ['300', 300], ['300.0', 300.5, '3e2']],
    [[300], ['300', 300], ['300.0', '3e2', true]],
    [['é'], ['é'], ['e\u0301']],
    [[true], [true, 'true'], [false, 1, 'TRUE']],
    [[null], [null, [1, null]], ['null', undefined, '', 0, [], {}]],
    [[''], ['', ['']], [null, undefined, ' ', []]],
    [
      ['a', 'b'],
      ['a', 'b', ['c', 'b']],
      ['c', 'ab'],
    ],
    // Text: comparisons that nothing but text passes, and whose operand is no expression of any kind.
    [[{ prefix: 'acs.' }], ['acs.', 'acs.oss', ['x', 'acs.y']], ['acs', 'xacs.', 'ACS.oss', 5, null, undefined]],
    [[{ prefix: '3' }], ['300'], [300]],
    [[{ suffix: '.jpg' }], ['.jpg', 'a.jpg'], ['ajpg', 'a.JPG', '.jpg ', undefined]],
    [[{ contains: 'Normal' }], ['Normal', 'a Normal b'], ['normal', 'Norma', undefined]],
    [[{ contains: '(a+)+$' }], ['(a+)+$'], ['aaaa', '']],
    [[{ prefix: '.*' }], ['.*'], ['a']],
    // Anything but.
    [[{ 'anything-but': 'a' }], ['b', '', null, 5, false, ['a', 'b']], ['a', ['a', 'a'], undefined, [], {}]],
    [[{ 'anything-but': 5 }], [6, 'a'], [5, '5']],
    [[{ 'anything-but': null }], ['null', 0], [null, undefined]],
    [[{ 'anything-but': ['a', 5, null] }], ['b', 6, ['a', 'b']], ['a', 5, '5', null, ['a', 5], undefined]],
    [[{ 'anything-but': { prefix: 'init' } }], ['in', 'Init', 5, null], ['init', 'initial', undefined]],
    [[{ 'anything-but': { suffix: '.tmp' } }], ['a.txt', ['a.tmp', 'a.txt']], ['a.tmp', undefined]],
    // Numbers: no text is one.
    [[{ numeric: ['>', 0] }], [0.1, 1e9, [-1, 1]], [0, -1, '1', true, null, undefined]],
    [[{ numeric: ['>=', 0] }], [0, 1], [-0.1]],
    [[{ numeric: ['<', 5] }], [4.9], [5, '4']],
    [[{ numeric: ['<=', 5] }], [5], [5.1]],
    [[{ numeric: ['=', 0.3] }], [0.3, 0.1 + 0.2, 0.30000005], [0.3000002, '0.3']],
    [[{ numeric: ['!=', 0.3] }], [0.31], [0.3, 0.1 + 0.2, 'a', undefined]],
    [[{ numeric: ['>', 0, '<=', 5] }], [0.1, 5], [0, 5.1, -1]],
    [[{ numeric: ['>', 5, '<', 0] }], [], [-1, 3, 6]],
    [[{ numeric: ['>', 0, '<', 5] }], [], [[-1, 9]]],
    // Addresses.
    [
      [{ cidr: '10.0.0.0/24' }],
      ['10.0.0.0', '10.0.0.7', '10.0.0.255'],
      ['10.0.1.0', '9.255.255.255', '::1', '10.0.0', 'x', 5],
    ],
    [[{ cidr: '10.0.0.9/24' }], ['10.0.0.1'], ['10.0.1.1']],
    [[{ cidr: '10.0.0.1' }], ['10.0.0.1'], ['10.0.0.2', '10.0.0.01', '010.0.0.1', '10.0.0.1:80']],
    [[{ cidr: '0.0.0.0/0' }], ['255.255.255.255', '0.0.0.0'], ['256.0.0.0', '']],
    [[{ cidr: '255.255.255.255/32' }], ['255.255.255.255'], ['255.255.255.254']],
    // Being there.
    [[{ exists: true }], ['', 0, false, null, [1]], [undefined, {}, [], [{}], { a: 1 }]],
    [[{ exists: false }], [undefined], ['', null, 0, {}, []]],
    [
      [{ exists: false }, 'a'],
      [undefined, 'a'],
      ['b', null],
    ],
    // Operators in one condition must all hold, and for the same element.
    [[{ prefix: 'a', suffix: '.txt' }], ['a.txt', 'ab.txt'], ['a.jpg', 'b.txt', ['a.jpg', 'b.txt']]],
    [
      [{ prefix: 'a', suffix: 'z' }, 'b'],
      ['az', 'b'],
      ['a', 'z'],
    ],
  ])('%j', (conditions, passing, failing) => {
    expect(passing.map((value) => says(conditions, value))).toEqual(passing.map(() => true))
    expect(failing.map((value) => says(conditions, value))).toEqual(failing.map(() => false))
  })
})

describe('a pattern', () => {
  const event = structured({ subject: 'a/b', count: 5, data: { a: { b: 1, 'c.d': 'e' }, list: [{ x: 1 }] } })

  test.each<[pattern: unknown, isMatch: boolean]>([
    [{}, true],
    [{ source: ['acs.oss'] }, true],
    [{ source: ['acs.oss'], type: ['oss:Get'] }, false],
    [{ source: ['acs.oss'], type: ['oss:Get', 'oss:Put'], data: { a: { b: [1] } } }, true],
    [{ data: { a: { b: [1], 'c.d': ['e'] } } }, true],
    [{ data: { a: { b: [2], 'c.d': ['e'] } } }, false],
    [{ data: { a: [1] } }, false],
    [{ data: { a: { b: { c: [{ exists: true }] } } } }, false],
    [{ data: { a: { b: { c: [{ exists: false }] } } } }, true],
    [{ data: { list: { x: [1] } } }, false],
    [{ data: { constructor: [{ exists: true }] } }, false],
    [{ data: { a: { length: [{ exists: true }] } } }, false],
    [{ time: [{ exists: false }] }, true],
    [{ specversion: ['1.0'] }, true],
    // An attribute has no type on Kafka: its text is a number where it is written as one.
    [{ count: [5] }, true],
    [{ count: [{ numeric: ['>', 4] }] }, true],
    [{ subject: [{ numeric: ['>', 4] }] }, false],
    [{ count: [{ prefix: '5' }] }, true],
  ])('%j: %j', (pattern, isMatch) => {
    expect(matches(pattern, event)).toBe(isMatch)
  })

  test('is the same in every mode and schema', () => {
    const pattern = { type: ['oss:Put'], count: [{ numeric: ['=', 5] }], data: { bucket: [{ prefix: 'pho' }] } }
    expect(matches(pattern, structured({ count: 5, data: { bucket: 'photos' } }))).toBe(true)
    expect(matches(pattern, binary('{"bucket":"photos"}', { count: '5' }))).toBe(true)
    const json = {
      id: '1',
      eventType: 'oss:Put',
      subject: 's',
      dataVersion: '',
      eventTime: '2026-01-01T00:00:00Z',
      Data: { bucket: 'photos' },
    }
    const schema = { input: 'event-grid', inputSchemaMapping: {} } as unknown as InputSchema
    const record = { headers: {}, value: Buffer.from(JSON.stringify(json)) }
    const foreign = decodeInput(schema, record, { topic: 't', partition: 0, offset: 1 }, 0)
    if (foreign.kind !== 'event') throw new Error(foreign.message)
    expect(matches({ type: ['oss:Put'], data: { bucket: ['photos'] } }, foreign.event)).toBe(true)
  })

  test.each(['no JSON', '5', '"text"', '[]', 'null', ''])('data that is %j has no field', (data) => {
    expect(matches({ data: { x: [{ exists: true }] } }, binary(data))).toBe(false)
    expect(matches({ data: { x: [{ exists: false }] } }, binary(data))).toBe(true)
  })

  test('goes with the other filters', () => {
    const passes = compileFilter(['oss:Put'], [{ not: { pattern: read({ subject: [{ exists: true }] }) } }])
    expect([passes(structured({})), passes(structured({ subject: 's' })), passes(structured({ type: 'x' }))]).toEqual([
      true,
      false,
      false,
    ])
  })
})

test('costs no more than its size and the event have', () => {
  // Five conditions on each of a hundred fields, each of which all but hits at every place of each of the values: a
  // matcher that went back would not come to an end.
  const needles = ['a', 'b', 'c', 'd', 'e'].map((last) => ({
    contains: `${'a'.repeat(1_022)}X${last}`,
    suffix: 'a'.repeat(1_000),
  }))
  const names = Array.from({ length: 100 }, (_, index) => `f${index}`)
  const pattern = {
    data: Object.fromEntries(names.map((name) => [name, [...needles.slice(0, 4), { 'anything-but': 'b' }]])),
  }
  const data = Object.fromEntries(names.map((name) => [name, Array.from({ length: 10 }, () => 'a'.repeat(10_000))]))
  const startedAt = performance.now()
  expect(matches(pattern, structured({ data }))).toBe(true)
  const nested = Array.from({ length: 31 }).reduce<object>((below) => ({ a: below }), { x: ['no'] })
  expect(matches({ data: (nested as { a: object }).a }, structured({ data: { a: 'a'.repeat(1_000_000) } }))).toBe(false)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})

test('explains each field', () => {
  const view = eventView(structured({ data: { amount: 3, name: 'x' } }))
  const pattern = read({ type: ['oss:Put'], data: { amount: [{ numeric: ['>', 5] }], city: ['Rome'], name: ['x'] } })
  expect(explainPattern(pattern, view)).toEqual([
    { path: ['type'], conditions: ['oss:Put'], value: 'oss:Put', passes: true },
    { path: ['data', 'amount'], conditions: [{ numeric: ['>', 5] }], value: 3, passes: false },
    { path: ['data', 'city'], conditions: ['Rome'], value: undefined, passes: false },
    { path: ['data', 'name'], conditions: ['x'], value: 'x', passes: true },
  ])
})
