import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeFileAtomically } from './atomic-file.ts'
import { probeBroker } from './broker-probe.ts'
import { processIdentity } from './processes.ts'

/** `broker.json` in the data directory: where the command line finds the broker that `start` runs. */
export interface BrokerFile {
  /** host:port, comma-separated. */
  readonly brokers: string
  readonly port: number
  /** Null when it runs in a container. */
  readonly pid: number | null
  readonly clusterId: string | null
  /** CIDRs that webhooks may reach besides public addresses. */
  readonly allowedNetworks: readonly string[]
  /** Names the run of `start` that wrote it. */
  readonly runId: string
  /** RFC 3339. */
  readonly startedAt: string
  readonly kafkaVersion: string
}

const probeTimeoutMs = 3_000

/** The broker of this data directory, null when there is none or it does not answer. Never throws. */
export async function readBrokerFile(dataDir: string): Promise<BrokerFile | null> {
  const file = await loadBrokerFile(dataDir)
  if (file === null) return null
  if (file.pid !== null && (await processIdentity(file.pid)) === null) return null
  const answer = await probeBroker(file.port, probeTimeoutMs)
  // Another broker may have the port by now.
  return answer !== null && (file.clusterId === null || answer.clusterId === file.clusterId) ? file : null
}

/** What stands in the file, alive or not; null when it is missing or damaged. */
export async function loadBrokerFile(dataDir: string): Promise<BrokerFile | null> {
  try {
    return parseBrokerFile(await readFile(brokerFilePath(dataDir), 'utf8'))
  } catch {
    return null
  }
}

export async function writeBrokerFile(dataDir: string, file: BrokerFile): Promise<void> {
  await writeFileAtomically(brokerFilePath(dataDir), `${JSON.stringify(file, null, 2)}\n`)
}

export async function removeBrokerFile(dataDir: string): Promise<void> {
  await rm(brokerFilePath(dataDir), { force: true })
}

export function parseBrokerFile(text: string): BrokerFile | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return isBrokerFile(value) ? value : null
}

function isBrokerFile(value: unknown): value is BrokerFile {
  if (typeof value !== 'object' || value === null) return false
  const file = value as Record<string, unknown>
  const isNumber = (field: unknown, max: number) => Number.isInteger(field) && Number(field) > 0 && Number(field) <= max
  return (
    typeof file['brokers'] === 'string' &&
    isNumber(file['port'], 65_535) &&
    (file['pid'] === null || isNumber(file['pid'], 2 ** 31)) &&
    (file['clusterId'] === null || typeof file['clusterId'] === 'string') &&
    Array.isArray(file['allowedNetworks']) &&
    file['allowedNetworks'].every((network) => typeof network === 'string') &&
    typeof file['runId'] === 'string' &&
    typeof file['startedAt'] === 'string' &&
    typeof file['kafkaVersion'] === 'string'
  )
}

function brokerFilePath(dataDir: string): string {
  return join(resolve(dataDir), 'broker.json')
}
