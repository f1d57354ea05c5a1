import { advancedOperators } from './advanced-operators.ts'
import type { AdvancedOperator, Operand, Operator } from './advanced-operators.ts'
import { filterKey } from './filter-view.ts'
import type { FilterView } from './filter-view.ts'

/** One of Event Grid's advanced filters. */
export interface AdvancedFilter {
  readonly operatorType: AdvancedOperator
  /** Names joined by dots: `data.order.amount`. */
  readonly key: string
  /** The operand, or the operands, that the operator takes. */
  readonly value?: number | boolean
  readonly values?: readonly Operand[]
  /** Whether an array is looked into; if not, it passes no operator that compares. */
  readonly onArrays?: boolean
}

/**
 * Several operands are alternatives; a negation must miss them all. In an array one element that hits is enough;
 * elements of another JSON type than the operand's hit nothing, and neither does a single value of another type.
 */
export function compileAdvancedFilter(filter: AdvancedFilter): (view: FilterView) => boolean {
  const operator: Operator = advancedOperators[filter.operatorType]
  const { operand, negated, whenMissing } = operator
  const key = filterKey(filter.key)
  const hits = operator.hitting(filter.values ?? (filter.value === undefined ? [] : [filter.value]))
  return (view) => {
    const value = view.valueOf(key, operand)
    if (value === undefined || value === null) return whenMissing
    if (operand === null || !Array.isArray(value)) return hits(value) !== negated
    return filter.onArrays === true && value.some(hits) !== negated
  }
}
