import { cidrContains, parseCidr } from './ipv4.ts'
import { isMapping, shown } from './subscription-field.ts'

/** What an event pattern compares with: one value of an event, or one element of its array. */
export type PatternScalar = string | number | boolean | null

/** What an operator of event patterns is: a row of the table "Patterns" in docs/eventbridge.md. */
export interface PatternOperator {
  /** What is wrong with an operand, as a sentence that goes on after the operator's name; null for nothing. */
  readonly problemOf: (operand: unknown) => string | null
  /** The predicate of an operand that has no problem. */
  readonly passing: (operand: unknown) => (value: PatternScalar) => boolean
}

export const patternTextLengthMax = 1_024
export const anythingButMax = 100
/** Of `numeric` (spec page §5.2). */
const numberMax = 1e9
const tolerance = 1e-7

/**
 * EventBridge's operators (spec page §5.1). Each judges one value that is there; what is missing is for `exists` alone
 * (`compilePattern`).
 */
export const patternOperators = {
  prefix: text((value, operand) => value.startsWith(operand)),
  suffix: text((value, operand) => value.endsWith(operand)),
  contains: text((value, operand) => value.includes(operand)),
  'anything-but': { problemOf: problemOfAnythingBut, passing: anythingBut },
  numeric: { problemOf: problemOfNumeric, passing: numeric },
  cidr: { problemOf: problemOfCidr, passing: cidr },
  exists: {
    problemOf: (operand) => (typeof operand === 'boolean' ? null : `${shown(operand)} is neither true nor false`),
    passing: (operand) => () => operand === true,
  },
} as const satisfies Readonly<Record<string, PatternOperator>>

export type PatternOperatorName = keyof typeof patternOperators

/** Equal as text (spec page §5.2: "300" is 300), but null is nothing but null. */
export function equalTo(operand: PatternScalar): (value: PatternScalar) => boolean {
  if (operand === null) return (value) => value === null
  const asText = String(operand)
  return (value) => value === operand || (value !== null && String(value) === asText)
}

export function isPatternScalar(value: unknown): value is PatternScalar {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** What is wrong with a value that is compared for equality; null for nothing. */
export function problemOfScalar(value: unknown): string | null {
  if (!isPatternScalar(value)) return `${shown(value)} is neither text, a number, true, false nor null`
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return `${value} is beyond ±${Number.MAX_SAFE_INTEGER}, where numbers cannot be told apart`
  }
  return typeof value === 'string' ? problemOfLength(value) : null
}

function text(hits: (value: string, operand: string) => boolean): PatternOperator {
  return {
    problemOf: problemOfText,
    passing: (operand) => (value) => typeof value === 'string' && hits(value, operand as string),
  }
}

function problemOfText(operand: unknown): string | null {
  if (typeof operand !== 'string' || operand === '') return `${shown(operand)} is not text of at least one character`
  return problemOfLength(operand)
}

function problemOfLength(value: string): string | null {
  if (value.length <= patternTextLengthMax) return null
  return `has ${value.length} characters, more than ${patternTextLengthMax}`
}

function problemOfAnythingBut(operand: unknown): string | null {
  if (Array.isArray(operand)) {
    if (operand.length === 0) return 'is an empty list; it needs at least one value'
    if (operand.length > anythingButMax) return `has ${operand.length} values, more than ${anythingButMax}`
    return operand.map(problemOfScalar).find((problem) => problem !== null) ?? null
  }
  if (!isMapping(operand)) return problemOfScalar(operand)
  const [name, ...others] = Object.keys(operand)
  if ((name !== 'prefix' && name !== 'suffix') || others.length > 0) {
    return `${shown(operand)} is neither a value, a list of values, { "prefix": "…" } nor { "suffix": "…" }`
  }
  const problem = problemOfText(operand[name])
  return problem === null ? null : `${name}: ${problem}`
}

function anythingBut(operand: unknown): (value: PatternScalar) => boolean {
  const excluded = isMapping(operand) ? [textOperator(operand)] : [operand].flat().map((each) => equalTo(each as never))
  return (value) => !excluded.some((isExcluded) => isExcluded(value))
}

function textOperator(operand: Readonly<Record<string, unknown>>): (value: PatternScalar) => boolean {
  const { prefix, suffix } = operand
  return prefix === undefined ? patternOperators.suffix.passing(suffix) : patternOperators.prefix.passing(prefix)
}

/** Equal within a tolerance: sums of fractions are seldom what they seem. */
const isEqual = (value: number, bound: number) => Math.abs(value - bound) < tolerance
const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '=': isEqual,
  '!=': (value, bound) => !isEqual(value, bound),
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
}

function problemOfNumeric(operand: unknown): string | null {
  if (!Array.isArray(operand) || (operand.length !== 2 && operand.length !== 4)) {
    return `${shown(operand)} is not a list of one or two comparisons; write [">", 0, "<=", 5]`
  }
  for (let index = 0; index < operand.length; index += 2) {
    const name: unknown = operand[index]
    const bound: unknown = operand[index + 1]
    if (typeof name !== 'string' || !Object.hasOwn(comparisons, name)) {
      return `${shown(name)} is not a comparison; one of ${Object.keys(comparisons).join(' ')}`
    }
    if (typeof bound !== 'number' || Number.isNaN(bound)) return `${shown(bound)} is not a number`
    if (Math.abs(bound) > numberMax) return `${shown(bound)} is not from -1.0E9 to 1.0E9`
  }
  return null
}

function numeric(operand: unknown): (value: PatternScalar) => boolean {
  const [first, firstBound, second = '>=', secondBound = -Infinity] = operand as [string, number, string?, number?]
  const compareFirst = comparisons[first]!
  const compareSecond = comparisons[second]!
  return (value) => typeof value === 'number' && compareFirst(value, firstBound) && compareSecond(value, secondBound)
}

function problemOfCidr(operand: unknown): string | null {
  if (typeof operand === 'string' && parseCidr(operand) !== null) return null
  return `${shown(operand)} is neither a block of IPv4 addresses nor one address; write "10.0.0.0/24" or "10.0.0.1"`
}

function cidr(operand: unknown): (value: PatternScalar) => boolean {
  const block = parseCidr(operand as string)!
  return (value) => typeof value === 'string' && cidrContains(block, value)
}
