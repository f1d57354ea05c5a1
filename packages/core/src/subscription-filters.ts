import { advancedFiltersMax, operandsMax, readAdvancedFilter, readSubjectFilter } from './event-grid-filters.ts'
import type { AdvancedBudget } from './event-grid-filters.ts'
import type { Filter } from './filter.ts'
import { didYouMean } from './nearest-name.ts'
import { patternFieldsMax, readPattern } from './read-pattern.ts'
import type { PatternBudget } from './read-pattern.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, shown } from './subscription-field.ts'

const depthMax = 8
const filtersMax = 200
const valueLengthMax = 1_024
const laterOperators = ['sql']

type OperatorOf<Each> = Each extends Filter ? keyof Each : never
type OperandOf<Name extends PropertyKey> = Extract<Filter, Readonly<Record<Name, unknown>>>[Name]

/** Where in the filters of a subscription one stands, and what all of them may still hold. */
interface Place {
  readonly depth: number
  readonly budget: { filtersLeft: number; readonly advanced: AdvancedBudget; readonly pattern: PatternBudget }
  readonly report: Report
}

const readers: {
  readonly [Name in OperatorOf<Filter>]: (operand: unknown, place: Place) => OperandOf<Name> | undefined
} = {
  exact: readAttributes,
  prefix: readAttributes,
  suffix: readAttributes,
  all: readFiltersBelow,
  any: readFiltersBelow,
  not: readFilter,
  subject: (operand, { report }) => readSubjectFilter(operand, report),
  advanced: (operand, { budget, report }) => readAdvancedFilter(operand, budget.advanced, report),
  pattern: (operand, { budget, report }) => readPattern(operand, report, budget.pattern),
}
const operators = Object.keys(readers)

/**
 * Reads the filters of the CloudEvents Subscriptions API (0.1, §3.2.4.1.1), of Event Grid and of EventBridge: each filter is a mapping
 * with exactly one operator; names, values and lists are not empty. At most 8 deep and 200 in all, because every event
 * is put to each of them.
 */
export function readFilters(value: unknown, report: Report): readonly Filter[] | undefined {
  const advanced = { filtersLeft: advancedFiltersMax, operandsLeft: operandsMax }
  const pattern = { fieldsLeft: patternFieldsMax }
  return readFilterList(value, { depth: 1, budget: { filtersLeft: filtersMax, advanced, pattern }, report })
}

function readFilterList(value: unknown, place: Place): readonly Filter[] | undefined {
  const { budget, report } = place
  if (!Array.isArray(value)) {
    return report(`${shown(value)} is not a list; write [{ exact: { type: com.example.paid } }]`)
  }
  if (value.length > budget.filtersLeft) return report(`holds more than ${filtersMax} filters in all`)
  const filters: Filter[] = []
  for (const [index, entry] of value.entries()) {
    const filter = readFilter(entry, { ...place, report: (message, ...below) => report(message, index, ...below) })
    if (filter === undefined) return undefined
    filters.push(filter)
  }
  return filters
}

function readFiltersBelow(value: unknown, place: Place): readonly Filter[] | undefined {
  const filters = readFilterList(value, place)
  return filters?.length === 0 ? place.report('is empty; it needs at least one filter') : filters
}

function readFilter(value: unknown, { depth, budget, report }: Place): Filter | undefined {
  if (depth > depthMax) return report(`is nested more than ${depthMax} deep`)
  budget.filtersLeft -= 1
  if (budget.filtersLeft < 0) return report(`is one of more than ${filtersMax} filters`)
  const [name, ...others] = isMapping(value) ? Object.keys(value) : []
  if (!isMapping(value) || name === undefined || others.length > 0) {
    return report(`${shown(value)} is not a filter; write one operator each: ${operators.join(', ')}`)
  }
  if (laterOperators.includes(name)) return report('is not available in this version', name)
  if (!isOperator(name)) {
    return report(`is not an operator; one of ${operators.join(', ')}${didYouMean(name, operators)}`, name)
  }
  const operand = readers[name](value[name], {
    depth: depth + 1,
    budget,
    report: (message, ...below) => report(message, name, ...below),
  })
  return operand === undefined ? undefined : ({ [name]: operand } as Filter)
}

function isOperator(name: string): name is OperatorOf<Filter> {
  return Object.hasOwn(readers, name)
}

function readAttributes(value: unknown, { report }: Place): Readonly<Record<string, string>> | undefined {
  if (!isMapping(value)) {
    return report(`${shown(value)} does not name an attribute; write { type: com.example.paid }`)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return report('is empty; it needs at least one attribute')
  if (entries.length > filtersMax) return report(`has more than ${filtersMax} attributes`)
  for (const [name, operand] of entries) {
    if (!/^[a-z0-9]{1,64}$/.test(name) || name === 'data') {
      return report('is not a CloudEvents attribute: lower-case letters and digits, not "data"', name)
    }
    if (typeof operand === 'number' || typeof operand === 'boolean') {
      return report(`${shown(operand)} is not text; put it in quotes: "${operand}"`, name)
    }
    if (typeof operand !== 'string' || operand === '') {
      return report(`${shown(operand)} is not text of at least one character`, name)
    }
    if (operand.length > valueLengthMax) {
      return report(`has ${operand.length} characters, more than ${valueLengthMax}`, name)
    }
  }
  return Object.fromEntries(entries) as Record<string, string>
}
