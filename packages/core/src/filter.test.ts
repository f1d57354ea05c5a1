import { describe, expect, test } from 'vitest'
import type { CloudEvent } from './event.ts'
import { compileFilter, type Filter } from './filter.ts'

const event: CloudEvent = {
  mode: 'binary',
  attributes: new Map([
    ['specversion', '1.0'],
    ['id', '1'],
    ['source', 'https://github.com/cloudevents/spec'],
    ['type', 'com.github.push'],
    ['subject', ''],
    ['constructor', 'x'],
  ]),
  value: null,
}

const yes: Filter = { exact: { id: '1' } }
const no: Filter = { exact: { id: '2' } }

describe('types', () => {
  test.each<[types: string[], expected: boolean]>([
    [[], true],
    [['com.github.push'], true],
    [['com.github.pull', 'com.github.push'], true],
    [['com.github.pull'], false],
    [['com.github.Push'], false],
    [['com.github'], false],
    [['com.github.push '], false],
  ])('%j → %s', (types, expected) => {
    expect(compileFilter(types, [])(event)).toBe(expected)
  })

  test('types and filters must both pass', () => {
    expect(compileFilter(['com.github.push'], [yes])(event)).toBe(true)
    expect(compileFilter(['com.github.push'], [no])(event)).toBe(false)
    expect(compileFilter(['other'], [yes])(event)).toBe(false)
  })
})

test.each<[filters: Filter[], expected: boolean]>([
  [[], true],
  [[yes], true],
  [[yes, yes], true],
  [[yes, no], false],
  [[no, yes], false],
])('a list of filters passes when all do: %j → %s', (filters, expected) => {
  expect(compileFilter([], filters)(event)).toBe(expected)
})

test.each<[filter: Filter, expected: boolean]>([
  [{ exact: { type: 'com.github.push' } }, true],
  [{ exact: { type: 'com.github.push', id: '1' } }, true],
  [{ exact: { type: 'com.github.push', id: '2' } }, false],
  [{ exact: { type: 'com.github.pus' } }, false],
  [{ exact: { type: 'COM.github.push' } }, false],
  [{ exact: { time: 'x' } }, false],
  [{ exact: { toString: 'x' } }, false],
  [{ exact: { constructor: 'x' } }, true],
  [{ exact: { subject: '' } }, true],
  [{ exact: { time: '' } }, false],
  [{ prefix: { type: 'com.github.' } }, true],
  [{ prefix: { type: 'com.github.push' } }, true],
  [{ prefix: { type: 'com.github.push.' } }, false],
  [{ prefix: { type: 'com.', source: 'https://' } }, true],
  [{ prefix: { type: 'com.', source: 'http://' } }, false],
  [{ prefix: { type: 'github' } }, false],
  [{ prefix: { type: 'Com.' } }, false],
  [{ prefix: { time: '2' } }, false],
  [{ suffix: { type: '.push' } }, true],
  [{ suffix: { type: 'com.github.push' } }, true],
  [{ suffix: { type: '.push', source: '/spec' } }, true],
  [{ suffix: { type: '.push', source: '/sdk' } }, false],
  [{ suffix: { type: 'github' } }, false],
  [{ suffix: { type: '.PUSH' } }, false],
  [{ suffix: { time: 'Z' } }, false],
  [{ all: [yes] }, true],
  [{ all: [yes, yes] }, true],
  [{ all: [yes, no] }, false],
  [{ any: [yes] }, true],
  [{ any: [no, yes] }, true],
  [{ any: [no, no] }, false],
  [{ not: yes }, false],
  [{ not: no }, true],
  [{ not: { exact: { time: 'x' } } }, true],
  [{ not: { not: yes } }, true],
  [{ all: [{ any: [no, { prefix: { type: 'com.' } }] }, { not: { suffix: { type: '.pull' } } }] }, true],
  [{ any: [{ all: [yes, no] }, { not: { all: [yes, yes] } }] }, false],
])('%j → %s', (filter, expected) => {
  expect(compileFilter([], [filter])(event)).toBe(expected)
  expect(compileFilter([], [{ not: filter }])(event)).toBe(!expected)
})

const nested = (depth: number, filter: Filter): Filter => (depth % 2 === 0 ? { not: filter } : { all: [filter] })

test('filters nest as deep as a subscription may write them', () => {
  let filter: Filter = yes
  for (let depth = 0; depth < 32; depth += 1) filter = nested(depth, filter)
  expect(compileFilter([], [filter])(event)).toBe(true)
})

test('a filter of a dialect that is not known is a mistake of the program', () => {
  expect(() => compileFilter([], [{ sql: 'TRUE' } as unknown as Filter])).toThrow('unknown filter {"sql":"TRUE"}')
})
