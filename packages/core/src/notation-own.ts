import type { Origin } from './notation-place.ts'
import type { SubscriptionProblem } from './subscription-field.ts'
import { isMapping } from './subscription-field.ts'

/** A document of another notation in our own words, or what is wrong with it. */
export type Translation =
  | {
      readonly kind: 'translated'
      /** A subscription as a person would write it in our own notation; the ordinary schema reads it. */
      readonly fields: Readonly<Record<string, unknown>>
      readonly warnings: readonly string[]
      readonly origins: readonly Origin[]
    }
  | { readonly kind: 'invalid'; readonly problems: readonly SubscriptionProblem[] }

type Fields = Readonly<Record<string, unknown>>

/** What was translated, and our own fields that stand in the document beside it, which win: mappings field by field. */
export function merged(translated: Fields, own: Fields): Fields {
  const entries = Object.entries(own).map(([name, value]) => {
    const below = Object.hasOwn(translated, name) ? translated[name] : undefined
    return [name, isMapping(below) && isMapping(value) ? { ...below, ...value } : value] as const
  })
  return { ...translated, ...Object.fromEntries(entries) }
}

/** Whether what stands at the path comes from our own fields of the document. */
export function isOwn([name, below]: Origin['ours'], own: Fields): boolean {
  if (typeof name !== 'string' || !Object.hasOwn(own, name)) return false
  const value = own[name]
  return !isMapping(value) || (below !== undefined && Object.hasOwn(value, below))
}
