import { decodeCommitMetadata } from './commit-metadata.ts'

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
  | { readonly kind: 'at'; readonly offset: number }
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
    const generation = decodeCommitMetadata(committed.metadata)
    if (generation === null) return { kind: 'at', offset: committed.offset }
    // Below the start offset after its topic left the subscription and came back with `from: latest`.
    if (generation === facts.generation) return { kind: 'at', offset: Math.max(committed.offset, start ?? 0) }
  }
  if (start === undefined) return { kind: 'at', offset: low }
  if (facts.ranBefore) return { kind: 'unknown' }
  return { kind: 'at', offset: Math.max(start, low) }
}
