import type { TopicPartition } from '@barnabas/core'
import kafkajs from 'kafkajs'
import type { Consumer as KafkajsConsumer } from 'kafkajs'
import { compareAssignments, continues } from './assignment-change.ts'
import type { Membership } from './assignment-change.ts'
import { PartitionMap } from './partition-map.ts'
import type { Assignment, Consumer } from './port.ts'

/** What the client tells of a join; its types leave out the generation. */
export interface GroupJoin extends Membership {
  readonly isLeader: boolean
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>
}

/** What is ours since the last join, with the place that each partition's reading has reached, and what is paused of it. */
export interface OwnPartitions extends Pick<Consumer, 'pause' | 'resume' | 'seek'> {
  /** None before the first join, and from the end of a membership to the next join. */
  readonly membership: Membership
  partitions(): readonly TopicPartition[]
  has(one: TopicPartition): boolean
  isPaused(one: TopicPartition): boolean
  /** The next offset to hand over, once it is known. */
  nextOffset(one: TopicPartition): number | undefined
  /** Everything below this offset was handed over. */
  reached(one: TopicPartition, nextOffset: number): void
  joined(join: GroupJoin): Assignment
  /** Another member may have all of it before we join again. */
  membershipEnded(): void
}

export function createOwnPartitions(client: KafkajsConsumer): OwnPartitions {
  let owned = new PartitionMap<number | undefined>()
  const paused = new PartitionMap<true>()
  let membership: Membership = { memberId: '', generationId: -1 }

  return {
    get membership() {
      return membership
    },
    partitions: () => owned.partitions(),
    has: (one) => owned.has(one),
    isPaused: (one) => paused.has(one),
    nextOffset: (one) => owned.get(one),
    reached: (one, nextOffset) => owned.set(one, nextOffset),

    joined({ isLeader, memberAssignment, ...join }) {
      const before = owned
      const assigned = Object.entries(memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      )
      const change = compareAssignments(before.partitions(), assigned, continues(membership, join))
      const { gained, kept, lost } = change
      owned = new PartitionMap()
      for (const one of gained) owned.set(one, undefined)
      for (const one of kept) owned.set(one, before.get(one))
      membership = { memberId: join.memberId, generationId: join.generationId }
      client.resume(byTopic([...lost, ...gained]))
      for (const one of lost) paused.delete(one)
      for (const one of kept) {
        const position = owned.get(one)
        if (position !== undefined) client.seek({ ...one, offset: String(position) })
      }
      client.pause(byTopic(paused.partitions()))
      return { ...change, isLeader, ...membership }
    },

    membershipEnded() {
      membership = { memberId: '', generationId: -1 }
    },

    pause(partitions) {
      const ours = partitions.filter((one) => owned.has(one))
      for (const one of ours) paused.set(one, true)
      ifRunning(() => client.pause(byTopic(ours)))
    },

    resume(partitions) {
      const ours = partitions.filter((one) => paused.has(one))
      for (const one of ours) paused.delete(one)
      if (ours.length > 0) ifRunning(() => client.resume(byTopic(ours)))
    },

    seek({ topic, partition }, offset) {
      const one = { topic, partition }
      if (!owned.has(one)) return
      owned.set(one, offset)
      ifRunning(() => client.seek({ ...one, offset: String(offset) }))
    },
  }
}

/** Between a crash and the next join the client has no loop to tell; what is wanted then is derived at that join. */
function ifRunning(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSNonRetriableError)) throw error
  }
}

function byTopic(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  const grouped = Map.groupBy(partitions, ({ topic }) => topic)
  return [...grouped].map(([topic, ofTopic]) => ({ topic, partitions: ofTopic.map(({ partition }) => partition) }))
}
