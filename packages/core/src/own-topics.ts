import { names } from './names.ts'

/** A topic as Barnabas wants it. */
export interface OwnTopic {
  readonly topic: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
  /** What is the operator's to change, and therefore not compared. */
  readonly operatorOwned: readonly ('partitions' | 'retention.ms' | 'cleanup.policy')[]
}

export interface OwnTopicsOptions {
  readonly prefix: string
  /** `BARNABAS_PARTITIONS` and `BARNABAS_TIER_PARTITIONS`. */
  readonly partitions: number
  readonly tierPartitions: number
  /** `BARNABAS_REPLICATION`, resolved. */
  readonly replication: number
}

/** A retry record may be larger than its source topic's limit by our headers. */
const recordBytesMax = 16 * 1024 * 1024
const day = 86_400_000

/** The topics that a first start makes: the interface's table. */
export function ownTopics({ prefix, partitions, tierPartitions, replication }: OwnTopicsOptions): readonly OwnTopic[] {
  const own = names(prefix)
  const durability = { 'min.insync.replicas': String(minInsyncReplicas(replication)) }
  const control = { partitions: 1, replication, config: { 'cleanup.policy': 'compact', ...durability } }
  return [
    { topic: own.subscriptions, ...control, operatorOwned: [] },
    { topic: own.status, ...control, operatorOwned: [] },
    { topic: own.health, ...control, operatorOwned: [] },
    {
      topic: own.commands,
      ...control,
      config: { 'cleanup.policy': 'delete', 'retention.ms': String(90 * day), ...durability },
      operatorOwned: ['retention.ms', 'cleanup.policy'],
    },
    { topic: own.progress, ...control, operatorOwned: [] },
    {
      topic: own.redrives,
      ...control,
      config: {
        'cleanup.policy': 'compact,delete',
        // A day longer than the dead letters that the marks stand for; where those are kept longer, the operator's to raise.
        'retention.ms': String(15 * day),
        // Whether a mark is still there is reckoned by its age.
        'message.timestamp.type': 'LogAppendTime',
        ...durability,
      },
      operatorOwned: ['retention.ms'],
    },
    {
      topic: own.refusals,
      ...control,
      // A day longer than the dead letters that they are about.
      config: { 'cleanup.policy': 'compact,delete', 'retention.ms': String(15 * day), ...durability },
      operatorOwned: ['retention.ms', 'cleanup.policy'],
    },
    ...own.retryTopics.map((topic) => waitingTopic(topic, tierPartitions, replication)),
    {
      topic: own.deadLetter,
      partitions,
      replication,
      config: {
        'cleanup.policy': 'delete',
        'retention.ms': String(14 * day),
        'max.message.bytes': String(recordBytesMax),
        ...durability,
      },
      operatorOwned: ['partitions', 'retention.ms', 'cleanup.policy'],
    },
  ]
}

/** A subscription's held topic, made when its first due retry may not be attempted. */
export function heldTopic(
  { prefix, tierPartitions, replication }: Omit<OwnTopicsOptions, 'partitions'>,
  subscriptionId: string,
): OwnTopic {
  return waitingTopic(names(prefix).heldTopic(subscriptionId), tierPartitions, replication)
}

/** A topic in which retries wait: a tier, or a subscription's held topic. */
function waitingTopic(topic: string, partitions: number, replication: number): OwnTopic {
  return {
    topic,
    partitions,
    replication,
    config: {
      'cleanup.policy': 'delete',
      // A record leaves its tier by the broker's clock, so the broker's append time must stand on it.
      'message.timestamp.type': 'LogAppendTime',
      // Kafka never deletes what waits: whoever reads it deletes what lies below its committed offset.
      'retention.ms': '-1',
      'retention.bytes': '-1',
      // Deleting frees whole segments, so these are small.
      'segment.bytes': String(64 * 1024 * 1024),
      'segment.ms': '3600000',
      'max.message.bytes': String(recordBytesMax),
      'min.insync.replicas': String(minInsyncReplicas(replication)),
    },
    operatorOwned: [],
  }
}

/** Of three replicas two must have a record before it counts as written; with fewer replicas one. */
export function minInsyncReplicas(replication: number): number {
  return replication >= 3 ? 2 : 1
}

/** One line to create the topic with Kafka's own tool. */
export function createCommand(topic: OwnTopic, bootstrapServer: string): string {
  return [
    `kafka-topics --bootstrap-server ${bootstrapServer} --create --if-not-exists --topic ${topic.topic}`,
    `--partitions ${topic.partitions} --replication-factor ${topic.replication}`,
    ...Object.entries(topic.config).map(([name, value]) => `--config ${name}=${value}`),
  ].join(' ')
}
