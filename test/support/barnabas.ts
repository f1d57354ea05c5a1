import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Admin } from 'kafkajs'
import { vi } from 'vitest'
import { createTopic, plainKafka, randomName, testBrokers, withAdmin } from './kafka.ts'
import { runProcess } from './processes.ts'
import type { RunningProcess } from './processes.ts'

/** A subscription as a person writes it. */
export type Written = Record<string, unknown> & { readonly id: string }

/** Everything of Barnabas in one process, under a prefix of its own. */
export interface Barnabas {
  readonly prefix: string
  readonly process: RunningProcess
  /** Where `/readyz`, `/livez` and `/metrics` are. */
  readonly url: string
  /** SIGTERM, and the end of the process. */
  stop(): Promise<void>
}

/** What every process of Barnabas under this prefix is given. */
export const environment = (prefix: string, brokers = testBrokers().join(',')) => ({
  KAFKA_BROKERS: brokers,
  BARNABAS_PREFIX: prefix,
  BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
  BARNABAS_PARTITIONS: '2',
  BARNABAS_TIER_PARTITIONS: '2',
})

/** Runs Barnabas and waits until it says that it is ready. */
export async function startBarnabas(prefix: string, env: Record<string, string> = {}): Promise<Barnabas> {
  const started = runProcess('services/standalone/main.ts', {
    ...environment(prefix),
    BARNABAS_DEMO: 'false',
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_DRAIN_TIMEOUT: '1s',
    ...env,
  })
  const listening = await started.line(/health and metrics at/)
  const { url } = JSON.parse(listening) as { readonly url: string }
  await started.line(/Barnabas is ready/)
  return {
    prefix,
    process: started,
    url,
    async stop() {
      await started.kill('SIGTERM')
    },
  }
}

/** A command of the command line, to its end: how it ended, and all that it printed. */
export async function barnabasCommand(
  prefix: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ readonly status: number | null; readonly text: string }> {
  const { exited, lines } = runProcess('services/cli/bin/barnabas', { ...environment(prefix), ...env }, args)
  return { status: await exited, text: lines.join('\n') }
}

/** `barnabas apply`: resolves when every one of the subscriptions is `Running`. They have `probation: none` unless they say otherwise. */
export async function apply(
  prefix: string,
  subscriptions: readonly Written[],
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-apply-'))
  try {
    const file = join(folder, 'subscriptions.json')
    // Most receivers of tests fail again and again, and are not to be left to rest for it.
    const written = subscriptions.map((subscription) => ({ probation: 'none', ...subscription }))
    await writeFile(file, JSON.stringify(written))
    const command = ['apply', '-f', file, ...args]
    const { status, text } = await barnabasCommand(prefix, command, env)
    if (status !== 0) throw new Error(`barnabas ${command.join(' ')}:\n${text}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A new source topic, removed by `removeEverything` of the same prefix. */
export async function createSourceTopic(prefix: string, stem: string, partitions = 1): Promise<string> {
  const topic = randomName(`${prefix}.source-${stem}`)
  await createTopic(plainKafka(), topic, partitions)
  return topic
}

/** Deletes all topics and groups whose names begin with the prefix; Barnabas itself must have ended. */
export async function removeEverything(prefix: string): Promise<void> {
  await withAdmin(async (admin) => {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(`${prefix}.`))
    await admin.deleteTopics({ topics })
    const { groups } = await admin.listGroups()
    const own = groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith(`${prefix}.`))
    await Promise.all(own.map((groupId) => deleteGroup(admin, groupId)))
  })
}

/** A member that left a moment ago may still be counted; and every ten minutes brokers forget empty groups by themselves. */
async function deleteGroup(admin: Admin, groupId: string): Promise<void> {
  const attempt = async () => {
    try {
      await admin.deleteGroups([groupId])
    } catch (error) {
      const { groups } = error as { groups?: readonly { error?: { type?: string } }[] }
      const type = groups?.[0]?.error?.type
      if (type !== 'GROUP_ID_NOT_FOUND') throw new Error(`${groupId} cannot be deleted: ${type}`, { cause: error })
    }
  }
  await vi.waitFor(attempt, { timeout: 15_000, interval: 200 })
}

/** The samples of one metric whose labels include the given ones, added up. */
export async function metric(url: string, name: string, labels: Record<string, string> = {}): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return text
    .split('\n')
    .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** How far a group has not committed yet, over all partitions of the topic; a partition without a commit is counted whole. */
export async function lagOf(groupId: string, topic: string, kafka = plainKafka()): Promise<number> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const ends = await admin.fetchTopicOffsets(topic)
    const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
    return ends.reduce((lag, { partition, high }) => {
      const offset = Number(committed?.partitions.find((each) => each.partition === partition)?.offset ?? -1)
      return lag + Number(high) - Math.max(offset, 0)
    }, 0)
  } finally {
    await admin.disconnect()
  }
}
