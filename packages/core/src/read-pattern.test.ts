import { describe, expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

function messages(pattern: unknown): string[] {
  const subscription = { id: 'a', topics: ['t'], sink: 'https://example.com/', filters: [{ pattern }] }
  const parsed = parseSubscription(subscription)
  if (parsed.kind === 'valid') return []
  return parsed.problems.map(({ message }) => message.replace('filters[0].pattern', 'pattern'))
}

const times = <Value>(count: number, of: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => of(index))
const fields = (count: number) => ({ data: Object.fromEntries(times(count, (index) => [`f${index}`, ['x']])) })
/** `data` is one level, and so is each name below it. */
const deep = (depth: number) => ({
  data: times(depth - 1, () => 'a').reduce<unknown>((below, name) => ({ [name]: below }), ['x']),
})

describe('limits, at their edge and one beyond', () => {
  test.each<[what: string, within: unknown, beyond: unknown, message: RegExp]>([
    [
      'conditions',
      { type: times(5, String) },
      { type: times(6, String) },
      /^pattern\.type: has 6 conditions, more than 5$/,
    ],
    ['fields', fields(100), fields(101), /^pattern\.data\.f100: is one of more than 100 fields$/],
    ['depth', deep(32), deep(33), /^pattern\.data\.a.*\.a: is nested more than 32 deep$/],
    [
      'an exact text',
      { type: ['x'.repeat(1_024)] },
      { type: ['x'.repeat(1_025)] },
      /^pattern\.type\[0\]: has 1025 characters, more than 1024$/,
    ],
    [
      'a prefix',
      { type: [{ prefix: 'x'.repeat(1_024) }] },
      { type: [{ prefix: 'x'.repeat(1_025) }] },
      /^pattern\.type\[0\]\.prefix: has 1025/,
    ],
    [
      'anything-but',
      { type: [{ 'anything-but': times(100, String) }] },
      { type: [{ 'anything-but': times(101, String) }] },
      /has 101 values, more than 100$/,
    ],
    [
      'numeric',
      { data: { x: [{ numeric: ['>', -1e9, '<', 1e9] }] } },
      { data: { x: [{ numeric: ['<', 1e9 + 1] }] } },
      /numeric: 1000000001 is not from -1\.0E9 to 1\.0E9$/,
    ],
    [
      'an exact number',
      { data: { x: [2 ** 53 - 1] } },
      { data: { x: [2 ** 53] } },
      /^pattern\.data\.x\[0\]: 9007199254740992 is beyond/,
    ],
    [
      'an attribute',
      { ['a'.repeat(64)]: ['x'] },
      { ['a'.repeat(65)]: ['x'] },
      /is neither "data" nor the name of a CloudEvents attribute/,
    ],
    [
      'a name',
      { data: { ['a'.repeat(1_024)]: ['x'] } },
      { data: { ['a'.repeat(1_025)]: ['x'] } },
      /has a name of more than 1024 characters$/,
    ],
  ])('%s', (_what, within, beyond, message) => {
    expect(messages(within)).toEqual([])
    expect(messages(beyond)).toEqual([expect.stringMatching(message)])
  })
})

test.each<[pattern: unknown, message: string | RegExp]>([
  ['{}', /^pattern: "\{\}" is not an event pattern; write \{ source: \[acs\.oss\]/],
  [[], /^pattern: \[\] is not an event pattern/],
  [null, /^pattern: null is not an event pattern/],
  [{ Source: ['a'] }, /^pattern\.Source: is neither "data" nor the name of a CloudEvents attribute/],
  [{ data_base64: ['a'] }, /^pattern\.data_base64: is neither/],
  [{ source: 'acs.oss' }, 'pattern.source: "acs.oss" is not a list of conditions; write ["acs.oss"]'],
  [{ source: {} }, /^pattern\.source: \{\} is not a list of conditions/],
  [{ source: [] }, 'pattern.source: is empty; it needs at least one condition'],
  [{ source: [['a']] }, 'pattern.source[0]: is a list within a list; write its values one by one'],
  [{ data: ['a'] }, /^pattern\.data: \["a"\] does not say which field in the data/],
  [{ data: {} }, 'pattern.data: is empty; it needs at least one field'],
  [{ data: { a: {} } }, 'pattern.data.a: is empty; it needs at least one field'],
  [{ data: { a: 5 } }, 'pattern.data.a: 5 is neither a list of conditions nor a mapping; write [5]'],
  [
    { data: { a: { 'b.c': null } } },
    'pattern.data.a["b.c"]: null is neither a list of conditions nor a mapping; write [null]',
  ],
  [{ type: [{}] }, /^pattern\.type\[0\]: is empty; it needs one of prefix, suffix, contains/],
  [
    { type: ['a', { prefx: 'a' }] },
    /^pattern\.type\[1\]\.prefx: is not an operator; one of prefix, .*did you mean "?prefix/i,
  ],
  [{ type: [{ prefix: '' }] }, 'pattern.type[0].prefix: "" is not text of at least one character'],
  [{ type: [{ suffix: 5 }] }, 'pattern.type[0].suffix: 5 is not text of at least one character'],
  [{ type: [{ contains: ['a'] }] }, 'pattern.type[0].contains: ["a"] is not text of at least one character'],
  [{ type: [{ 'anything-but': [] }] }, /anything-but"?\]?: is an empty list/],
  [{ type: [{ 'anything-but': [['a']] }] }, /anything-but"?\]?: \["a"\] is neither text, a number/],
  [
    { type: [{ 'anything-but': { contains: 'a' } }] },
    /anything-but"?\]?: \{"contains":"a"\} is neither a value, a list/,
  ],
  [{ type: [{ 'anything-but': { prefix: 'a', suffix: 'b' } }] }, /is neither a value, a list/],
  [{ type: [{ 'anything-but': { prefix: '' } }] }, /anything-but"?\]?: prefix: "" is not text/],
  [
    { type: [{ numeric: [] }] },
    'pattern.type[0].numeric: [] is not a list of one or two comparisons; write [">", 0, "<=", 5]',
  ],
  [{ type: [{ numeric: ['>', 0, '<'] }] }, /is not a list of one or two comparisons/],
  [{ type: [{ numeric: ['=>', 0] }] }, 'pattern.type[0].numeric: "=>" is not a comparison; one of < <= = != > >='],
  [{ type: [{ numeric: ['>', '0'] }] }, 'pattern.type[0].numeric: "0" is not a number'],
  [{ type: [{ numeric: ['toString', 0] }] }, /"toString" is not a comparison/],
  [{ type: [{ numeric: ['>', Number.NaN] }] }, /is not a number$/],
  [
    { type: [{ cidr: '10.0.0.0/33' }] },
    /^pattern\.type\[0\]\.cidr: "10\.0\.0\.0\/33" is neither a block of IPv4 addresses/,
  ],
  [{ type: [{ cidr: '::/0' }] }, /is neither a block of IPv4 addresses/],
  [{ type: [{ cidr: 5 }] }, /is neither a block of IPv4 addresses/],
  [{ type: [{ exists: 'false' }] }, 'pattern.type[0].exists: "false" is neither true nor false'],
  [
    { type: [{ exists: false, prefix: 'a' }] },
    /^pattern\.type\[0\]\.exists: false together with another operator is never true/,
  ],
  [{ type: [{ constructor: 'a' }] }, /is not an operator/],
  [JSON.parse('{"__proto__":["a"]}'), /^pattern\.__proto__: is neither/],
])('%j is refused with its place', (pattern, message) => {
  const found = messages(pattern)
  expect(found).toHaveLength(1)
  if (typeof message === 'string') expect(found[0]).toBe(message)
  else expect(found[0]).toMatch(message)
})

test('the fields of all patterns of a subscription count together', () => {
  const filters = [{ any: [{ pattern: fields(60) }, { not: { pattern: fields(41) } }] }]
  const parsed = parseSubscription({ id: 'a', topics: ['t'], sink: 'https://example.com/', filters })
  expect(parsed).toMatchObject({
    problems: [{ message: 'filters[0].any[1].not.pattern.data.f40: is one of more than 100 fields' }],
  })
})

test('what is nested without end is refused, not recursed into', () => {
  const endless = times(100_000, () => 'a').reduce<unknown>((below, name) => ({ [name]: below }), ['x'])
  expect(messages({ data: endless })).toEqual([expect.stringMatching(/is nested more than 32 deep$/)])
  const circular: Record<string, unknown> = {}
  circular['a'] = circular
  expect(messages({ data: circular })).toEqual([expect.stringMatching(/is nested more than 32 deep$/)])
})
