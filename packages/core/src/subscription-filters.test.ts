import { expect, test } from 'vitest'
import { readFilters } from './subscription-filters.ts'

function problems(value: unknown): string[] {
  const said: string[] = []
  const filters = readFilters(value, (message, ...below) => {
    said.push(`${below.join('/')}: ${message}`)
    return undefined
  })
  expect(filters === undefined).toBe(said.length > 0)
  return said
}

function nested(depth: number): unknown {
  return depth === 1 ? { exact: { type: 'a' } } : { not: nested(depth - 1) }
}

test.each([
  [[]],
  [[{ exact: { type: 'a', source: '/b' } }]],
  [[{ prefix: { subject: 'eu/' } }, { suffix: { subject: '.jpg' } }]],
  [[{ all: [{ any: [{ exact: { type: 'a' } }, { exact: { type: 'b' } }] }, { not: { prefix: { source: '/x' } } }] }]],
  [[{ exact: { constructor: 'a' } }]],
  [[nested(8)]],
])('%j is read as it stands', (filters) => {
  const copy = JSON.parse(JSON.stringify(filters))
  expect(readFilters(filters, () => expect.unreachable())).toEqual(copy)
})

const operators = 'exact, prefix, suffix, all, any, not, subject, advanced, pattern'

test.each<[unknown, string]>([
  [null, ': null is not a list; write [{ exact: { type: com.example.paid } }]'],
  [{ exact: {} }, ': {"exact":{}} is not a list; write [{ exact: { type: com.example.paid } }]'],
  [[null], `0: null is not a filter; write one operator each: ${operators}`],
  [['a'], `0: "a" is not a filter; write one operator each: ${operators}`],
  [[{}], `0: {} is not a filter; write one operator each: ${operators}`],
  [
    [{ exact: { type: 'a' }, not: {} }],
    `0: {"exact":{"type":"a"},"not":{}} is not a filter; write one operator each: ${operators}`,
  ],
  [[{ exakt: { type: 'a' } }], `0/exakt: is not an operator; one of ${operators} (did you mean exact?)`],
  [[{ toString: { type: 'a' } }], `0/toString: is not an operator; one of ${operators}`],
  [[JSON.parse('{"__proto__":{}}')], `0/__proto__: is not an operator; one of ${operators}`],
  [[{ exact: 'a' }], '0/exact: "a" does not name an attribute; write { type: com.example.paid }'],
  [[{ exact: {} }], '0/exact: is empty; it needs at least one attribute'],
  [
    [{ exact: { Type: 'a' } }],
    '0/exact/Type: is not a CloudEvents attribute: lower-case letters and digits, not "data"',
  ],
  [
    [{ prefix: JSON.parse('{"__proto__":"a"}') }],
    '0/prefix/__proto__: is not a CloudEvents attribute: lower-case letters and digits, not "data"',
  ],
  [
    [{ exact: { data: 'a' } }],
    '0/exact/data: is not a CloudEvents attribute: lower-case letters and digits, not "data"',
  ],
  [[{ exact: { type: 5 } }], '0/exact/type: 5 is not text; put it in quotes: "5"'],
  [[{ exact: { type: null } }], '0/exact/type: null is not text of at least one character'],
  [[{ suffix: { type: '' } }], '0/suffix/type: "" is not text of at least one character'],
  [[{ exact: { type: 'x'.repeat(1_025) } }], '0/exact/type: has 1025 characters, more than 1024'],
  [[{ all: [] }], '0/all: is empty; it needs at least one filter'],
  [[{ any: {} }], '0/any: {} is not a list; write [{ exact: { type: com.example.paid } }]'],
  [[{ not: [] }], `0/not: [] is not a filter; write one operator each: ${operators}`],
  [[{ any: [{ exact: { type: 'a' } }, 5] }], `0/any/1: 5 is not a filter; write one operator each: ${operators}`],
  [[nested(9)], '0/not/not/not/not/not/not/not/not: is nested more than 8 deep'],
  [Array.from({ length: 201 }, () => nested(1)), ': holds more than 200 filters in all'],
  [[{ all: Array.from({ length: 200 }, () => nested(1)) }], '0/all: holds more than 200 filters in all'],
])('%j is refused', (value, message) => {
  expect(problems(value)).toEqual([message])
})

test('200 filters are counted however they are nested', () => {
  expect(problems(Array.from({ length: 101 }, () => nested(2)))).toEqual([
    expect.stringContaining('more than 200 filters'),
  ])
  expect(problems(Array.from({ length: 100 }, () => nested(2)))).toEqual([])
})
