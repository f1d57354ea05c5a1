import { describe, expect, test } from 'vitest'
import type { AdvancedFilter } from './advanced-filter.ts'
import { compileAdvancedFilter } from './advanced-filter.ts'
import { advancedOperators } from './advanced-operators.ts'
import type { AdvancedOperator } from './advanced-operators.ts'
import { cloudEventView } from './filter-view.ts'

function passes(filter: AdvancedFilter, data: unknown): boolean {
  const attributes = new Map(Object.entries({ specversion: '1.0', id: '1', source: '/s', type: 't' }))
  const event = { mode: 'binary', attributes, value: Buffer.from(JSON.stringify(data)) } as const
  return compileAdvancedFilter(filter)(cloudEventView(event))
}

/** The other JSON types than the operand's. */
const notNumbers = ['5', true, {}, { v: 5 }]
const notBooleans = ['true', 1, {}]
const notStrings = [5, true, {}, { v: 'red' }]

interface Row {
  readonly operands: Pick<AdvancedFilter, 'value' | 'values'>
  readonly hit: readonly unknown[]
  readonly miss: readonly unknown[]
  /** Values of a type that is not the operand's: skipped in an array, and hitting nothing alone. */
  readonly wrongType: readonly unknown[]
  /** Whether what hits passes, or what misses. */
  readonly passing: 'hit' | 'miss'
  readonly whenMissing: boolean
}

const numberIn = { operands: { values: [5, -0.5] }, hit: [5, -0.5, 5.0], miss: [4, 0.5, 0], wrongType: notNumbers }
const numberInRange = {
  operands: {
    values: [
      [1, 5],
      [9, 12.5],
    ] as const,
  },
  hit: [1, 3, 5, 9, 12.5],
  miss: [0.99, 5.01, 8, 12.51, -3],
  wrongType: ['3', true, {}],
}
const contains = {
  operands: { values: ['Red', 'äß'] },
  hit: ['red', 'a RED rose', 'hundRED', 'xÄßx'],
  miss: ['', 'blue', 're', 'r e d', 'ä'],
  wrongType: notStrings,
}
const beginsWith = {
  operands: { values: ['Red', 'ΟΔΟΣ'] },
  hit: ['red', 'REDish', 'οδοσα', 'οδος'],
  miss: ['', 'a red', 're', 'blue', 'οδο'],
  wrongType: notStrings,
}
const endsWith = {
  operands: { values: ['.JPG', '.png'] },
  hit: ['a.jpg', '.jpg', 'a.Png'],
  miss: ['', 'jpg', 'a.jpg ', 'a.jpeg'],
  wrongType: notStrings,
}
const stringIn = {
  operands: { values: ['Contoso', ''] },
  hit: ['contoso', 'CONTOSO', ''],
  miss: ['contoso ', 'conto', 'fabrikam'],
  wrongType: notStrings,
}
const notNot = { passing: 'hit', whenMissing: false } as const

const rows: Readonly<Record<Exclude<AdvancedOperator, 'IsNullOrUndefined' | 'IsNotNull'>, Row>> = {
  NumberGreaterThan: { operands: { value: 5 }, hit: [5.1, 6], miss: [5, 4, -6], wrongType: notNumbers, ...notNot },
  NumberGreaterThanOrEquals: { operands: { value: 5 }, hit: [5, 6], miss: [4.9], wrongType: notNumbers, ...notNot },
  NumberLessThan: { operands: { value: 5 }, hit: [4.9, -6], miss: [5, 6], wrongType: notNumbers, ...notNot },
  NumberLessThanOrEquals: { operands: { value: 5 }, hit: [5, 4], miss: [5.1], wrongType: notNumbers, ...notNot },
  NumberIn: { ...numberIn, ...notNot },
  NumberNotIn: { ...numberIn, passing: 'miss', whenMissing: true },
  NumberInRange: { ...numberInRange, ...notNot },
  // The documents do not say; as its nearest relative, NumberNotIn.
  NumberNotInRange: { ...numberInRange, passing: 'miss', whenMissing: true },
  BoolEquals: { operands: { value: false }, hit: [false], miss: [true], wrongType: notBooleans, ...notNot },
  StringContains: { ...contains, ...notNot },
  StringNotContains: { ...contains, passing: 'miss', whenMissing: false },
  StringBeginsWith: { ...beginsWith, ...notNot },
  StringNotBeginsWith: { ...beginsWith, passing: 'miss', whenMissing: false },
  StringEndsWith: { ...endsWith, ...notNot },
  StringNotEndsWith: { ...endsWith, passing: 'miss', whenMissing: false },
  StringIn: { ...stringIn, ...notNot },
  StringNotIn: { ...stringIn, passing: 'miss', whenMissing: true },
}

test('every operator is in the tables', () => {
  const tested = [...Object.keys(rows), 'IsNullOrUndefined', 'IsNotNull']
  expect(tested.toSorted()).toEqual(Object.keys(advancedOperators).toSorted())
  expect(tested).toHaveLength(19)
})

describe.each(Object.entries(rows))('%s', (operatorType, { operands, hit, miss, wrongType, passing, whenMissing }) => {
  const filter: AdvancedFilter = { operatorType: operatorType as AdvancedOperator, key: 'data.v', ...operands }
  const onArrays: AdvancedFilter = { ...filter, onArrays: true }
  const ifHit = passing === 'hit'

  test.each(hit)('%j hits', (v) => {
    expect(passes(filter, { v })).toBe(ifHit)
    expect(passes(onArrays, { v })).toBe(ifHit)
    expect(passes(onArrays, { v: [v] })).toBe(ifHit)
    expect(passes(onArrays, { v: [miss[0], ...wrongType, null, v] })).toBe(ifHit)
    expect(passes(onArrays, { v: [[v]] })).toBe(!ifHit)
  })

  test.each(miss)('%j misses', (v) => {
    expect(passes(filter, { v })).toBe(!ifHit)
    expect(passes(onArrays, { v })).toBe(!ifHit)
    expect(passes(onArrays, { v: [v] })).toBe(!ifHit)
  })

  test.each(wrongType)('%j is of another type and hits nothing', (v) => {
    expect(passes(filter, { v })).toBe(!ifHit)
    expect(passes(onArrays, { v: [v] })).toBe(!ifHit)
  })

  test('several elements that all miss, and none', () => {
    expect(passes(onArrays, { v: [...miss, ...wrongType, null] })).toBe(!ifHit)
    expect(passes(onArrays, { v: [] })).toBe(!ifHit)
  })

  test('an array passes nothing where arrays are not looked into', () => {
    for (const v of [[hit[0]], [miss[0]], []]) {
      expect(passes(filter, { v })).toBe(false)
      expect(passes({ ...filter, onArrays: false }, { v })).toBe(false)
    }
  })

  test.each([{}, { v: null }, { V: 5 }, { w: { v: 5 } }, null, 5, 'text', [], [{ v: 5 }]])(
    'the key is missing or null in %j',
    (data) => {
      expect(passes(filter, data)).toBe(whenMissing)
      expect(passes(onArrays, data)).toBe(whenMissing)
    },
  )
})

test.each([
  [{}, true],
  [{ v: null }, true],
  [{ v: {} }, false],
  [{ v: [] }, false],
  [{ v: [null] }, false],
  [{ v: '' }, false],
  [{ v: 0 }, false],
  [{ v: false }, false],
])('IsNullOrUndefined, and not IsNotNull, in %j: %s', (data, expected) => {
  for (const onArrays of [false, true]) {
    expect(passes({ operatorType: 'IsNullOrUndefined', key: 'data.v', onArrays }, data)).toBe(expected)
    expect(passes({ operatorType: 'IsNotNull', key: 'data.v', onArrays }, data)).toBe(!expected)
  }
})

test('numbers are compared as doubles: whole numbers beyond 2^53 run into their neighbours', () => {
  const filter: AdvancedFilter = { operatorType: 'NumberIn', key: 'data.v', values: [9_007_199_254_740_992] }
  const event = (json: string) => ({
    mode: 'binary' as const,
    attributes: new Map<string, string>(),
    value: Buffer.from(json),
  })
  expect(compileAdvancedFilter(filter)(cloudEventView(event('{"v":9007199254740993}')))).toBe(true)
  expect(compileAdvancedFilter(filter)(cloudEventView(event('{"v":9007199254740991}')))).toBe(false)
  expect(compileAdvancedFilter(filter)(cloudEventView(event('{"v":9.007199254740992e15}')))).toBe(true)
})

test('the operators that Event Grid on Kubernetes lacks (spec 1.5)', () => {
  const lacking = Object.entries(advancedOperators).filter(([, { onKubernetes }]) => !onKubernetes)
  expect(lacking.map(([name]) => name)).toEqual([
    'NumberInRange',
    'NumberNotInRange',
    'StringNotContains',
    'StringNotBeginsWith',
    'StringNotEndsWith',
    'IsNullOrUndefined',
    'IsNotNull',
  ])
})
