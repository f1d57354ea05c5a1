import type { TopicPartition } from '@barnabas/core'
import { PartitionMap } from './partition-map.ts'

export interface AssignmentChange {
  readonly gained: readonly TopicPartition[]
  readonly kept: readonly TopicPartition[]
  readonly lost: readonly TopicPartition[]
}

/** Which member of its group one is, and in which generation. */
export interface Membership {
  /** Empty for none. */
  readonly memberId: string
  readonly generationId: number
}

/**
 * Whether nobody else can have had what was ours until this join: we are still the same member (after a session time-out or
 * a crash the group went on without us), and there was no generation between the two. The group counts them one by one,
 * and a rebalance that came while we asked for our assignment gave us none of that generation, but gave others theirs.
 */
export function continues(before: Membership, now: Membership): boolean {
  return now.memberId === before.memberId && now.generationId - before.generationId <= 1
}

/** What a join changed. When the membership does not continue, another member may have had everything: nothing is kept. */
export function compareAssignments(
  before: readonly TopicPartition[],
  now: readonly TopicPartition[],
  isContinued: boolean,
): AssignmentChange {
  const held = PartitionMap.of(isContinued ? before : [])
  const kept = now.filter((one) => held.has(one))
  const still = PartitionMap.of(kept)
  return {
    gained: now.filter((one) => !still.has(one)),
    kept,
    lost: before.filter((one) => !still.has(one)),
  }
}
