import { readFileSync } from 'node:fs'
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs'
import type { AclEntry, Kafka } from 'kafkajs'

/** One right of docs/security.md. */
export interface Right {
  /** The column: who needs it. */
  readonly role: string
  readonly on: 'topic' | 'group' | 'transactional-id'
  readonly name: string
  /** `name` is the beginning of names. */
  readonly isPrefix: boolean
  readonly operation: string
}

export interface Places {
  readonly prefix: string
  readonly sourceTopic: string
  readonly deadLetterTopic: string
  readonly sinkTopic: string
}

/** The table of docs/security.md, with the names of this run. */
export function documentedRights({ prefix, ...topics }: Places): readonly Right[] {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| (on|topic|group|transactional id)\b/.test(line))
  const [head, ...others] = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  return others.flatMap(([what = '', ...cells]) => {
    const [on, named] = what.replace('transactional id', 'transactional-id').split(/[: ]+/, 2) as [Right['on'], string]
    const written = named.replaceAll('`', '').replace(/^barnabas/, prefix)
    const name = named.startsWith('`') ? written.replace('*', '') : topics[topicsNamed[named] ?? 'deadLetterTopic']
    return cells.flatMap((cell, index) =>
      cell === '–'
        ? []
        : cell.split(', ').map((operation) => ({
            role: head![index + 1]!,
            on,
            name,
            isPrefix: written.endsWith('*'),
            operation,
          })),
    )
  })
}

const topicsNamed: Readonly<Record<string, 'sourceTopic' | 'sinkTopic'>> = { source: 'sourceTopic', sinks: 'sinkTopic' }

/** Every user is named like its role, without what a user's name may not hold. */
export const userOf = (role: string) => role.replaceAll(/\W/g, '')

export async function allow(kafka: Kafka, rights: readonly Right[], user?: string): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createAcls({ acl: rights.map((right) => entryOf(right, user)) })
  await admin.disconnect()
}

export async function forbid(kafka: Kafka, rights: readonly Right[]): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  await admin.deleteAcls({ filters: rights.map((right) => entryOf(right)) })
  await admin.disconnect()
}

function entryOf({ role, on, name, isPrefix, operation }: Right, user = userOf(role)): AclEntry {
  return {
    principal: `User:${user}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
    operation: operations[operation] ?? AclOperationTypes.UNKNOWN,
    resourceType: resourceTypes[on],
    resourceName: name,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  }
}

const resourceTypes: Readonly<Record<Right['on'], AclResourceTypes>> = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
}

const operations: Readonly<Record<string, AclOperationTypes>> = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
}

/** Does what `kafka-topics --create` does with these lines. */
export async function runCreateCommands(kafka: Kafka, commands: readonly string[]): Promise<void> {
  const topics = commands.map((command) => {
    const option = (name: string) => new RegExp(`--${name} (\\S+)`).exec(command)?.[1] ?? ''
    const settings = [...command.matchAll(/--config ([^= ]+)=(\S+)/g)]
    return {
      topic: option('topic'),
      numPartitions: Number(option('partitions')),
      replicationFactor: Number(option('replication-factor')),
      configEntries: settings.map(([, name = '', value = '']) => ({ name, value })),
    }
  })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics, waitForLeaders: false })
  await admin.disconnect()
}
