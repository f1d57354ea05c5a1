import { parseStoredSubscription } from '@barnabas/core'
import type { KafkaRecord, ParseOptions, StoredSubscription, Subscription, SubscriptionProblem } from '@barnabas/core'

/** What stands in the subscriptions topic under one id. */
export type SubscriptionEntry = ValidEntry | InvalidEntry

export interface ValidEntry {
  readonly kind: 'valid'
  readonly id: string
  readonly subscription: Subscription
  readonly warnings: readonly string[]
}

export interface InvalidEntry {
  readonly kind: 'invalid'
  readonly id: string
  readonly problems: readonly SubscriptionProblem[]
  /** The problems in one line. */
  readonly reason: string
  /** 0 when the record carries none. */
  readonly generation: number
  readonly revision: number
}

export type SubscriptionChange = SubscriptionEntry | { readonly kind: 'deleted'; readonly id: string }

/** A key longer than this is no id of anything, and is not worth keeping. */
const keyBytesMax = 249

interface Stand {
  readonly offset: number
  /** null once deleted. */
  readonly entry: SubscriptionEntry | null
  readonly stored: StoredSubscription
}

/**
 * The subscriptions topic as a map, record by record. Pure. A record at or below an offset that was seen for the same
 * id is ignored, so that a replay never brings back what was deleted or changed since; but one of a newer life or
 * revision counts wherever it stands, for a topic that was made anew begins again at offset 0.
 */
export interface SubscriptionLog {
  /** What the record changed, null for nothing. */
  apply(record: KafkaRecord): SubscriptionChange | null
  get(id: string): SubscriptionEntry | undefined
  all(): readonly SubscriptionEntry[]
  /** The record as `apply` needs it. */
  stored(id: string): StoredSubscription
}

export function createSubscriptionLog(options: Omit<ParseOptions, 'unknownFields'>): SubscriptionLog {
  const stands = new Map<string, Stand>()

  return {
    apply({ key, value, offset }) {
      if (key === null || key.length > keyBytesMax) return null
      const id = key.toString('utf8')
      const stored = parseStoredSubscription(value, id, options)
      const present = stands.get(id)
      if (present !== undefined && offset <= present.offset && !isNewer(stored, present.stored)) return null
      const entry = entryOf(id, stored)
      stands.set(id, { offset, entry, stored })
      if (entry !== null) return entry
      // Deleting what is not there changes nothing.
      return present === undefined || present.entry === null ? null : { kind: 'deleted', id }
    },
    get: (id) => stands.get(id)?.entry ?? undefined,
    all: () => [...stands.values()].flatMap(({ entry }) => entry ?? []),
    stored: (id) => stands.get(id)?.stored ?? { kind: 'absent' },
  }
}

function entryOf(id: string, stored: StoredSubscription): SubscriptionEntry | null {
  switch (stored.kind) {
    case 'absent':
      return null
    case 'valid':
      return { kind: 'valid', id, subscription: stored.subscription, warnings: stored.warnings }
    case 'invalid': {
      const { generation = 0, revision = 0 } = stored.life ?? {}
      const reason = stored.problems.map(({ message }) => message).join('; ')
      return { kind: 'invalid', id, problems: stored.problems, reason, generation, revision }
    }
    default:
      return stored satisfies never
  }
}

function isNewer(candidate: StoredSubscription, present: StoredSubscription): boolean {
  const one = candidate.kind === 'absent' ? null : candidate.life
  const other = present.kind === 'absent' ? null : present.life
  if (one === null || other === null) return false
  return one.generation > other.generation || (one.generation === other.generation && one.revision > other.revision)
}
