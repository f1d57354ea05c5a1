import { compareTopic, createCommand, describeDifference, ownTopics } from '@barnabas/core'
import type { OwnTopic, TopicDifference } from '@barnabas/core'
import type { Admin, RefusedTopic } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

export interface PrepareOwnTopicsOptions {
  readonly admin: Pick<Admin, 'brokerCount' | 'describeTopics' | 'topicConfig' | 'createTopics'>
  readonly prefix: string
  readonly partitions: number
  readonly tierPartitions: number
  /** null: the smaller of 3 and the number of brokers. */
  readonly replication: number | null
  /**
   * Whether topics that were there are compared with what is wanted; default true. A command at a terminal does not
   * know the services' environment, and must not hold them to its own.
   */
  readonly compares?: boolean
  /** For the commands that are shown to people. */
  readonly bootstrapServer: string
  /** Whether to warn when `acks=all` means one replica; default true. */
  readonly warnsOfOneReplica?: boolean
  readonly logger: Logger
}

export type PreparedTopics =
  | {
      readonly kind: 'ready'
      readonly created: readonly string[]
      /** How many partitions each own topic really has; it may be more than wanted. */
      readonly partitions: ReadonlyMap<string, number>
    }
  | {
      readonly kind: 'refused'
      /** For a person: what is wrong, one line each. */
      readonly message: string
      /** The command lines that mend it. */
      readonly commands: readonly string[]
    }

/**
 * Makes the own topics that are missing and compares those that were there with what is wanted. Refuses, with the
 * commands to run, what differs and what may not be made. Any number of services may do this at the same time.
 */
export async function prepareOwnTopics(options: PrepareOwnTopicsOptions): Promise<PreparedTopics> {
  const { admin, prefix, partitions, tierPartitions, bootstrapServer, logger } = options
  const replication = options.replication ?? Math.min(3, await admin.brokerCount())
  const wanted = ownTopics({ prefix, partitions, tierPartitions, replication })
  const all = wanted.map(({ topic }) => topic)

  const found = new Map((await admin.describeTopics(all)).map((each) => [each.topic, each]))
  const missing = wanted.filter(({ topic }) => !found.has(topic))
  const { created, refused } = missing.length === 0 ? { created: [], refused: [] } : await admin.createTopics(missing)
  if (refused.length > 0) return refusedToCreate(missing, refused, bootstrapServer)
  if (created.length > 0) logger.info({ topics: created.length, prefix }, 'own topics were created')

  const configs = options.compares === false ? null : await admin.topicConfig([...found.keys()])
  const differences = wanted.flatMap((topic) => {
    const description = found.get(topic.topic)
    if (description === undefined || configs === null) return []
    return compareTopic(topic, { ...description, config: configs.get(topic.topic) ?? {} }, bootstrapServer)
  })
  if (differences.length > 0) return differ(differences)

  const oneReplica = wanted.filter(({ topic }) => (found.get(topic)?.replication ?? replication) < 3)
  if (oneReplica.length > 0 && options.warnsOfOneReplica !== false) {
    logger.warn(
      { topics: oneReplica.length, replication },
      'acks=all means one replica here: what a broker loses with its disk is lost; three brokers and BARNABAS_REPLICATION=3 mend it',
    )
  }
  const counts = wanted.map((each) => [each.topic, found.get(each.topic)?.partitions ?? each.partitions] as const)
  return { kind: 'ready', created, partitions: new Map(counts) }
}

function refusedToCreate(
  missing: readonly OwnTopic[],
  refused: readonly RefusedTopic[],
  server: string,
): PreparedTopics {
  const names = new Set(refused.map(({ topic }) => topic))
  const commands = missing.filter(({ topic }) => names.has(topic)).map((topic) => createCommand(topic, server))
  const lines = refused.map(({ topic, code, message }) => `${topic}: ${code}: ${message}`)
  return { kind: 'refused', message: `topics are missing and may not be created here:\n${lines.join('\n')}`, commands }
}

function differ(differences: readonly TopicDifference[]): PreparedTopics {
  const lines = differences.map(describeDifference)
  return {
    kind: 'refused',
    message: `topics are not as Barnabas needs them:\n${lines.join('\n')}`,
    commands: differences.map(({ command }) => command),
  }
}
