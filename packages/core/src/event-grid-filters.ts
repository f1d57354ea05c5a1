import type { AdvancedFilter } from './advanced-filter.ts'
import { advancedOperators } from './advanced-operators.ts'
import type { AdvancedOperator, NumberRange, Operator } from './advanced-operators.ts'
import { didYouMean } from './nearest-name.ts'
import type { SubjectFilter } from './subject-filter.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, shown } from './subscription-field.ts'

export const advancedFiltersMax = 25
/** Of all advanced filters of a subscription together; a range counts as one. */
export const operandsMax = 25
/** Of a key and of each text that an advanced filter compares with. */
export const operandLengthMax = 512
const subjectLengthMax = 1_024

/** How many advanced filters and operands a subscription may still have. */
export interface AdvancedBudget {
  filtersLeft: number
  operandsLeft: number
}

const fields = ['operatorType', 'key', 'value', 'values', 'onArrays'] as const
const subjectFields = ['beginsWith', 'endsWith', 'caseSensitive'] as const
const example = '{ operatorType: StringIn, key: data.color, values: [red] }'

/** Reads one of Event Grid's advanced filters (docs/event-grid.md, "Filters"). Defaults that are spelled out are left out. */
export function readAdvancedFilter(value: unknown, budget: AdvancedBudget, report: Report): AdvancedFilter | undefined {
  if (!isMapping(value)) return report(`${shown(value)} is not an advanced filter; write ${example}`)
  budget.filtersLeft -= 1
  if (budget.filtersLeft < 0) return report(`is one of more than ${advancedFiltersMax} advanced filters`)
  if (!knowsFields(value, fields, report)) return undefined
  const { operatorType, key, onArrays } = value
  if (!isAdvancedOperator(operatorType)) {
    const names = Object.keys(advancedOperators)
    const problem = operatorType === undefined ? 'is missing' : `${shown(operatorType)} is not an operator`
    return report(`${problem}; one of ${names.join(', ')}${didYouMean(operatorType, names)}`, 'operatorType')
  }
  if (typeof key !== 'string' || key === '') return report(`${shown(key)} is not a key; write data.color`, 'key')
  if (key.length > operandLengthMax) {
    return report(`has ${key.length} characters, more than ${operandLengthMax}`, 'key')
  }
  const operands = readOperands(operatorType, value, budget, report)
  if (operands === undefined) return undefined
  if (onArrays !== undefined && typeof onArrays !== 'boolean') {
    return report(`${shown(onArrays)} is neither true nor false`, 'onArrays')
  }
  return { operatorType, key, ...operands, ...(onArrays === true && { onArrays }) }
}

/** Reads Event Grid's filter of the subject. Defaults that are spelled out are left out. */
export function readSubjectFilter(value: unknown, report: Report): SubjectFilter | undefined {
  if (!isMapping(value) || Object.keys(value).length === 0) {
    return report(`${shown(value)} is not a filter of the subject; write { beginsWith: /orders/ }`)
  }
  if (!knowsFields(value, subjectFields, report)) return undefined
  const { caseSensitive } = value
  const texts: { beginsWith?: string; endsWith?: string } = {}
  for (const field of ['beginsWith', 'endsWith'] as const) {
    const text = value[field] ?? ''
    if (typeof text !== 'string') return report(`${shown(text)} is not text`, field)
    if (text.length > subjectLengthMax) {
      return report(`has ${text.length} characters, more than ${subjectLengthMax}`, field)
    }
    if (text !== '') texts[field] = text
  }
  if (caseSensitive !== undefined && typeof caseSensitive !== 'boolean') {
    return report(`${shown(caseSensitive)} is neither true nor false`, 'caseSensitive')
  }
  return { ...texts, ...(caseSensitive === true && { caseSensitive }) }
}

function readOperands(
  operatorType: AdvancedOperator,
  written: Readonly<Record<string, unknown>>,
  budget: AdvancedBudget,
  report: Report,
): Pick<AdvancedFilter, 'value' | 'values'> | undefined {
  const { field, operand }: Operator = advancedOperators[operatorType]
  for (const other of ['value', 'values'] as const) {
    if (other === field || written[other] === undefined) continue
    return report(`is not for ${operatorType}, which takes ${field === null ? 'neither' : field}`, other)
  }
  if (operand === null || field === null) return {}
  const given = written[field]
  if (field === 'values' && (!Array.isArray(given) || given.length === 0)) {
    return report(`${shown(given)} is not a list of at least one ${operand}`, field)
  }
  const operands = field === 'values' ? (given as readonly unknown[]) : [given]
  budget.operandsLeft -= operands.length
  if (budget.operandsLeft < 0) {
    return report(`brings the operands of all advanced filters above ${operandsMax}`, field)
  }
  for (const [index, each] of operands.entries()) {
    const problem = problemOfOperand(each, operand)
    if (problem !== null) return report(problem, field, ...(field === 'values' ? [index] : []))
  }
  // What was found to be right, whatever it was written as.
  return { [field]: given }
}

function problemOfOperand(value: unknown, operand: NonNullable<Operator['operand']>): string | null {
  switch (operand) {
    case 'number':
      return Number.isFinite(value) ? null : `${shown(value)} is not a number`
    case 'boolean':
      return typeof value === 'boolean' ? null : `${shown(value)} is neither true nor false`
    case 'string':
      if (typeof value !== 'string') return `${shown(value)} is not text; put it in quotes`
      if (value.length <= operandLengthMax) return null
      return `has ${value.length} characters, more than ${operandLengthMax}`
    case 'range':
      if (!isPair(value)) return `${shown(value)} is not a range of two numbers; write [1, 5]`
      return value[0] <= value[1] ? null : `${shown(value)} ends before it begins; write [${value[1]}, ${value[0]}]`
    default:
      return operand satisfies never
  }
}

function isPair(value: unknown): value is NumberRange {
  return Array.isArray(value) && value.length === 2 && value.every((each: unknown) => Number.isFinite(each))
}

function isAdvancedOperator(value: unknown): value is AdvancedOperator {
  return typeof value === 'string' && Object.hasOwn(advancedOperators, value)
}

function knowsFields(value: Readonly<Record<string, unknown>>, known: readonly string[], report: Report): boolean {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    report(`is not a known field; one of ${known.join(', ')}${didYouMean(name, known)}`, name)
    return false
  }
  return true
}
