import { dirname, isAbsolute, join, resolve } from 'node:path'
import { names } from '@barnabas/core'
import type { Names } from '@barnabas/core'
import { connectionProblemOf, connectKafka } from '@barnabas/kafka'
import type { KafkaClient } from '@barnabas/kafka'
import { readBrokerFile } from '@barnabas/local-kafka'
import type { BrokerFile } from '@barnabas/local-kafka'
import { connectionAdvice, readEnvironment } from '@barnabas/runtime'
import type { Config, KafkaConfig } from '@barnabas/runtime'
import { Refusal } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/** The Kafka that a command speaks to, and what is known of it. */
export interface Cluster {
  readonly kafka: KafkaClient
  readonly config: Config
  readonly names: Names
  readonly brokers: string
  /** Whether `start` runs it: there a missing source topic is made, elsewhere topics are the owner's. */
  readonly isLocal: boolean
}

/** The environment, and the broker that `start` runs if one answers: known without asking any Kafka. */
export interface Surroundings {
  readonly config: Config
  readonly brokers: readonly string[] | null
  readonly local: BrokerFile | null
  /** What webhooks may reach besides public addresses. */
  readonly allowedNetworks: readonly string[]
}

/** Asked again for so long, so that what is wrong is known before nobody waits any more. */
const askedForMs = 6_000
const answersWithinMs = 10_000
const closedWithinMs = 200
const repositoryRoot = resolve(import.meta.dirname, '../..')

/** Reads the environment and looks for the broker of `start`. Throws a `Refusal` with every bad variable. */
export async function readSurroundings(terminal: Terminal): Promise<Surroundings> {
  const reading = readEnvironment(terminal.env, { kind: 'service' })
  if (reading.kind === 'invalid') throw new Refusal(reading.problems.join('\n'))
  for (const warning of reading.warnings) terminal.note(`warning: ${warning}`)
  const { config } = reading
  const local = await findLocalBroker(config.dataDir, terminal.cwd)
  const isSet = (name: string) => (terminal.env[name]?.trim() ?? '') !== ''
  return {
    config,
    local,
    brokers: config.kafka.brokers ?? local?.brokers.split(',') ?? null,
    allowedNetworks: isSet('BARNABAS_ALLOWED_NETWORKS') ? config.allowedNetworks : (local?.allowedNetworks ?? []),
  }
}

/** Connects, runs `work` and closes. Throws a `Refusal` when there is no broker or none answers within 10 s. */
export async function withCluster<Result>(
  { config, brokers, local }: Surroundings,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  if (brokers === null) throw new Refusal('no broker: run `pnpm start` or set KAFKA_BROKERS')
  const kafka = connectKafka({ brokers, clientId: 'barnabas-cli', logger: silent, ...security(config.kafka) })
  try {
    await firstAnswer(kafka, brokers.join(','), config.kafka)
    const isLocal = local !== null && local.brokers === brokers.join(',')
    return await work({ kafka, config, names: names(config.prefix), brokers: brokers.join(','), isLocal })
  } catch (error) {
    throw refusalOf(error, config.kafka, brokers.join(','))
  } finally {
    // Everything that was written is acknowledged; nobody waits for a good-bye.
    await withinMs(kafka.close(), closedWithinMs).catch(() => undefined)
  }
}

/**
 * The directories in which `.barnabas` may stand, nearest first: where the person is, its parents (pnpm starts scripts
 * at the workspace's root), and the repository that this command is part of.
 */
export function dataDirCandidates(dataDir: string, cwd: string): readonly string[] {
  if (isAbsolute(dataDir)) return [dataDir]
  const bases = [resolve(cwd)]
  for (let base = bases[0]!; dirname(base) !== base; base = dirname(base)) bases.push(dirname(base))
  return [...new Set([...bases, repositoryRoot])].map((base) => join(base, dataDir))
}

async function findLocalBroker(dataDir: string, cwd: string): Promise<BrokerFile | null> {
  for (const candidate of dataDirCandidates(dataDir, cwd)) {
    const found = await readBrokerFile(candidate)
    if (found !== null) return found
  }
  return null
}

async function firstAnswer(kafka: KafkaClient, brokers: string, config: KafkaConfig): Promise<void> {
  try {
    await withinMs(kafka.admin.brokerCount(askedForMs), answersWithinMs)
  } catch (error) {
    const problem = connectionProblemOf(error)
    const reason = problem.message === '' ? '' : ` (${problem.message})`
    throw new Refusal(
      connectionAdvice(problem, config, brokers) ??
        `Kafka at ${brokers} does not answer${reason}; is it running, and is KAFKA_BROKERS right?`,
    )
  }
}

/** Not authorized, gone in the middle, too old …: no defect of ours, and said in the broker's words. */
function refusalOf(error: unknown, config: KafkaConfig, brokers: string): unknown {
  const problem = connectionProblemOf(error)
  if (problem.code === 'NOT_AUTHORIZED')
    return new Refusal(connectionAdvice(problem, config, brokers) ?? problem.message)
  if (!(error instanceof Error && error.name.startsWith('KafkaJS'))) return error
  return new Refusal(`Kafka at ${brokers} refuses or fails: ${error.message}`)
}

async function withinMs<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore }
function ignore(): void {
  // What the client retries by itself is nobody's business; what fails reaches the command as an error.
}

function security({ ssl, sasl }: KafkaConfig): Pick<Parameters<typeof connectKafka>[0], 'ssl' | 'sasl'> {
  return {
    ...(ssl === null ? {} : { ssl: { ...ssl } }),
    ...(sasl === null ? {} : { sasl }),
  }
}
