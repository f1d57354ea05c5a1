import { decodeCommitMetadata } from './commit-metadata.ts'
import type { OffsetRange } from './offset-ranges.ts'

/** What is known of one source partition when a subscription's consumer gets it. */
export interface PartitionFacts {
  readonly generation: number
  readonly committed: { readonly offset: number; readonly metadata: string } | undefined
  /** From the subscription's `startOffsets`; undefined for a partition that was created later. */
  readonly start: number | undefined
  /** The partition's first offset. */
  readonly low: number
  /** Whether the subscription has been `Running` with this topic in this generation. */
  readonly ranBefore: boolean
  /** Whether the topic was missing since the subscription was applied: its start offsets are those of a topic that is gone. */
  readonly wasMissing: boolean
}

export type StartPlace =
  /** `done`: what an earlier reader of this life has done beyond it. */
  | { readonly kind: 'at'; readonly offset: number; readonly done: readonly OffsetRange[] }
  /** It ran before and its committed offset is gone: any place would be a guess. */
  | { readonly kind: 'unknown' }

/**
 * Where a subscription reads a partition from. What the group committed wins (also an offset that an operator set
 * with Kafka's own tools); what another generation of this id committed does not count; without a commit the start
 * offsets that `apply` stored decide, and partitions and topics that came later are read from their beginning.
 * A subscription never jumps: one that ran before and finds no offset must be looked at (design, "Offsets").
 */
export function startPlace(facts: PartitionFacts): StartPlace {
  const { committed, low } = facts
  const start = facts.wasMissing ? undefined : facts.start
  if (committed !== undefined) {
    const metadata = decodeCommitMetadata(committed.metadata, committed.offset)
    if (metadata === null) return at(committed.offset)
    // Below the start offset after its topic left the subscription and came back with `from: latest`.
    if (metadata.generation === facts.generation) return at(Math.max(committed.offset, start ?? 0), metadata.done)
  }
  if (start === undefined) return at(low)
  if (facts.ranBefore) return { kind: 'unknown' }
  return at(Math.max(start, low))
}

function at(offset: number, done: readonly OffsetRange[] = []): StartPlace {
  return { kind: 'at', offset, done: done.filter(({ to }) => to > offset) }
}
