import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { writeFileAtomically } from './atomic-file.ts'
import { probeBroker } from './broker-probe.ts'
import { parseJson } from './json.ts'
import { processIdentity } from './processes.ts'

const brokerFile = z.object({
  /** host:port, comma-separated. */
  brokers: z.string().min(1),
  port: z.int().min(1).max(65_535),
  /** Null when it runs in a container. */
  pid: z.int().positive().nullable(),
  clusterId: z.string().nullable(),
  /** CIDRs that webhooks may reach besides public addresses. */
  allowedNetworks: z.array(z.string()).readonly(),
  /** Names the run of `start` that wrote it. */
  runId: z.string(),
  /** RFC 3339. */
  startedAt: z.string(),
  kafkaVersion: z.string(),
})

/** `broker.json` in the data directory: where the command line finds the broker that `start` runs. */
export type BrokerFile = Readonly<z.infer<typeof brokerFile>>

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
  return brokerFile.safeParse(parseJson(text)).data ?? null
}

function brokerFilePath(dataDir: string): string {
  return join(resolve(dataDir), 'broker.json')
}
