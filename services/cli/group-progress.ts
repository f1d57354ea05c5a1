import { startOffsetOf, startPlace } from '@barnabas/core'
import type { StatusRecord, Subscription } from '@barnabas/core'
import type { Cluster } from './cluster.ts'

/** How far the first attempts of a subscription are in one partition of a source topic. */
export interface PartitionProgress {
  readonly topic: string
  readonly partition: number
  /** What the group committed, null when nothing is. */
  readonly committed: number | null
  /** The offset that the next record will get. */
  readonly end: number
  /** Records between the two, counted from where the subscription starts when nothing is committed. */
  readonly lag: number
}

/** Of every partition of the topics that exist. */
export async function groupProgress(
  { kafka, names }: Pick<Cluster, 'kafka' | 'names'>,
  subscription: Subscription,
  status: StatusRecord | null,
): Promise<readonly PartitionProgress[]> {
  const { id, topics, generation, startOffsets } = subscription
  const [offsets, commits, topicIds] = await Promise.all([
    kafka.admin.offsets(topics),
    kafka.admin.committed(names.subscriptionGroup(id), topics),
    kafka.admin.topicIds(topics),
  ])
  return offsets
    .map(({ topic, partition, low, high }) => {
      const committed = commits.find((each) => each.topic === topic && each.partition === partition)
      const place = startPlace({
        generation,
        committed,
        start: startOffsetOf(startOffsets, topic, partition),
        low,
        topicId: topicIds.get(topic),
        startedId: undefined,
        ranBefore: false,
        wasMissing: status?.missedTopics.includes(topic) ?? false,
      })
      const from = place.kind === 'at' ? Math.max(place.offset, low) : low
      return { topic, partition, committed: committed?.offset ?? null, end: high, lag: Math.max(0, high - from) }
    })
    .toSorted((one, other) => one.topic.localeCompare(other.topic) || one.partition - other.partition)
}
