import type { ValidSubscription } from './parse-subscription.ts'
import { sameSubscription } from './same-subscription.ts'
import type { StartOffsets } from './start-offsets.ts'
import type { StoredSubscription, SubscriptionLife } from './stored-subscription.ts'
import { storedValue } from './stored-subscription.ts'

/** First and next offset of a partition of a source topic. */
export interface PartitionRange {
  readonly topic: string
  readonly partition: number
  readonly low: number
  readonly high: number
}

export interface ApplyInput {
  readonly parsed: ValidSubscription
  /** What stands in the subscriptions topic now. */
  readonly stored: StoredSubscription
  /** The highest generation that this id is known to have had (its status may outlive it), null for none. */
  readonly formerGeneration: number | null
  /** Every partition of the subscription's topics. */
  readonly offsets: readonly PartitionRange[]
  /** ms since the epoch. */
  readonly now: number
  /** Overwrite although the file was taken from another revision. */
  readonly force: boolean
  /** By whom a subscription that is created is paused from its beginning. */
  readonly pausedBy?: string | undefined
}

export type ApplyPlan =
  /** Write `value` under the id. */
  | { readonly kind: 'created' | 'changed'; readonly life: SubscriptionLife; readonly value: Buffer }
  | { readonly kind: 'unchanged'; readonly life: SubscriptionLife }
  | { readonly kind: 'conflict'; readonly message: string }

/**
 * What applying a subscription writes. `from` is resolved here, once: `latest` into the next offset of each
 * partition, `earliest` into the first. A topic that stays keeps its start offsets, one that is added starts as
 * `from` says, one that goes is forgotten; partitions that are created later are in no start offsets and are read
 * from their beginning.
 */
export function planApply({ parsed, stored, formerGeneration, offsets, now, force, pausedBy }: ApplyInput): ApplyPlan {
  const life = stored.kind === 'absent' ? null : stored.life
  if (life !== null && pausedBy !== undefined) {
    const { id } = parsed.subscription
    return {
      kind: 'conflict',
      message: `--paused is for one that is created, and it exists; say \`barnabas pause ${id}\``,
    }
  }
  const conflict = force ? null : conflictOf(parsed, life)
  if (conflict !== null) return { kind: 'conflict', message: conflict }

  const { topics } = parsed.subscription
  const resolved = resolveStart(topics, parsed.written.from ?? 'latest', offsets)
  if (life === null) {
    const generation = Math.max(now, (formerGeneration ?? 0) + 1)
    const created = { generation, revision: 1, startOffsets: resolved }
    return written('created', parsed, pausedBy === undefined ? created : { ...created, createdPausedBy: pausedBy })
  }
  if (stored.kind === 'valid' && sameSubscription(parsed, stored)) return { kind: 'unchanged', life }
  // What a damaged record meant to read is not known; its start offsets name the topics.
  const former = stored.kind === 'valid' ? stored.subscription.topics : Object.keys(life.startOffsets)
  const startOffsets = Object.fromEntries(
    Object.entries(resolved).flatMap(([topic, added]) => {
      if (!former.includes(topic)) return [[topic, added]]
      const kept = Object.hasOwn(life.startOffsets, topic) ? life.startOffsets[topic] : undefined
      return kept === undefined ? [] : [[topic, kept]]
    }),
  )
  return written('changed', parsed, { ...life, revision: life.revision + 1, startOffsets })
}

function written(kind: 'created' | 'changed', parsed: ValidSubscription, life: SubscriptionLife): ApplyPlan {
  return { kind, life, value: storedValue(parsed.written, life) }
}

function conflictOf({ expected, subscription: { id } }: ValidSubscription, life: SubscriptionLife | null) {
  if (expected === null) return null
  const mend = 'take the present one with `barnabas get`, or overwrite it with --force'
  if (life === null) {
    return `revision: the file is revision ${expected.revision} of ${id}, which does not exist; leave revision out to create it`
  }
  if (expected.generation !== null && expected.generation !== life.generation) {
    return `revision: ${id} was deleted and created again since this file was written; ${mend}`
  }
  if (expected.revision === life.revision) return null
  return `revision: the file is revision ${expected.revision} of ${id}, but the present one is ${life.revision}; ${mend}`
}

function resolveStart(
  topics: readonly string[],
  from: 'latest' | 'earliest',
  offsets: readonly PartitionRange[],
): StartOffsets {
  return Object.fromEntries(
    topics.map((topic) => {
      const partitions = offsets.filter((range) => range.topic === topic).toSorted((a, b) => a.partition - b.partition)
      const starts = partitions.map(({ partition, low, high }) => [partition, from === 'latest' ? high : low] as const)
      return [topic, Object.fromEntries(starts)]
    }),
  )
}
