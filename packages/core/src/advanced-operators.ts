import { ignoringCase } from './ignoring-case.ts'

/** From and to, both included. */
export type NumberRange = readonly [from: number, to: number]

export type Operand = number | boolean | string | NumberRange

/** What an operator is: a row of the table "Advanced filters" in docs/event-grid.md. */
export interface Operator {
  /** What it compares with; null for nothing. */
  readonly operand: 'number' | 'range' | 'boolean' | 'string' | null
  /** The field that its operands stand in: one, or a list of them. */
  readonly field: 'value' | 'values' | null
  /** Says whether a value hits at least one of the operands. A value of another JSON type hits none. */
  readonly hitting: (operands: readonly Operand[]) => (value: unknown) => boolean
  /** Whether it lets those pass that hit nothing. */
  readonly negated: boolean
  /** Whether it lets events pass in which the key is missing or null. */
  readonly whenMissing: boolean
  /** Whether Event Grid on Kubernetes knows it. */
  readonly onKubernetes: boolean
}

const is = { negated: false, whenMissing: false, onKubernetes: true } as const
const isNew = { ...is, onKubernetes: false } as const
const isNot = { negated: true, whenMissing: true, onKubernetes: true } as const

const one = { operand: 'number', field: 'value' } as const
const numbers = {
  operand: 'number',
  field: 'values',
  hitting: eachNumber((value, operand) => value === operand),
} as const
const ranges = { operand: 'range', field: 'values', hitting: eachRange } as const
const strings = { operand: 'string', field: 'values' } as const
const nothing = { operand: null, field: null, hitting: () => () => true } as const

const contains = { ...strings, hitting: eachString((value, operand) => value.includes(operand)) } as const
const beginsWith = { ...strings, hitting: eachString((value, operand) => value.startsWith(operand)) } as const
const endsWith = { ...strings, hitting: eachString((value, operand) => value.endsWith(operand)) } as const
const equals = { ...strings, hitting: eachString((value, operand) => value === operand) } as const
/** Unlike the other negations these do not let a missing key pass. */
const isNotAndIsThere = { negated: true, whenMissing: false, onKubernetes: false } as const

/** Event Grid's 19 operators of advanced filters, in the order of its documentation. */
export const advancedOperators = {
  NumberIn: { ...numbers, ...is },
  NumberNotIn: { ...numbers, ...isNot },
  NumberLessThan: { ...one, ...is, hitting: eachNumber((value, operand) => value < operand) },
  NumberGreaterThan: { ...one, ...is, hitting: eachNumber((value, operand) => value > operand) },
  NumberLessThanOrEquals: { ...one, ...is, hitting: eachNumber((value, operand) => value <= operand) },
  NumberGreaterThanOrEquals: { ...one, ...is, hitting: eachNumber((value, operand) => value >= operand) },
  NumberInRange: { ...ranges, ...isNew },
  NumberNotInRange: { ...ranges, ...isNot, onKubernetes: false },
  BoolEquals: {
    operand: 'boolean',
    field: 'value',
    ...is,
    hitting:
      ([operand]) =>
      (value) =>
        value === operand,
  },
  StringContains: { ...contains, ...is },
  StringNotContains: { ...contains, ...isNotAndIsThere },
  StringBeginsWith: { ...beginsWith, ...is },
  StringNotBeginsWith: { ...beginsWith, ...isNotAndIsThere },
  StringEndsWith: { ...endsWith, ...is },
  StringNotEndsWith: { ...endsWith, ...isNotAndIsThere },
  StringIn: { ...equals, ...is },
  StringNotIn: { ...equals, ...isNot },
  IsNullOrUndefined: { ...nothing, negated: true, whenMissing: true, onKubernetes: false },
  IsNotNull: { ...nothing, ...isNew },
} as const satisfies Readonly<Record<string, Operator>>

export type AdvancedOperator = keyof typeof advancedOperators

function eachNumber(hits: (value: number, operand: number) => boolean): Operator['hitting'] {
  return (operands) => (value) =>
    typeof value === 'number' && operands.some((operand) => hits(value, operand as number))
}

function eachRange(operands: readonly Operand[]): (value: unknown) => boolean {
  const withinEach = operands as readonly NumberRange[]
  return (value) => typeof value === 'number' && withinEach.some(([from, to]) => value >= from && value <= to)
}

/** The value is put into upper case once, however many operands there are. */
function eachString(hits: (value: string, operand: string) => boolean): Operator['hitting'] {
  return (operands) => {
    const compared = operands.map((operand) => ignoringCase(operand as string))
    return (value) => {
      if (typeof value !== 'string') return false
      const text = ignoringCase(value)
      return compared.some((operand) => hits(text, operand))
    }
  }
}
