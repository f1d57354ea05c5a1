import { didYouMean } from './nearest-name.ts'
import { patternOperators, problemOfScalar } from './pattern-operators.ts'
import type { PatternOperatorName } from './pattern-operators.ts'
import type { EventPattern } from './pattern.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, shown } from './subscription-field.ts'

/** Of one field (spec page §1.8). */
export const conditionsMax = 5
/** Of one pattern, and of all patterns of a subscription together. */
export const patternFieldsMax = 100
/** How deep a pattern may be nested; `data.a` is two deep. */
export const patternDepthMax = 32
const nameLengthMax = 1_024

const operators = Object.keys(patternOperators)
const attributePattern = /^[a-z0-9]{1,64}$/

/** How many fields the patterns of a subscription may still have. */
export interface PatternBudget {
  fieldsLeft: number
}

/**
 * Reads an event pattern of EventBridge (spec page §5.1; docs/eventbridge.md, "Patterns"): names as in the event, and
 * behind each a list of one to five conditions. `{}` takes every event. Outermost stand context attributes and `data`,
 * and below `data` what is in it. Each problem is reported with the place where it stands.
 */
export function readPattern(
  value: unknown,
  report: Report,
  budget: PatternBudget = { fieldsLeft: patternFieldsMax },
): EventPattern | undefined {
  if (!isMapping(value)) {
    return report(`${shown(value)} is not an event pattern; write { source: [acs.oss], data: { bucket: [photos] } }`)
  }
  for (const [name, below] of Object.entries(value)) {
    if (name === 'data') {
      if (!isMapping(below)) {
        return report(`${shown(below)} does not say which field in the data; write { bucket: [photos] }`, name)
      }
    } else if (!attributePattern.test(name)) {
      return report(
        'is neither "data" nor the name of a CloudEvents attribute, which has lower-case letters and digits',
        name,
      )
    } else if (!Array.isArray(below)) {
      return report(`${shown(below)} is not a list of conditions; write ${example(below)}`, name)
    }
    if (!isNode(below, { depth: 1, budget, report: (message, ...path) => report(message, name, ...path) })) {
      return undefined
    }
  }
  return value as EventPattern
}

interface Place {
  readonly depth: number
  readonly budget: PatternBudget
  readonly report: Report
}

function isNode(value: unknown, place: Place): boolean {
  const { depth, budget, report } = place
  const isWrong = (message: string, ...path: readonly (string | number)[]): false => {
    report(message, ...path)
    return false
  }
  if (depth > patternDepthMax) return isWrong(`is nested more than ${patternDepthMax} deep`)
  if (Array.isArray(value)) return isConditions(value, budget, isWrong)
  if (!isMapping(value)) {
    return isWrong(`${shown(value)} is neither a list of conditions nor a mapping; write ${example(value)}`)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return isWrong('is empty; it needs at least one field')
  return entries.every(([name, below]) => {
    if (name.length > nameLengthMax) return isWrong(`has a name of more than ${nameLengthMax} characters`)
    return isNode(below, { depth: depth + 1, budget, report: (message, ...path) => report(message, name, ...path) })
  })
}

type IsWrong = (message: string, ...path: readonly (string | number)[]) => false

function isConditions(conditions: readonly unknown[], budget: PatternBudget, isWrong: IsWrong): boolean {
  budget.fieldsLeft -= 1
  if (budget.fieldsLeft < 0) return isWrong(`is one of more than ${patternFieldsMax} fields`)
  if (conditions.length === 0) return isWrong('is empty; it needs at least one condition')
  if (conditions.length > conditionsMax) {
    return isWrong(`has ${conditions.length} conditions, more than ${conditionsMax}`)
  }
  return conditions.every((condition, index) => {
    if (isMapping(condition)) {
      return isOperators(condition, (message, ...path) => isWrong(message, index, ...path))
    }
    const problem = Array.isArray(condition)
      ? 'is a list within a list; write its values one by one'
      : problemOfScalar(condition)
    return problem === null || isWrong(problem, index)
  })
}

function isOperators(condition: Readonly<Record<string, unknown>>, isWrong: IsWrong): boolean {
  const entries = Object.entries(condition)
  if (entries.length === 0) return isWrong(`is empty; it needs one of ${operators.join(', ')}`)
  for (const [name, operand] of entries) {
    if (!isOperator(name)) {
      return isWrong(`is not an operator; one of ${operators.join(', ')}${didYouMean(name, operators)}`, name)
    }
    const problem = patternOperators[name].problemOf(operand)
    if (problem !== null) return isWrong(problem, name)
  }
  if (condition['exists'] === false && entries.length > 1) {
    return isWrong('false together with another operator is never true; let it stand alone', 'exists')
  }
  return true
}

function isOperator(name: string): name is PatternOperatorName {
  return Object.hasOwn(patternOperators, name)
}

/** The mend of a value without its brackets, which is the mistake most often made. */
function example(value: unknown): string {
  return problemOfScalar(value) === null ? `[${shown(value)}]` : '["acs.oss"]'
}
