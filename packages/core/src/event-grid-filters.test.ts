import { expect, test } from 'vitest'
import { advancedOperators } from './advanced-operators.ts'
import { readFilters } from './subscription-filters.ts'

function problems(filters: unknown): string[] {
  const said: string[] = []
  const read = readFilters(filters, (message, ...below) => {
    said.push(`${below.join('.')}: ${message}`)
    return undefined
  })
  expect(read === undefined).toBe(said.length > 0)
  return said
}

const stringIn = (...values: unknown[]) => ({ advanced: { operatorType: 'StringIn', key: 'data.a', values } })
const isNotNull = { advanced: { operatorType: 'IsNotNull', key: 'data.a' } }
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`)

test.each(Object.entries(advancedOperators))('%s is read as it stands', (operatorType, { operand, field }) => {
  const operands = { number: 5, boolean: true, string: 'a', range: [1, 5] }
  const value = operand === null ? undefined : operands[operand]
  const written = field === null ? {} : { [field]: field === 'value' ? value : [value] }
  const filters = [{ advanced: { operatorType, key: 'data.a', ...written, onArrays: true } }]
  expect(readFilters(filters, () => expect.unreachable())).toEqual(filters)
})

test('defaults that are spelled out mean the same as none', () => {
  const spelledOut = [
    { advanced: { ...stringIn('a').advanced, onArrays: false } },
    { subject: { beginsWith: '/a', endsWith: '', caseSensitive: false } },
  ]
  expect(readFilters(spelledOut, () => expect.unreachable())).toEqual([
    stringIn('a'),
    { subject: { beginsWith: '/a' } },
  ])
})

test.each([
  ['25 advanced filters', Array.from({ length: 25 }, () => isNotNull)],
  ['25 operands in one', [stringIn(...texts(25))]],
  ['25 operands in two', [stringIn(...texts(12)), { not: stringIn(...texts(13)) }]],
  [
    '24 in a list and a single one',
    [stringIn(...texts(24)), { advanced: { operatorType: 'NumberLessThan', key: 'id', value: 5 } }],
  ],
  [
    '25 ranges',
    [{ advanced: { operatorType: 'NumberInRange', key: 'a', values: Array.from({ length: 25 }, () => [1, 2]) } }],
  ],
  ['512 characters', [stringIn('x'.repeat(512))]],
  ['512 characters in a key', [{ advanced: { operatorType: 'IsNotNull', key: 'x'.repeat(512) } }]],
  ['1024 characters of a subject', [{ subject: { endsWith: 'x'.repeat(1_024) } }]],
  ['a range of one number', [{ advanced: { operatorType: 'NumberNotInRange', key: 'a', values: [[5, 5]] } }]],
  ['empty text', [stringIn('')]],
])('%s can be written', (_name, filters) => {
  expect(problems(filters)).toEqual([])
})

const names = Object.keys(advancedOperators).join(', ')
const advanced = (fields: object) => [{ advanced: { operatorType: 'StringIn', key: 'a', values: ['x'], ...fields } }]
const one = (fields: object) => [{ advanced: { operatorType: 'NumberLessThan', key: 'a', ...fields } }]
const example = '{ operatorType: StringIn, key: data.color, values: [red] }'
let nested: unknown = 'a'
for (let depth = 0; depth < 100; depth += 1) nested = [nested]

test.each<[unknown, string]>([
  [[...Array.from({ length: 25 }, () => isNotNull), isNotNull], '25.advanced: is one of more than 25 advanced filters'],
  [
    [{ any: Array.from({ length: 25 }, () => isNotNull) }, isNotNull],
    '1.advanced: is one of more than 25 advanced filters',
  ],
  [[stringIn(...texts(25)), stringIn('a')], '1.advanced.values: brings the operands of all advanced filters above 25'],
  [[stringIn(...texts(26))], '0.advanced.values: brings the operands of all advanced filters above 25'],
  [
    [stringIn(...texts(25)), ...one({ value: 5 })],
    '1.advanced.value: brings the operands of all advanced filters above 25',
  ],
  [[stringIn('a', 'x'.repeat(513))], '0.advanced.values.1: has 513 characters, more than 512'],
  [advanced({ key: 'x'.repeat(513) }), '0.advanced.key: has 513 characters, more than 512'],
  [advanced({ key: '' }), '0.advanced.key: "" is not a key; write data.color'],
  [advanced({ key: 5 }), '0.advanced.key: 5 is not a key; write data.color'],
  [advanced({ key: undefined }), '0.advanced.key: nothing is not a key; write data.color'],
  [
    advanced({ operatorType: 'StringBeginWith' }),
    `0.advanced.operatorType: "StringBeginWith" is not an operator; one of ${names} (did you mean StringBeginsWith?)`,
  ],
  [
    advanced({ operatorType: 'stringin' }),
    `0.advanced.operatorType: "stringin" is not an operator; one of ${names} (did you mean StringIn?)`,
  ],
  [advanced({ operatorType: 'toString' }), `0.advanced.operatorType: "toString" is not an operator; one of ${names}`],
  [advanced({ operatorType: 19 }), `0.advanced.operatorType: 19 is not an operator; one of ${names}`],
  [advanced({ operatorType: undefined }), `0.advanced.operatorType: is missing; one of ${names}`],
  [
    advanced({ operator: 'StringIn' }),
    '0.advanced.operator: is not a known field; one of operatorType, key, value, values, onArrays (did you mean operatorType?)',
  ],
  [advanced({ value: 'x' }), '0.advanced.value: is not for StringIn, which takes values'],
  [one({ value: 5, values: [5] }), '0.advanced.values: is not for NumberLessThan, which takes value'],
  [
    [{ advanced: { operatorType: 'IsNotNull', key: 'a', value: true } }],
    '0.advanced.value: is not for IsNotNull, which takes neither',
  ],
  [advanced({ values: undefined }), '0.advanced.values: nothing is not a list of at least one string'],
  [advanced({ values: [] }), '0.advanced.values: [] is not a list of at least one string'],
  [advanced({ values: 'x' }), '0.advanced.values: "x" is not a list of at least one string'],
  [advanced({ values: ['x', 5] }), '0.advanced.values.1: 5 is not text; put it in quotes'],
  [advanced({ values: [null] }), '0.advanced.values.0: null is not text; put it in quotes'],
  [advanced({ values: nested }), `0.advanced.values.0: ${'['.repeat(79)}… is not text; put it in quotes`],
  [advanced({ onArrays: 'yes' }), '0.advanced.onArrays: "yes" is neither true nor false'],
  [one({}), '0.advanced.value: nothing is not a number'],
  [one({ value: '5' }), '0.advanced.value: "5" is not a number'],
  [one({ value: Infinity }), '0.advanced.value: null is not a number'],
  [
    [{ advanced: { operatorType: 'BoolEquals', key: 'a', value: 'true' } }],
    '0.advanced.value: "true" is neither true nor false',
  ],
  [
    [{ advanced: { operatorType: 'NumberInRange', key: 'a', values: [1, 5] } }],
    '0.advanced.values.0: 1 is not a range of two numbers; write [1, 5]',
  ],
  [
    [{ advanced: { operatorType: 'NumberInRange', key: 'a', values: [[1, 5, 9]] } }],
    '0.advanced.values.0: [1,5,9] is not a range of two numbers; write [1, 5]',
  ],
  [
    [
      {
        advanced: {
          operatorType: 'NumberInRange',
          key: 'a',
          values: [
            [1, 2],
            [5, 1],
          ],
        },
      },
    ],
    '0.advanced.values.1: [5,1] ends before it begins; write [1, 5]',
  ],
  [[{ advanced: [] }], `0.advanced: [] is not an advanced filter; write ${example}`],
  [[{ advanced: null }], `0.advanced: null is not an advanced filter; write ${example}`],
  [[{ subject: {} }], '0.subject: {} is not a filter of the subject; write { beginsWith: /orders/ }'],
  [[{ subject: '/a' }], '0.subject: "/a" is not a filter of the subject; write { beginsWith: /orders/ }'],
  [[{ subject: { beginsWith: 5 } }], '0.subject.beginsWith: 5 is not text'],
  [[{ subject: { endsWith: 'x'.repeat(1_025) } }], '0.subject.endsWith: has 1025 characters, more than 1024'],
  [[{ subject: { beginsWith: '/a', caseSensitive: 'no' } }], '0.subject.caseSensitive: "no" is neither true nor false'],
  [
    [{ subject: { beginWith: '/a' } }],
    '0.subject.beginWith: is not a known field; one of beginsWith, endsWith, caseSensitive (did you mean beginsWith?)',
  ],
])('%# is refused', (filters, message) => {
  expect(problems(filters)).toEqual([message])
})

test('a filter that is nested 100 deep is refused by name', () => {
  let filter: unknown = isNotNull
  for (let depth = 1; depth < 100; depth += 1) filter = { not: filter }
  expect(problems([filter])).toEqual(['0.not.not.not.not.not.not.not.not: is nested more than 8 deep'])
})
