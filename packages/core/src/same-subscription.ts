import type { ReadSubscription } from './parse-subscription.ts'

/**
 * Whether two subscriptions mean the same, however they are written: defaults spelled out or left out, `60s` or
 * `1m`, topics in another order. Their lives do not count.
 */
export function sameSubscription(one: ReadSubscription, other: ReadSubscription): boolean {
  return meaning(one) === meaning(other)
}

function meaning({ subscription, written }: ReadSubscription): string {
  const {
    generation: _generation,
    revision: _revision,
    startOffsets: _startOffsets,
    createdPausedBy: _by,
    ...fields
  } = subscription
  const topics = subscription.topics.toSorted()
  const types = subscription.types.toSorted()
  return JSON.stringify(canonical({ ...fields, topics, types, from: written.from ?? 'latest' }))
}

function canonical(value: unknown): unknown {
  if (value instanceof Set) return [...value].toSorted((one, other) => (one < other ? -1 : 1))
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, each]) => [name, canonical(each)])
}
