import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdvancedFilter } from './advanced-filter.ts'
import { advancedOperators } from './advanced-operators.ts'
import { compileFilter } from './filter.ts'
import type { Filter } from './filter.ts'
import { readFilters } from './subscription-filters.ts'

function passes(filter: Filter, data: unknown): boolean {
  return compileFilter(
    [],
    [filter],
  )({
    mode: 'binary',
    attributes: new Map([['type', 't']]),
    value: Buffer.from(JSON.stringify(data)),
  })
}

const names = fc.constantFrom('exact', 'prefix', 'all', 'any', 'not', 'subject', 'advanced', 'sql', '__proto__')
const fields = fc.constantFrom('operatorType', 'key', 'value', 'values', 'onArrays', 'beginsWith', 'toString')
const leaf = fc.oneof(fc.anything(), fc.constantFrom(...Object.keys(advancedOperators)), fc.constant('data.a'))
const { written } = fc.letrec((tie) => ({
  written: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('written')),
    fc.dictionary(fc.oneof(names, fields), tie('written')),
  ),
}))
const advanced = fc.record(
  {
    operatorType: fc.oneof(fc.constantFrom(...Object.keys(advancedOperators)), fc.string()),
    key: fc.oneof(fc.constantFrom('data.a', 'data', 'subject', 'data.a.b', '..', '__proto__'), fc.anything()),
    value: fc.oneof(fc.double(), fc.boolean(), fc.anything()),
    values: fc.array(fc.oneof(fc.double(), fc.string(), fc.tuple(fc.double(), fc.double()), fc.anything())),
    onArrays: fc.oneof(fc.boolean(), fc.anything()),
  },
  { requiredKeys: ['operatorType', 'key'] },
)

test('whatever is written is refused with one sentence, or filters whatever data there is', () => {
  const anyFilters = fc.oneof(
    written,
    fc.array(fc.record({ advanced })),
    fc.array(fc.record({ not: fc.record({ advanced }) })),
  )
  fc.assert(
    fc.property(anyFilters, fc.jsonValue(), (filters, a) => {
      const problems: string[] = []
      const read = readFilters(filters, (message) => void problems.push(message))
      expect(problems).toHaveLength(read === undefined ? 1 : 0)
      for (const filter of read ?? []) expect(typeof passes(filter, { a })).toBe('boolean')
    }),
    { numRuns: 500 },
  )
})

const operands = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 })

test.each(['Contains', 'BeginsWith', 'EndsWith', 'In'] as const)(
  'String%s and its negation never agree on what is there',
  (name) => {
    fc.assert(
      fc.property(operands, fc.oneof(fc.string(), fc.array(fc.jsonValue()), fc.integer()), (values, a) => {
        const filter = { key: 'data.a', values, onArrays: true }
        const positive: AdvancedFilter = { ...filter, operatorType: `String${name}` }
        const negative: AdvancedFilter = { ...filter, operatorType: `StringNot${name}` }
        expect(passes({ advanced: positive }, { a })).not.toBe(passes({ advanced: negative }, { a }))
      }),
    )
  },
)

test('case never decides whether a text begins, contains or ends another', () => {
  const text = fc.string({ unit: 'grapheme' })
  const inAnyCase = (letters: string) => [letters, letters.toUpperCase()]
  fc.assert(
    fc.property(text, text, text, (before, middle, after) => {
      for (const value of inAnyCase(before + middle + after)) {
        for (const [operatorType, operand] of [
          ['StringBeginsWith', before],
          ['StringContains', middle],
          ['StringEndsWith', after],
        ] as const) {
          for (const each of inAnyCase(operand)) {
            expect(passes({ advanced: { operatorType, key: 'data.a', values: [each] } }, { a: value })).toBe(true)
          }
        }
      }
    }),
  )
})
