import { createCommand, minInsyncReplicas } from '@barnabas/core'
import type { OwnTopic } from '@barnabas/core'
import type { Cluster } from './cluster.ts'
import { Refusal } from './refusal.ts'

/**
 * Sees to it that the source topics exist: on the broker that `start` runs missing ones are created, and their names
 * returned; elsewhere topics are the owner's, and the `Refusal` carries the commands that make them.
 */
export async function ensureSourceTopics(cluster: Cluster, topics: readonly string[]): Promise<readonly string[]> {
  const missing = await missingTopics(cluster, topics)
  if (missing.length === 0) return []
  if (!cluster.isLocal) return await refuseMissing(cluster, missing)
  const { created, refused } = await cluster.kafka.admin.createTopics(await asWanted(cluster, missing))
  if (refused.length > 0) {
    const reasons = refused.map(({ topic, message, code }) => `topic ${topic} cannot be created: ${message || code}`)
    throw new Refusal(reasons.join('\n'))
  }
  return created
}

/** The command that makes each topic, by its name. */
export async function createCommands(
  cluster: Cluster,
  topics: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = await asWanted(cluster, topics)
  return new Map(wanted.map((topic) => [topic.topic, createCommand(topic, cluster.brokers)]))
}

export async function refuseMissing(cluster: Cluster, missing: readonly string[]): Promise<never> {
  throw new Refusal(missingMessage(cluster.brokers, await asWanted(cluster, missing)))
}

async function asWanted(cluster: Cluster, topics: readonly string[]): Promise<readonly OwnTopic[]> {
  const { kafka, config } = cluster
  const replication = config.replication === 'auto' ? Math.min(3, await kafka.admin.brokerCount()) : config.replication
  const settings: Record<string, string> =
    replication >= 3 ? { 'min.insync.replicas': String(minInsyncReplicas(replication)) } : {}
  return topics.map((topic) => ({
    topic,
    partitions: config.partitions,
    replication,
    config: settings,
    operatorOwned: [],
  }))
}

export async function missingTopics({ kafka }: Cluster, topics: readonly string[]): Promise<readonly string[]> {
  const existing = await kafka.admin.topics()
  return [...new Set(topics)].filter((topic) => !existing.has(topic))
}

export function createdNote(topic: string, { config }: Pick<Cluster, 'config'>): string {
  return `topic ${topic} created with ${config.partitions} partition${config.partitions === 1 ? '' : 's'}`
}

export function missingMessage(brokers: string, wanted: readonly OwnTopic[]): string {
  const [first, ...others] = wanted.map(({ topic }) => topic)
  const subject =
    others.length === 0 ? `topic ${first} does not exist` : `topics ${[first, ...others].join(', ')} do not exist`
  const commands = wanted.map((topic) => `  ${createCommand(topic, brokers)}`)
  return [`${subject} at ${brokers}; create ${others.length === 0 ? 'it' : 'them'} first:`, ...commands].join('\n')
}
