import { setTimeout as sleep } from 'node:timers/promises'
import type { TopicPartition } from '@barnabas/core'
import { isCertificateProblem } from './connection-problem.ts'
import { isRetriable } from './kafka-error.ts'
import { READ_COMMITTED } from './kafkajs-internals.ts'
import { askTopicIds } from './topic-ids.ts'
import type { Broker, Cluster, PartitionMetadata } from './kafkajs-internals.ts'

/** How old a topic's metadata may be before it is asked for again, in ms. */
const METADATA_MAX_AGE_MS = 30_000

/**
 * A connection to the cluster that remembers nothing but leaders, topic by topic: what is wrong with one topic
 * never disturbs another, as it does in the client's own producer and admin, which refresh all topics together.
 */
export class ClusterConnection {
  readonly #cluster: Cluster
  readonly #topics = new Map<string, { readonly partitions: readonly PartitionMetadata[]; readonly at: number }>()
  readonly #loading = new Map<string, Promise<readonly PartitionMetadata[]>>()
  #refreshes: Promise<unknown> = Promise.resolve()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** What is known of the topic's partitions right now, if it is fresh. */
  knownPartitions(topic: string): readonly PartitionMetadata[] | undefined {
    const known = this.#topics.get(topic)
    return known !== undefined && Date.now() - known.at < METADATA_MAX_AGE_MS ? known.partitions : undefined
  }

  /** The topic's partitions, asked for when they are not known. Rejects when the topic is missing or no broker answers. */
  async partitions(topic: string): Promise<readonly PartitionMetadata[]> {
    const known = this.knownPartitions(topic)
    if (known !== undefined) return known
    const loading = this.#loading.get(topic) ?? this.#load(topic)
    this.#loading.set(topic, loading)
    return await loading
  }

  /** Forgets the topic's leaders, because one of them turned out not to be. */
  forget(topic: string): void {
    this.#topics.delete(topic)
  }

  async broker(nodeId: number): Promise<Broker> {
    // Not the cluster's own findBroker, which refreshes the metadata of all topics when the broker is gone.
    return await this.#cluster.brokerPool.findBroker({ nodeId: String(nodeId) })
  }

  /** The broker that leads the partition, or undefined when there is no such partition or it has no leader now. */
  async leader({ topic, partition }: TopicPartition): Promise<Broker | undefined> {
    const found = (await this.partitions(topic)).find(({ partitionId }) => partitionId === partition)
    return found === undefined || found.leader < 0 ? undefined : await this.broker(found.leader)
  }

  async coordinator(groupId: string): Promise<Broker> {
    await this.#knowBrokers()
    return await this.#cluster.findGroupCoordinator({ groupId })
  }

  /**
   * Of each of the topic's partitions the lowest offset, the next one (`LATEST`: the end that readers may see now), or the
   * first one whose record is of that time (ms since the epoch) or later, -1 for none.
   */
  async listOffsets(topic: string, timestamp: number): Promise<ReadonlyMap<number, number>> {
    const partitions = await this.partitions(topic)
    const byLeader = Map.groupBy(partitions, ({ leader }) => leader)
    const answers = await Promise.all(
      [...byLeader].map(async ([leader, led]) => {
        const broker = await this.broker(leader)
        return await broker.listOffsets({
          isolationLevel: READ_COMMITTED,
          topics: [{ topic, partitions: led.map(({ partitionId }) => ({ partition: partitionId, timestamp })) }],
        })
      }),
    )
    const offsets = answers.flatMap(({ responses }) => responses.flatMap((response) => response.partitions))
    return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]))
  }

  /** By name, of those that exist; empty when the broker cannot tell (before Kafka 2.8). */
  async topicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await this.#knowBrokers()
    const broker = await this.#cluster.brokerPool.findConnectedBroker()
    return (await askTopicIds(broker, topics)) ?? new Map<string, string>()
  }

  /** All topics that we may see, also those with a partition that nobody leads now. */
  async topicNames(): Promise<readonly string[]> {
    await this.#knowBrokers()
    const broker = await this.#cluster.brokerPool.findConnectedBroker()
    const ids = await askTopicIds(broker, 'all')
    if (ids !== null) return [...ids.keys()]
    return (await broker.metadata([])).topicMetadata.map(({ topic }) => topic)
  }

  async close(): Promise<void> {
    await this.#cluster.disconnect()
  }

  async #knowBrokers(): Promise<void> {
    if (this.#cluster.getNodeIds().length > 0) return
    await this.#serially(() => this.#cluster.brokerPool.refreshMetadata([]))
  }

  async #load(topic: string): Promise<readonly PartitionMetadata[]> {
    try {
      return await this.#serially(async () => {
        await this.#cluster.brokerPool.refreshMetadata([topic])
        const partitions = this.#cluster.brokerPool.metadata?.topicMetadata.find((one) => one.topic === topic)
        const found = (partitions?.partitionMetadata ?? []).toSorted((a, b) => a.partitionId - b.partitionId)
        if (found.length === 0) throw new Error(`the broker did not tell the partitions of topic ${topic}`)
        this.#topics.set(topic, { partitions: found, at: Date.now() })
        return found
      })
    } finally {
      this.#loading.delete(topic)
    }
  }

  /** The client's broker pool is not made for two refreshes at once. */
  async #serially<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#refreshes.then(work)
    this.#refreshes = result.catch(() => undefined)
    return await result
  }
}

/** Runs `work` again, every 200 ms, as long as it fails with what can pass; gives up `forMs` after the start. */
export async function retrying<Result>(work: () => Promise<Result>, forMs = 15_000): Promise<Result> {
  const deadline = Date.now() + forMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isRetriable(error) || isCertificateProblem(error) || Date.now() > deadline) throw error
      await sleep(200)
    }
  }
}
