import { compileAdvancedFilter } from './advanced-filter.ts'
import type { AdvancedFilter } from './advanced-filter.ts'
import type { CloudEvent } from './event.ts'
import { eventView } from './filter-view.ts'
import type { FilterView } from './filter-view.ts'
import { compilePattern } from './pattern.ts'
import type { EventPattern } from './pattern.ts'
import { compileSubjectFilter } from './subject-filter.ts'
import type { SubjectFilter } from './subject-filter.ts'

/**
 * The filters of the CloudEvents Subscriptions API, whose attribute names are those of `CloudEvent.attributes`, two
 * of Event Grid's, and EventBridge's event patterns.
 */
export type Filter =
  | { readonly exact: Readonly<Record<string, string>> }
  | { readonly prefix: Readonly<Record<string, string>> }
  | { readonly suffix: Readonly<Record<string, string>> }
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }
  | { readonly advanced: AdvancedFilter }
  | { readonly subject: SubjectFilter }
  | { readonly pattern: EventPattern }

type Predicate = (view: FilterView) => boolean

/**
 * Whether an event is one for a subscription: its type is one of `types` (empty: any), and every filter passes
 * (CloudEvents Subscriptions API 0.1-wip, §3.2.1 `types`, `filters` and §3.2.4.1.1). Comparisons tell upper from
 * lower case; a missing attribute passes no comparison, so it passes `not` of one. The API's rules that names,
 * values and arrays are not empty are the subscription schema's to check. `viewOf` says how filters look at an event;
 * there is one view per event, made after the types have passed.
 */
export function compileFilter(
  types: readonly string[],
  filters: readonly Filter[],
  viewOf: (event: CloudEvent) => FilterView = eventView,
): (event: CloudEvent) => boolean {
  const known = new Set(types)
  const passes = all(filters.map(compile))
  return (event) => (known.size === 0 || known.has(event.attributes.get('type') ?? '')) && passes(viewOf(event))
}

function compile(filter: Filter): Predicate {
  switch (true) {
    case 'exact' in filter:
      return comparing(filter.exact, (value, text) => value === text)
    case 'prefix' in filter:
      return comparing(filter.prefix, (value, text) => value.startsWith(text))
    case 'suffix' in filter:
      return comparing(filter.suffix, (value, text) => value.endsWith(text))
    case 'all' in filter:
      return all(filter.all.map(compile))
    case 'any' in filter:
      return any(filter.any.map(compile))
    case 'not' in filter:
      return not(compile(filter.not))
    case 'advanced' in filter:
      return compileAdvancedFilter(filter.advanced)
    case 'subject' in filter:
      return compileSubjectFilter(filter.subject)
    case 'pattern' in filter:
      return compilePattern(filter.pattern)
    default:
      throw new TypeError(`unknown filter ${JSON.stringify(filter satisfies never)}`)
  }
}

function comparing(
  texts: Readonly<Record<string, string>>,
  passes: (value: string, text: string) => boolean,
): Predicate {
  const comparisons = Object.entries(texts)
  return ({ attributes }) =>
    comparisons.every(([name, text]) => {
      const value = attributes.get(name)
      return value !== undefined && passes(value, text)
    })
}

function all(predicates: readonly Predicate[]): Predicate {
  return (view) => predicates.every((predicate) => predicate(view))
}

function any(predicates: readonly Predicate[]): Predicate {
  return (view) => predicates.some((predicate) => predicate(view))
}

function not(predicate: Predicate): Predicate {
  return (view) => !predicate(view)
}
