import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import type { Admin as KafkajsAdmin } from 'kafkajs'
import { retrying } from './cluster-connection.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { NotAuthorizedError, brokerErrorType, isNotAuthorized } from './kafka-error.ts'
import { EARLIEST, LATEST } from './kafkajs-internals.ts'
import { createNewestTopicIds } from './newest-topic-ids.ts'
import type { Admin, NewTopic, RefusedTopic } from './port.ts'
import { sharedQuestion } from './shared-question.ts'

/** How long a new topic may take until every partition has a leader. */
const LEADERS_WITHIN_MS = 30_000
const DELETED_WITHIN_MS = 10_000

/**
 * Everything that is asked of the cluster apart from reading and writing. What the client's admin does topic by
 * topic goes through `connection` instead: the client remembers each topic that it was asked about, and once one of
 * them is deleted its other questions fail.
 */
export function createAdmin(admin: KafkajsAdmin, connection: ClusterConnection): Admin {
  const newestOf = createNewestTopicIds()

  /** Hundreds of subscriptions that look up their places at a time ask for it, and an answer tells of all topics. */
  const topics = sharedQuestion(
    async (): Promise<ReadonlySet<string>> => new Set(await retrying(() => connection.topicNames())),
  )

  async function existing(wanted: readonly string[]): Promise<string[]> {
    const all = await topics()
    return [...new Set(wanted)].filter((topic) => all.has(topic))
  }

  /** Applies `ask` to the topics that exist; one that is deleted meanwhile is left out. */
  async function ofExisting<Result>(
    wanted: readonly string[],
    ask: (topic: string) => Promise<Result>,
  ): Promise<Result[]> {
    const answers = await Promise.all(
      (await existing(wanted)).map(async (topic) => {
        try {
          return [
            await retrying(async () => {
              connection.forget(topic)
              return await ask(topic)
            }, 5_000),
          ]
        } catch (error) {
          if (brokerErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return []
          throw error
        }
      }),
    )
    return answers.flat()
  }

  async function createTopics(wanted: readonly NewTopic[]): ReturnType<Admin['createTopics']> {
    const before = await topics()
    const missing = wanted.filter(({ topic }) => !before.has(topic))
    const failed = missing.length === 0 ? [] : await create(missing)
    const there = new Set(failed.filter(({ code }) => code === 'TOPIC_ALREADY_EXISTS').map(({ topic }) => topic))
    const refused = failed.filter(({ topic }) => !there.has(topic))
    const refusedTopics = new Set(refused.map(({ topic }) => topic))
    await untilLed(wanted.map(({ topic }) => topic).filter((topic) => !refusedTopics.has(topic)))
    const created = missing.map(({ topic }) => topic).filter((topic) => !there.has(topic) && !refusedTopics.has(topic))
    return { created, refused }
  }

  async function create(missing: readonly NewTopic[]): Promise<readonly RefusedTopic[]> {
    const request = missing.map(({ topic, partitions, replication, config }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    }))
    try {
      // Without waitForLeaders, which rejects although it succeeded when metadata is a moment behind.
      await admin.createTopics({ topics: request, waitForLeaders: false })
      return []
    } catch (error) {
      if (!isCreateTopicsError(error)) throw error
      return error.errors.map(({ topic, type, message }) => ({ topic, code: type, message }))
    }
  }

  async function untilLed(wanted: readonly string[]): Promise<void> {
    const deadline = Date.now() + LEADERS_WITHIN_MS
    for (const topic of wanted) {
      for (;;) {
        connection.forget(topic)
        const partitions = await connection.partitions(topic).catch((error: unknown) => {
          if (isNotAuthorized(error)) throw new NotAuthorizedError(`describe topic ${topic}`)
          if (Date.now() > deadline) throw error
          return []
        })
        if (partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)) break
        if (Date.now() > deadline) throw new Error(`topic ${topic} was created but has no leader yet`)
        await sleep(20)
      }
    }
  }

  return {
    topics,
    createTopics,

    async brokerCount(withinMs) {
      return (await retrying(() => admin.describeCluster(), withinMs)).brokers.length
    },

    async describeTopics(wanted) {
      return await ofExisting(wanted, async (topic) => {
        const partitions = await connection.partitions(topic)
        return { topic, partitions: partitions.length, replication: partitions[0]?.replicas.length ?? 0 }
      })
    },

    async topicConfig(wanted) {
      const resources = (await existing(wanted)).map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name }))
      if (resources.length === 0) return new Map()
      const described = await retrying(() => admin.describeConfigs({ resources, includeSynonyms: false })).catch(
        (error: unknown) => {
          if (!isNotAuthorized(error)) throw error
          const [first, ...others] = resources.map(({ name }) => name)
          const more = others.length === 0 ? '' : ` or of one of ${others.length} more`
          throw new NotAuthorizedError(`describe the configuration of topic ${first}${more}`)
        },
      )
      return new Map(
        described.resources.map(({ resourceName, configEntries }) => [
          resourceName,
          Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
        ]),
      )
    },

    async offsets(wanted) {
      const found = await ofExisting(wanted, async (topic) => {
        const [low, high] = [await connection.listOffsets(topic, EARLIEST), await connection.listOffsets(topic, LATEST)]
        return [...high].map(([partition, end]) => ({ topic, partition, low: low.get(partition) ?? 0, high: end }))
      })
      return found
        .flat()
        .toSorted((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition))
    },

    async offsetsSince(wanted, timestamp) {
      const found = await ofExisting(wanted, async (topic) =>
        [...(await connection.listOffsets(topic, timestamp))].map(([partition, offset]) => ({
          topic,
          partition,
          offset: offset < 0 ? null : offset,
        })),
      )
      return found.flat()
    },

    async topicIds(wanted) {
      if (wanted.length === 0) return new Map()
      return await retrying(async () => newestOf(await connection.topicIds([...new Set(wanted)])))
    },

    async committed(groupId, wanted) {
      const { responses } = await retrying(async () => {
        const coordinator = await connection.coordinator(groupId)
        return await coordinator.offsetFetch({ groupId, topics: [] })
      })
      return responses
        .filter(({ topic }) => wanted.includes(topic))
        .flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset, metadata }) => ({
            topic,
            partition,
            offset: Number(offset),
            metadata: metadata ?? '',
          })),
        )
        .filter(({ offset }) => offset >= 0)
    },

    async deleteRecords(below) {
      for (const { topic, partition, offset } of below) {
        await retrying(async () => {
          connection.forget(topic)
          const leader = await connection.leader({ topic, partition })
          if (leader === undefined) throw new Error(`topic ${topic} has no leader for partition ${partition} now`)
          await leader.deleteRecords({ topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }] })
        })
      }
    },

    async deleteTopics(wanted) {
      const found = await existing(wanted)
      if (found.length > 0) await admin.deleteTopics({ topics: found, timeout: DELETED_WITHIN_MS })
      for (const topic of wanted) connection.forget(topic)
      // The controller acknowledges before the broker forgets: whoever makes a topic of that name anew would find this one.
      const deadline = Date.now() + DELETED_WITHIN_MS
      while (Date.now() < deadline && (await existing(found)).length > 0) await sleep(20)
    },

    async deleteGroup(groupId) {
      try {
        await admin.deleteGroups([groupId])
        return true
      } catch (error) {
        const type = deleteGroupErrorType(error)
        if (type === 'NON_EMPTY_GROUP') return false
        if (type === 'GROUP_ID_NOT_FOUND') return true
        throw error
      }
    },

    async removeMembers(clientId, groupPrefix) {
      const { groups } = await retrying(() => admin.listGroups())
      const groupIds = groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith(groupPrefix))
      if (groupIds.length === 0) return 0
      const described = await retrying(() => admin.describeGroups(groupIds))
      const dead = described.groups.flatMap(({ groupId, members }) =>
        members.filter((member) => member.clientId === clientId).map(({ memberId }) => ({ groupId, memberId })),
      )
      for (const member of dead) {
        await retrying(async () => {
          const coordinator = await connection.coordinator(member.groupId)
          await coordinator.leaveGroup(member)
        })
      }
      return dead.length
    },
  }
}

interface CreateTopicsError extends Error {
  readonly errors: readonly { readonly topic: string; readonly type: string; readonly message: string }[]
}

function isCreateTopicsError(error: unknown): error is CreateTopicsError {
  return error instanceof Error && error.name === 'KafkaJSAggregateError'
}

function deleteGroupErrorType(error: unknown): string | undefined {
  if (!(error instanceof kafkajs.KafkaJSDeleteGroupsError)) return brokerErrorType(error)
  return brokerErrorType(error.groups[0]?.error)
}
