import { attributeValue, valueAt } from './filter-view.ts'
import type { FilterView } from './filter-view.ts'
import { equalTo, isPatternScalar, patternOperators } from './pattern-operators.ts'
import type { PatternOperatorName, PatternScalar } from './pattern-operators.ts'
import { isMapping } from './subscription-field.ts'

/**
 * An event pattern of EventBridge (spec page §5.1), as it was written: it mirrors the event, and at the end of each
 * path stands a list of conditions. `readPattern` says which ones there are.
 */
export interface EventPattern {
  readonly [name: string]: EventPattern | readonly PatternCondition[]
}

/** A value, or operators that must all hold for one value. */
export type PatternCondition = PatternScalar | Readonly<Partial<Record<PatternOperatorName, unknown>>>

/** What one field of a pattern says to an event. */
export interface PatternFieldResult {
  readonly path: readonly string[]
  readonly conditions: readonly PatternCondition[]
  readonly passes: boolean
  /** The value that was judged; undefined where there is none. */
  readonly value: unknown
}

interface CompiledField {
  readonly path: readonly string[]
  readonly conditions: readonly PatternCondition[]
  readonly passes: (value: unknown) => boolean
}

/**
 * Whether an event matches: each field of the pattern passes, which one of its conditions is enough for. It is compiled
 * once; an event is walked along the paths and each value is compared with at most five conditions, so no pattern and no
 * event costs more than their sizes. The pattern is one that `readPattern` returned.
 */
export function compilePattern(pattern: EventPattern): (view: FilterView) => boolean {
  const fields = fieldsOf(pattern)
  return (view) => fields.every(({ path, passes }) => passes(valueIn(view, path)))
}

/** The same, field by field, for people who want to know why. */
export function explainPattern(pattern: EventPattern, view: FilterView): readonly PatternFieldResult[] {
  return fieldsOf(pattern).map(({ path, conditions, passes }) => {
    const value = valueIn(view, path)
    return { path, conditions, value, passes: passes(value) }
  })
}

function fieldsOf(pattern: EventPattern, above: readonly string[] = []): CompiledField[] {
  return Object.entries(pattern).flatMap(([name, below]) => {
    const path = [...above, name]
    if (!isList(below)) return fieldsOf(below, path)
    return [{ path, conditions: below, passes: compileField(below, path[0] !== 'data') }]
  })
}

/** A context attribute's text, or what stands in the data. An attribute has nothing below it. */
function valueIn(view: FilterView, path: readonly string[]): unknown {
  return path[0] === 'data' ? valueAt(view.data(), path, 1) : view.attributes.get(path[0]!)
}

function compileField(conditions: readonly PatternCondition[], isAttribute: boolean): (value: unknown) => boolean {
  const predicates = conditions.map((condition) => compileCondition(condition, isAttribute))
  const whenMissing = conditions.some((condition) => isMapping(condition) && condition['exists'] === false)
  const passes = (value: PatternScalar): boolean => predicates.some((predicate) => predicate(value))
  return (value) => {
    if (value === undefined) return whenMissing
    if (isPatternScalar(value)) return passes(value)
    // One element is enough; an object, or an array that holds anything but values, matches nothing (§5.2).
    return Array.isArray(value) && value.every(isPatternScalar) && value.some(passes)
  }
}

function compileCondition(condition: PatternCondition, isAttribute: boolean): (value: PatternScalar) => boolean {
  if (!isMapping(condition)) return equalTo(condition)
  const predicates = Object.entries(condition).map(([name, operand]) => {
    const passes = patternOperators[name as PatternOperatorName].passing(operand)
    if (name !== 'numeric' || !isAttribute) return passes
    return (value: PatternScalar) => passes(attributeValue(value as string, 'number') as PatternScalar)
  })
  return (value) => predicates.every((predicate) => predicate(value))
}

function isList(value: EventPattern | readonly PatternCondition[]): value is readonly PatternCondition[] {
  return Array.isArray(value)
}
