import { advancedFiltersMax, operandsMax, readAdvancedFilter, readSubjectFilter } from './event-grid-filters.ts'
import type { AdvancedBudget } from './event-grid-filters.ts'
import type { Filter } from './filter.ts'
import { didYouMean } from './nearest-name.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, shown } from './subscription-field.ts'

const depthMax = 8
const filtersMax = 200
const valueLengthMax = 1_024
const comparisons = ['exact', 'prefix', 'suffix'] as const
const operators = [...comparisons, 'all', 'any', 'not', 'subject', 'advanced'] as const
const laterOperators = ['pattern', 'sql']

/**
 * Reads the filters of the CloudEvents Subscriptions API (0.1, §3.2.4.1.1) and of Event Grid: each filter is a mapping
 * with exactly one operator; names, values and lists are not empty. At most 8 deep and 200 in all, because every event
 * is put to each of them.
 */
export function readFilters(value: unknown, report: Report): readonly Filter[] | undefined {
  const advanced = { filtersLeft: advancedFiltersMax, operandsLeft: operandsMax }
  return readFilterList(value, 1, { left: filtersMax, advanced }, report)
}

interface Budget {
  left: number
  readonly advanced: AdvancedBudget
}

type Path = readonly (string | number)[]

function readFilterList(value: unknown, depth: number, budget: Budget, report: Report, path: Path = []) {
  if (!Array.isArray(value)) {
    return report(`${shown(value)} is not a list; write [{ exact: { type: com.example.paid } }]`, ...path)
  }
  if (value.length > budget.left) return report(`holds more than ${filtersMax} filters in all`, ...path)
  const filters: Filter[] = []
  for (const [index, entry] of value.entries()) {
    const filter = readFilter(entry, depth, budget, report, [...path, index])
    if (filter === undefined) return undefined
    filters.push(filter)
  }
  return filters
}

function readFilter(value: unknown, depth: number, budget: Budget, report: Report, path: Path): Filter | undefined {
  if (depth > depthMax) return report(`is nested more than ${depthMax} deep`, ...path)
  budget.left -= 1
  if (budget.left < 0) return report(`is one of more than ${filtersMax} filters`, ...path)
  const keys = isMapping(value) ? Object.keys(value) : []
  if (!isMapping(value) || keys.length !== 1) {
    return report(`${shown(value)} is not a filter; write one operator each: ${operators.join(', ')}`, ...path)
  }
  const key = keys[0]!
  const below = [...path, key]
  const operand = value[key]
  switch (key) {
    case 'exact':
    case 'prefix':
    case 'suffix': {
      const attributes = readAttributes(operand, report, below)
      // A computed key would widen the type to any string.
      if (attributes === undefined) return undefined
      if (key === 'exact') return { exact: attributes }
      return key === 'prefix' ? { prefix: attributes } : { suffix: attributes }
    }
    case 'all':
    case 'any': {
      const filters = readFilterList(operand, depth + 1, budget, report, below)
      if (filters === undefined) return undefined
      if (filters.length === 0) return report('is empty; it needs at least one filter', ...below)
      return key === 'all' ? { all: filters } : { any: filters }
    }
    case 'not': {
      const filter = readFilter(operand, depth + 1, budget, report, below)
      return filter === undefined ? undefined : { not: filter }
    }
    case 'advanced': {
      const advanced = readAdvancedFilter(operand, budget.advanced, (message, ...rest) =>
        report(message, ...below, ...rest),
      )
      return advanced === undefined ? undefined : { advanced }
    }
    case 'subject': {
      const subject = readSubjectFilter(operand, (message, ...rest) => report(message, ...below, ...rest))
      return subject === undefined ? undefined : { subject }
    }
    default:
      if (laterOperators.includes(key)) return report('is not available in this version', ...below)
      return report(`is not an operator; one of ${operators.join(', ')}${didYouMean(key, operators)}`, ...below)
  }
}

function readAttributes(value: unknown, report: Report, path: Path): Readonly<Record<string, string>> | undefined {
  if (!isMapping(value)) {
    return report(`${shown(value)} does not name an attribute; write { type: com.example.paid }`, ...path)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return report('is empty; it needs at least one attribute', ...path)
  if (entries.length > filtersMax) return report(`has more than ${filtersMax} attributes`, ...path)
  for (const [name, operand] of entries) {
    if (!/^[a-z0-9]{1,64}$/.test(name) || name === 'data') {
      return report('is not a CloudEvents attribute: lower-case letters and digits, not "data"', ...path, name)
    }
    if (typeof operand === 'number' || typeof operand === 'boolean') {
      return report(`${shown(operand)} is not text; put it in quotes: "${operand}"`, ...path, name)
    }
    if (typeof operand !== 'string' || operand === '') {
      return report(`${shown(operand)} is not text of at least one character`, ...path, name)
    }
    if (operand.length > valueLengthMax) {
      return report(`has ${operand.length} characters, more than ${valueLengthMax}`, ...path, name)
    }
  }
  return Object.fromEntries(entries) as Record<string, string>
}
