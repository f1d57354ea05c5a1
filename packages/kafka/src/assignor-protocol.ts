import type { TopicPartition } from '@barnabas/core'
import kafkajs from 'kafkajs'
import type { PartitionAssigner } from 'kafkajs'
import { assignPartitions } from './assignor.ts'
import type { GroupMember } from './assignor.ts'
import type { Cluster } from './kafkajs-internals.ts'

/** All members of a group must speak it, so a changed protocol needs another name. */
const ASSIGNOR_NAME = 'barnabas-sticky'
const ASSIGNOR_VERSION = 1

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol

type Claim = Pick<GroupMember, 'ownedGeneration' | 'owned'>

/** What our patch lets an assignor have beside what the client asks of it: awaited before each rejoin. */
interface BeforeJoin {
  readonly beforeJoin: () => Promise<void>
}

/**
 * `assignPartitions` as the client wants it. `claim` is asked at every join for what this member holds, after
 * `beforeJoin` has finished what is under way.
 */
export function createAssignor(claim: () => Claim, beforeJoin: () => Promise<void>): PartitionAssigner {
  return ({ cluster }): ReturnType<PartitionAssigner> & BeforeJoin => ({
    name: ASSIGNOR_NAME,
    version: ASSIGNOR_VERSION,
    beforeJoin,

    protocol: ({ topics }) => ({
      name: ASSIGNOR_NAME,
      metadata: MemberMetadata.encode({ version: ASSIGNOR_VERSION, topics, userData: encodeClaim(claim()) }),
    }),

    assign: async ({ members, topics }) => {
      const group = members.map(({ memberId, memberMetadata }): GroupMember => {
        const metadata = MemberMetadata.decode(memberMetadata)
        return { memberId, topics: metadata?.topics ?? [], ...decodeClaim(metadata?.userData) }
      })
      const counts = new Map<string, number>()
      for (const topic of new Set(group.flatMap((member) => member.topics))) {
        // Ours were refreshed by the client just now. A topic that only others read is asked for without becoming
        // one of ours, because the client's loop fails as soon as one of its topics is deleted.
        const partitions = topics.includes(topic)
          ? cluster.findTopicPartitionMetadata(topic).length
          : await countPartitions(cluster as unknown as Cluster, topic)
        counts.set(topic, partitions)
      }
      return [...assignPartitions(group, counts)].map(([memberId, partitions]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({
          version: ASSIGNOR_VERSION,
          assignment: Object.fromEntries(toEntries(partitions)),
          userData: Buffer.alloc(0),
        }),
      }))
    },
  })
}

/** 0 for a topic that does not exist or may not be described. */
async function countPartitions(cluster: Cluster, topic: string): Promise<number> {
  try {
    const broker = await cluster.brokerPool.findConnectedBroker()
    const { topicMetadata } = await broker.metadata([topic])
    return topicMetadata[0]?.partitionMetadata.length ?? 0
  } catch {
    return 0
  }
}

/** `{"generation":3,"owned":{"topic":[0,2]}}` */
export function encodeClaim({ ownedGeneration, owned }: Claim): Buffer {
  return Buffer.from(JSON.stringify({ generation: ownedGeneration, owned: Object.fromEntries(toEntries(owned)) }))
}

/** What cannot be read counts as no claim: the member then gets what balance gives it. */
export function decodeClaim(userData: Buffer | undefined): Claim {
  try {
    const { generation, owned } = JSON.parse(String(userData)) as {
      generation: number
      owned: Record<string, number[]>
    }
    const partitions = Object.entries(owned).flatMap(([topic, ofTopic]) =>
      ofTopic.map((partition) => ({ topic, partition })),
    )
    return { ownedGeneration: generation, owned: partitions }
  } catch {
    return { ownedGeneration: -1, owned: [] }
  }
}

function toEntries(partitions: readonly TopicPartition[]): [string, number[]][] {
  return [...Map.groupBy(partitions, ({ topic }) => topic)].map(([topic, ofTopic]) => [
    topic,
    ofTopic.map(({ partition }) => partition),
  ])
}
