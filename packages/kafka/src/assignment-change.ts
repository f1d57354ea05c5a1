import type { TopicPartition } from '@barnabas/core'
import { PartitionMap } from './partition-map.ts'

export interface AssignmentChange {
  readonly gained: readonly TopicPartition[]
  readonly kept: readonly TopicPartition[]
  readonly lost: readonly TopicPartition[]
}

/**
 * What a join changed. `continues` says whether we are still the member that held `before`: when the group went on
 * without us (session time-out, crash), another member may have had everything in between, so nothing is kept.
 */
export function compareAssignments(
  before: readonly TopicPartition[],
  now: readonly TopicPartition[],
  continues: boolean,
): AssignmentChange {
  const held = PartitionMap.of(continues ? before : [])
  const kept = now.filter((one) => held.has(one))
  const still = PartitionMap.of(kept)
  return {
    gained: now.filter((one) => !still.has(one)),
    kept,
    lost: before.filter((one) => !still.has(one)),
  }
}
