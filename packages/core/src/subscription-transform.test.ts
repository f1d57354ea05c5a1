import { describe, expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

const least = { id: 'a', topics: ['t'], sink: 'https://example.com/hook' }
const messages = (transform: unknown, change: object = {}): string[] => {
  const parsed = parseSubscription({ ...least, transform, ...change })
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}
const template = (text: string, value: unknown = { x: '$.data.x' }) => ({ form: 'TEMPLATE', value, template: text })
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, '$.id']))
const headersOf = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'a'])))

test('every form in every place', () => {
  expect(messages({})).toEqual([])
  expect(
    messages({
      body: { form: 'ORIGINAL' },
      headers: { form: 'CONSTANT', value: '{"X-Team":"billing"}' },
      url: { form: 'JSONPATH', value: '$.data.url' },
    }),
  ).toEqual([])
  expect(
    messages({
      body: template('${x}'),
      headers: template('{"X-A":"${x}"}'),
      url: template('https://example.com/${x}'),
    }),
  ).toEqual([])
})

describe('limits, at their edge and one beyond', () => {
  /** A mapping that is this long as JSON. */
  const asJson = (length: number) => ({ x: 'y'.repeat(length - '{"x":""}'.length) })
  test.each<[what: string, within: object, beyond: object, message: RegExp]>([
    [
      'a constant',
      { form: 'CONSTANT', value: 'x'.repeat(10_240) },
      { form: 'CONSTANT', value: 'x'.repeat(10_241) },
      /^transform\.body\.value: .* has 10241 characters, more than 10240$/,
    ],
    [
      'a template',
      template('x'.repeat(10_240)),
      template('x'.repeat(10_241)),
      /^transform\.body\.template: .* has 10241 characters/,
    ],
    [
      'its variables',
      template('${x}', asJson(10_240)),
      template('${x}', asJson(10_241)),
      /^transform\.body\.value: has 10241 characters as JSON, more than 10240$/,
    ],
    [
      'how many',
      template('x', many(100)),
      template('x', many(101)),
      /^transform\.body\.value: has 101 names, more than 100$/,
    ],
    [
      'a name',
      template('x', { ['x'.repeat(64)]: '$' }),
      template('x', { ['x'.repeat(65)]: '$' }),
      /is not a name: 1 to 64 letters/,
    ],
    [
      'a path',
      { form: 'JSONPATH', value: `$${'.a'.repeat(32)}` },
      { form: 'JSONPATH', value: `$${'.a'.repeat(33)}` },
      /does not lead to one value/,
    ],
  ])('%s', (_what, within, beyond, message) => {
    expect(messages({ body: within })).toEqual([])
    expect(messages({ body: beyond })).toEqual([expect.stringMatching(message)])
  })

  test('ten headers', () => {
    expect(messages({ headers: { form: 'CONSTANT', value: headersOf(10) } })).toEqual([])
    expect(messages({ headers: { form: 'CONSTANT', value: headersOf(11) } })).toEqual([
      'transform.headers.value: has 11 headers, more than 10',
    ])
  })
})

test.each<[transform: unknown, message: string | RegExp]>([
  [null, /^transform: null is not a mapping/],
  [{ body: '$.data' }, 'transform.body: "$.data" is not a transform; write { form: JSONPATH, value: $.data.name }'],
  [{ body: {} }, 'transform.body.form: is missing; one of ORIGINAL, CONSTANT, JSONPATH, TEMPLATE'],
  [{ body: { form: 'original' } }, /^transform\.body\.form: "original" is not known; one of ORIGINAL/],
  [{ body: { form: 'toString' } }, /^transform\.body\.form: "toString" is not known/],
  [{ body: { form: 'ORIGINAL', value: 'x' } }, 'transform.body.value: is not for ORIGINAL, which takes form'],
  [
    { body: { form: 'CONSTANT', value: 'x', template: 'y' } },
    'transform.body.template: is not for CONSTANT, which takes form, value',
  ],
  [{ body: { form: 'CONSTANT' } }, 'transform.body.value: is missing'],
  [{ body: { form: 'CONSTANT', value: 5 } }, 'transform.body.value: 5 is not text; put it in quotes: "5"'],
  ...[
    'data.x',
    '$.data[*]',
    '$..x',
    '$.data[?(@.x>1)]',
    '$.data.length()',
    '$.data.*',
    '$.data[-1]',
    '$.a b',
    '$[',
    '@.x',
  ].map((value): [unknown, RegExp] => [
    { body: { form: 'JSONPATH', value } },
    /^transform\.body\.value: ".*" does not lead to one value; write names/,
  ]),
  [{ body: { form: 'TEMPLATE', value: {} } }, 'transform.body.template: is missing'],
  [{ body: template('${y}') }, /^transform\.body\.template: \$\{y\} is not one of its values/],
  [{ body: template('${}') }, /^transform\.body\.template: \$\{\} is not one of its values/],
  [
    { body: template('x', 'x') },
    'transform.body.value: "x" is not a mapping of names to paths; write { name: $.data.name }',
  ],
  [{ body: template('x', { x: '$..y' }) }, /^transform\.body\.value\.x: "\$\.\.y" does not lead to one value/],
  [{ body: template('x', { x: 5 }) }, 'transform.body.value.x: 5 is not text; put it in quotes'],
  [{ body: template('x', { 'a b': '$' }) }, /^transform\.body\.value\["a b"\]: is not a name/],
  [
    { body: template('x', { EB_SYS_EMBED_OBJECT: '$' }) },
    'transform.body.value.EB_SYS_EMBED_OBJECT: is not available in this version',
  ],
  [{ key: { form: 'ORIGINAL' } }, 'transform.key.form: ORIGINAL is for the value alone; an event is no key'],
  [{ key: { form: 'JSONPATH', value: '$.subject' } }, 'transform.key: is for Kafka topics as sink; leave it out'],
  [{ value: { form: 'ORIGINAL' } }, 'transform.value: is for Kafka topics as sink; write body'],
  [{ boddy: { form: 'ORIGINAL' } }, /^transform\.boddy: is not a known field \(did you mean body\?\)/],
  [{ headers: { form: 'ORIGINAL' } }, 'transform.headers.form: ORIGINAL is for the body alone; an event is no headers'],
  [{ url: { form: 'ORIGINAL' } }, 'transform.url.form: ORIGINAL is for the body alone; an event is no URL'],
  [
    { headers: { form: 'CONSTANT', value: 'X-A: b' } },
    'transform.headers.value: is not a JSON object; write {"X-Team":"billing"}',
  ],
  [{ headers: template('${x}') }, 'transform.headers.template: is not a JSON object; write {"X-Team":"billing"}'],
  [
    { headers: template('{"X-A":${x}${x}}') },
    'transform.headers.template: is not a JSON object; write {"X-Team":"billing"}',
  ],
  [{ headers: { form: 'CONSTANT', value: '{"Host":"x"}' } }, /^transform\.headers\.value: the name "Host" is reserved/],
  [
    { headers: { form: 'CONSTANT', value: '{"ce-id":"x"}' } },
    /^transform\.headers\.value: the name "ce-id" is reserved/,
  ],
  [{ headers: { form: 'CONSTANT', value: '{"a b":"x"}' } }, /the name "a b" is not the name of a header/],
  [{ headers: { form: 'CONSTANT', value: '{"X-A":[1]}' } }, 'transform.headers.value: the value of X-A is not text'],
  [
    { headers: template('{"X-${x}":"a"}') },
    /^transform\.headers\.template: the name "X-\$\{…\}" may not come from the event$/,
  ],
  [
    { url: { form: 'CONSTANT', value: 'https://evil.example/' } },
    /^transform\.url\.value: is not at https:\/\/example\.com, as the sink is/,
  ],
  [{ url: template('https://${x}/hook') }, /^transform\.url\.template: is not at https:\/\/example\.com/],
  [{ url: template('https://example.com.${x}/hook') }, /^transform\.url\.template: is not at/],
  [{ url: template('/${x}') }, 'transform.url.template: is not a URL'],
  [{ url: template('https://example.com/../${x}') }, 'transform.url.template: has "." or ".." in its path'],
])('%j is refused with its place', (transform, message) => {
  const found = messages(transform)
  expect(found).toHaveLength(1)
  if (typeof message === 'string') expect(found[0]).toBe(message)
  else expect(found[0]).toMatch(message)
})

test.each<[change: object, message: RegExp]>([
  [{ notation: 'event-grid' }, /^transform: is not possible with notation: event-grid/],
  [{ notation: 'event-grid-kubernetes' }, /^transform: is not possible with notation: event-grid-kubernetes/],
  [{ input: 'event-grid', schema: 'EventGridSchema' }, /^transform: is not possible with schema: EventGridSchema/],
  [{ batch: { maxEvents: 2 } }, /^transform\.url: is not possible with batches/],
  [{ headers: { 'x-a': 'b' } }, /^transform\.headers: "X-A" stands in `headers` too; write it in one place$/],
])('beside %j', (change, message) => {
  const transform = { url: template('https://example.com/${x}'), headers: template('{"X-A":"${x}"}') }
  expect(messages(transform, change)).toEqual([expect.stringMatching(message)])
})
