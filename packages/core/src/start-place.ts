import { decodeCommitMetadata } from './commit-metadata.ts'
import type { OffsetRange } from './offset-ranges.ts'
import { offsetsOutside } from './offset-ranges.ts'

/** What is found of one partition when a consumer gets it. */
export interface FoundPartition {
  readonly committed: { readonly offset: number; readonly metadata: string } | undefined
  /** The partition's first offset. */
  readonly low: number
  /** Undefined when the brokers cannot tell. */
  readonly topicId: string | undefined
}

/** What is known of one source partition when a subscription's consumer gets it. */
export interface PartitionFacts extends FoundPartition {
  readonly generation: number
  /** From the subscription's `startOffsets`; undefined for a partition that was created later. */
  readonly start: number | undefined
  /** Whether the subscription has been `Running` with this topic in this generation. */
  readonly ranBefore: boolean
  /** The id that the topic had then. Brokers forget what was committed of a topic that is deleted. */
  readonly startedId: string | undefined
  /** Whether the topic was missing since the subscription was applied: its start offsets are those of a topic that is gone. */
  readonly wasMissing: boolean
}

/** `done`: what an earlier reader of this life has done beyond the offset. The rest goes with every commit: `CommitLabel`. */
export interface KnownPlace {
  readonly kind: 'at'
  readonly offset: number
  readonly done: readonly OffsetRange[]
  /** The subscription's start offset, null when there is none for this partition. */
  readonly start: number | null
  readonly voidStart: number | null
  readonly isAnew: boolean
  readonly skippedOffsets: number
}

export type StartPlace =
  | KnownPlace
  /** It ran before and its committed offset is gone: any place would be a guess. */
  | { readonly kind: 'unknown' }

/**
 * Where a subscription reads a partition from. What the group committed wins (also an offset that an operator set
 * with Kafka's own tools); what another generation of this id committed does not count; without a commit the start
 * offsets that `apply` stored decide, and partitions and topics that came later are read from their beginning, as is a
 * topic that was deleted and made again. A subscription never jumps: one that ran before and finds no offset must be
 * looked at (design, "Offsets"). What was deleted before it was read is counted.
 */
export function startPlace(facts: PartitionFacts): StartPlace {
  const { committed, low } = facts
  const start = facts.wasMissing ? undefined : facts.start
  const at = (offset: number, more: Partial<KnownPlace> = {}): KnownPlace => ({
    kind: 'at',
    offset,
    start: facts.start ?? null,
    voidStart: null,
    isAnew: false,
    skippedOffsets: 0,
    ...more,
    done: (more.done ?? []).filter(({ to }) => to > offset),
  })
  if (committed !== undefined) {
    const metadata = decodeCommitMetadata(committed.metadata, committed.offset)
    // From here on it is no matter where the subscription once started.
    if (metadata === null) return at(committed.offset, { voidStart: start ?? null })
    if (metadata.generation === facts.generation) {
      const { skippedOffsets, done, voidStart, isAnew } = metadata
      if (isOfAnotherTopic(metadata.topicId, facts.topicId)) {
        return at(low, { voidStart: facts.start ?? null, isAnew: true, skippedOffsets })
      }
      // Below the start offset after its topic left the subscription and came back with `from: latest`.
      const floor = start === undefined || start === voidStart ? 0 : start
      const offset = Math.max(committed.offset, floor)
      const skipped = skippedOffsets + offsetsOutside(done, offset, low)
      return at(Math.max(offset, low), { done, voidStart, isAnew, skippedOffsets: skipped })
    }
  }
  if (isOfAnotherTopic(facts.startedId ?? null, facts.topicId)) {
    return at(low, { voidStart: facts.start ?? null, isAnew: true })
  }
  if (start === undefined) return at(low)
  if (facts.ranBefore) return { kind: 'unknown' }
  return at(Math.max(start, low), { skippedOffsets: Math.max(0, low - start) })
}

/** What stands as generation in the commits of a reader without lives: one that reads for all subscriptions, or for all lives of one. */
export const noGeneration = 0

/** Where a reader without lives reads a partition from: what its group committed, else the partition's beginning. */
export function startPlaceWithoutLives(found: FoundPartition): StartPlace {
  const facts = {
    generation: noGeneration,
    start: undefined,
    startedId: undefined,
    ranBefore: false,
    wasMissing: false,
  }
  return startPlace({ ...found, ...facts })
}

function isOfAnotherTopic(then: string | null, now: string | undefined): boolean {
  return then !== null && now !== undefined && then !== now
}
