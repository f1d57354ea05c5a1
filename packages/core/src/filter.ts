import type { CloudEvent } from './event.ts'

/** The filters of the CloudEvents Subscriptions API. Attribute names are those of `CloudEvent.attributes`. */
export type Filter =
  | { readonly exact: Readonly<Record<string, string>> }
  | { readonly prefix: Readonly<Record<string, string>> }
  | { readonly suffix: Readonly<Record<string, string>> }
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }

type Predicate = (event: CloudEvent) => boolean

/**
 * Whether an event is one for a subscription: its type is one of `types` (empty: any), and every filter passes
 * (CloudEvents Subscriptions API 0.1-wip, §3.2.1 `types`, `filters` and §3.2.4.1.1). Comparisons tell upper from
 * lower case; a missing attribute passes no comparison, so it passes `not` of one. The API's rules that names,
 * values and arrays are not empty are the subscription schema's to check.
 */
export function compileFilter(types: readonly string[], filters: readonly Filter[]): (event: CloudEvent) => boolean {
  const predicates = filters.map(compile)
  if (types.length > 0) predicates.unshift(isOfType(new Set(types)))
  return all(predicates)
}

function compile(filter: Filter): Predicate {
  switch (true) {
    case 'exact' in filter:
      return exact(Object.entries(filter.exact))
    case 'prefix' in filter:
      return prefix(Object.entries(filter.prefix))
    case 'suffix' in filter:
      return suffix(Object.entries(filter.suffix))
    case 'all' in filter:
      return all(filter.all.map(compile))
    case 'any' in filter:
      return any(filter.any.map(compile))
    case 'not' in filter:
      return not(compile(filter.not))
    default:
      throw new TypeError(`unknown filter ${JSON.stringify(filter satisfies never)}`)
  }
}

type Comparisons = readonly (readonly [name: string, operand: string])[]

function isOfType(types: ReadonlySet<string>): Predicate {
  return ({ attributes }) => types.has(attributes.get('type') ?? '')
}

function exact(comparisons: Comparisons): Predicate {
  return ({ attributes }) => comparisons.every(([name, operand]) => attributes.get(name) === operand)
}

function prefix(comparisons: Comparisons): Predicate {
  return ({ attributes }) => comparisons.every(([name, operand]) => attributes.get(name)?.startsWith(operand) ?? false)
}

function suffix(comparisons: Comparisons): Predicate {
  return ({ attributes }) => comparisons.every(([name, operand]) => attributes.get(name)?.endsWith(operand) ?? false)
}

function all(predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.every((predicate) => predicate(event))
}

function any(predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.some((predicate) => predicate(event))
}

function not(predicate: Predicate): Predicate {
  return (event) => !predicate(event)
}
