import type { InvalidSubscription, ParseOptions, ReadSubscription } from './parse-subscription.ts'
import { readSubscription } from './parse-subscription.ts'
import type { StartOffsets } from './start-offsets.ts'
import { parseStartOffsets } from './start-offsets.ts'
import { isMapping, problemAt, shown } from './subscription-field.ts'
import type { WrittenSubscription } from './subscription-schema.ts'
import { jsonOf } from './json-text.ts'

/** What `apply` adds to what a person wrote. */
export interface SubscriptionLife {
  /** Time of creation in ms, so that no life of an id repeats another. */
  readonly generation: number
  /** 1, 2 … within a life. */
  readonly revision: number
  readonly startOffsets: StartOffsets
  /** By whom it was created paused (`apply --paused`); it is until somebody says `start`. */
  readonly createdPausedBy?: string
}

export type StoredSubscription =
  | { readonly kind: 'absent' }
  | (ReadSubscription & { readonly life: SubscriptionLife })
  /** `life` is there when `apply` wrote the record and something else in it is wrong. */
  | (InvalidSubscription & { readonly life: SubscriptionLife | null })

/**
 * Reads the value of a record in the subscriptions topic; null is a deletion. What anybody may have written there by
 * hand is refused with reasons, never thrown. Unknown fields come from a newer version: a warning.
 */
export function parseStoredSubscription(
  value: Buffer | null,
  id: string,
  options: Omit<ParseOptions, 'unknownFields'> = {},
): StoredSubscription {
  if (value === null) return { kind: 'absent' }
  const json = jsonOf(value)
  if (!isMapping(json)) return { ...invalid('the record is not a JSON object'), life: null }
  const { generation, revision, startOffsets, createdPausedBy, ...fields } = json
  const life = lifeOf(generation, revision, startOffsets, createdPausedBy)
  if (life === null) {
    return {
      ...invalid(
        'was not written by `apply`: generation, revision or startOffsets is missing or damaged, or createdPausedBy is',
      ),
      life,
    }
  }
  const read = readSubscription(fields, { ...options, unknownFields: 'ignore-with-warning' })
  if (read.kind === 'invalid') return { ...read, life }
  if (read.written.id !== id) {
    const message = `${shown(read.written.id)} is not the record's key ${shown(id)}`
    return { kind: 'invalid', problems: [problemAt(['id'], message)], life }
  }
  return { ...read, subscription: { ...read.subscription, ...life }, life }
}

/** The value of a record in the subscriptions topic: what the person wrote, and its life. */
export function storedValue(written: WrittenSubscription, life: SubscriptionLife): Buffer {
  return Buffer.from(JSON.stringify({ ...written, ...life }))
}

function invalid(message: string): InvalidSubscription {
  return { kind: 'invalid', problems: [problemAt([], message)] }
}

function lifeOf(
  generation: unknown,
  revision: unknown,
  startOffsets: unknown,
  createdPausedBy: unknown,
): SubscriptionLife | null {
  const offsets = parseStartOffsets(startOffsets)
  if (!isPositive(generation) || !isPositive(revision) || offsets === null) return null
  if (createdPausedBy === undefined) return { generation, revision, startOffsets: offsets }
  return typeof createdPausedBy === 'string' ? { generation, revision, startOffsets: offsets, createdPausedBy } : null
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
