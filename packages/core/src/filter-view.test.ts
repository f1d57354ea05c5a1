import { describe, expect, test, vi } from 'vitest'
import type { Operator } from './advanced-operators.ts'
import { decodeEvent } from './event.ts'
import type { CloudEvent } from './event.ts'
import { cloudEventView, customView, eventGridView, filterKey } from './filter-view.ts'
import type { FilterView } from './filter-view.ts'

function decoded(record: Parameters<typeof decodeEvent>[0]): CloudEvent {
  const result = decodeEvent(record)
  if (result.kind !== 'event') throw new Error(result.message)
  return result.event
}

function binary(value: string | Buffer | null, attributes: Readonly<Record<string, string>> = {}): CloudEvent {
  const { contentType, ...others } = { contentType: 'application/json', ...attributes }
  const all = { specversion: '1.0', id: '1', source: '/s', type: 't', ...others }
  const headers = Object.entries(all).map(([name, text]) => [`ce_${name}`, Buffer.from(text)] as const)
  return decoded({
    value: value === null ? null : Buffer.from(value),
    headers: { ...Object.fromEntries(headers), 'content-type': Buffer.from(contentType) },
  })
}

function structured(members: string): CloudEvent {
  const value = Buffer.from(`{"specversion":"1.0","id":"1","source":"/s","type":"t",${members}}`)
  return decoded({ value, headers: {} })
}

const at = (view: FilterView, key: string, operand: Operator['operand'] = 'string') =>
  view.valueOf(filterKey(key), operand)

describe('a CloudEvent', () => {
  test.each<[CloudEvent, string, unknown]>([
    [binary('{"a":{"b":[1,{"c":2}]}}'), 'data.a.b', [1, { c: 2 }]],
    [binary('{"a":{"b":1}}'), 'Data.a.b', 1],
    [binary('{"a":{"b":1}}'), 'data.A.b', undefined],
    [binary('{"a":{"b":1}}'), 'data.a.b.c', undefined],
    [binary('{"a":[5]}'), 'data.a.0', undefined],
    [binary('{"a":[5]}'), 'data.a.length', undefined],
    [binary('{"a":"five"}'), 'data.a.length', undefined],
    [binary('{}'), 'data.constructor', undefined],
    [binary('{}'), 'data.__proto__', undefined],
    [binary('{"__proto__":5}'), 'data.__proto__', 5],
    [binary('{"":{"":5}}'), 'data..', 5],
    [binary('{"a.b":5}'), 'data.a.b', undefined],
    [binary('{"a":1,"a":2}'), 'data.a', 2],
    [binary('5'), 'data', 5],
    [binary('\uFEFF{"a":1}'), 'data.a', 1],
    [binary('{"a":1}', { contentType: 'application/vnd.x+json; charset=utf-8' }), 'data.a', 1],
    [binary('{"a":1}', { contentType: '' }), 'data.a', 1],
    [binary('{"a":1}', { contentType: 'text/plain' }), 'data.a', undefined],
    [binary('{"a":1}', { contentType: 'application/json; charset=utf-16' }), 'data.a', undefined],
    [binary('{"a":1'), 'data.a', undefined],
    [binary(Buffer.from('{"a":"\xff"}', 'latin1')), 'data.a', undefined],
    [binary(''), 'data', undefined],
    [binary(null), 'data', undefined],
    [structured('"data":{"a":1}'), 'data.a', 1],
    [structured('"data": "text"'), 'data', 'text'],
    [structured('"data":null'), 'data', null],
    [structured('"datacontenttype":"text/plain","data":{"a":1}'), 'data.a', undefined],
    [structured('"datacontenttype":"text/plain","data":"text"'), 'data', undefined],
    [structured('"data_base64":"eyJhIjoxfQ=="'), 'data.a', undefined],
    [structured('"datacontenttype":"application/json","data_base64":"eyJhIjoxfQ=="'), 'data.a', undefined],
    [structured('"x":1'), 'data', undefined],
    [binary('{}', { subject: 'a/b' }), 'Subject', 'a/b'],
    [binary('{}', { subject: 'a/b' }), 'subject.x', undefined],
    [binary('{}'), 'SpecVersion', '1.0'],
    [binary('{}'), 'subject', undefined],
    [binary('{}'), 'toString', undefined],
    [structured('"comExt":"x"'), 'comExt', 'x'],
  ])('%# %s', (event, key, expected) => {
    expect(at(cloudEventView(event), key)).toEqual(expected)
  })

  test.each<[text: string, operand: Operator['operand'], expected: unknown]>([
    ['5', 'string', '5'],
    ['5', 'number', 5],
    ['-1.5e1', 'range', -15],
    ['05', 'number', '05'],
    ['', 'number', ''],
    [' 5', 'number', ' 5'],
    ['0x10', 'number', '0x10'],
    ['Infinity', 'number', 'Infinity'],
    ['true', 'boolean', true],
    ['false', 'boolean', false],
    ['True', 'boolean', 'True'],
    ['true', 'string', 'true'],
    ['5', null, '5'],
  ])('an attribute with the text %j is for a %s %j', (text, operand, expected) => {
    expect(at(cloudEventView(binary('{}', { ext: text })), 'ext', operand)).toBe(expected)
  })

  test('an extension that holds a number is the same in both modes', () => {
    for (const event of [structured('"ext":5'), binary('{}', { ext: '5' })]) {
      expect(at(cloudEventView(event), 'ext', 'string')).toBe('5')
      expect(at(cloudEventView(event), 'ext', 'number')).toBe(5)
    }
  })

  test('data is parsed when it is first asked for, and once', () => {
    const parse = vi.spyOn(JSON, 'parse')
    try {
      const view = cloudEventView(binary('{"a":1,"b":2}'))
      expect(at(view, 'type')).toBe('t')
      expect(parse).not.toHaveBeenCalled()
      expect([at(view, 'data.a'), at(view, 'data.b'), at(view, 'data.c')]).toEqual([1, 2, undefined])
      expect(parse).toHaveBeenCalledOnce()
      const broken = cloudEventView(binary('{'))
      expect([at(broken, 'data.a'), at(broken, 'data.b')]).toEqual([undefined, undefined])
      expect(parse).toHaveBeenCalledTimes(2)
    } finally {
      parse.mockRestore()
    }
  })

  test('10 MB of JSON', () => {
    const items = `{"name":"${'x'.repeat(80)}"},`.repeat(100_000)
    const view = cloudEventView(binary(`{"items":[${items}0],"a":"${'y'.repeat(100_000)}"}`))
    expect(at(view, 'data.a')).toHaveLength(100_000)
    expect(at(view, 'data.items')).toHaveLength(100_001)
  })

  test('JSON that is nested a hundred thousand deep', () => {
    const deep = `{"a":1,"b":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(at(cloudEventView(binary(deep)), 'data.a')).toBe(1)
  })
})

test.each<[key: string, expected: unknown]>([
  ['id', '7'],
  ['eventType', 'a.b'],
  ['EventType', 'a.b'],
  ['EVENTTYPE', 'a.b'],
  ['Data.key1', 5],
  ['data.key1', 5],
  ['data.Key1', undefined],
  ['dataVersion', '1'],
  ['topic', undefined],
  ['toString', undefined],
])('an event in Event Grid schema: %s', (key, expected) => {
  const json = Buffer.from('{"id":"7","eventType":"a.b","subject":"s","dataVersion":"1","Data":{"key1":5}}')
  expect(at(eventGridView(new Map(), json), key)).toBe(expected)
})

test.each<[key: string, expected: unknown]>([
  ['order.color', 'red'],
  ['Order.color', undefined],
  ['n', 5],
  ['data.n', undefined],
])('a document of its own schema: %s', (key, expected) => {
  const json = Buffer.from('{"order":{"color":"red"},"n":5}')
  expect(at(customView(new Map(), json), key, 'number')).toBe(expected)
})

test.each(['', 'no JSON', '[]', '5', 'null'])('a document that is %j has no keys', (json) => {
  expect(at(eventGridView(new Map(), Buffer.from(json)), 'id')).toBeUndefined()
  expect(at(customView(new Map(), Buffer.from(json)), 'id')).toBeUndefined()
})
