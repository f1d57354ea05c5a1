import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { access, chmod, constants, mkdir, readFile, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { writeFileAtomically } from './atomic-file.ts'
import {
  brokerFiles,
  brokerProperties,
  formatProperties,
  kafkaVersion,
  loggingConfig,
  parseProperties,
} from './broker-config.ts'
import { parseJson } from './json.ts'
import { LocalKafkaError, diskFull, fileError } from './local-kafka-error.ts'

const formatName = 'format.json'

const formatNote = z.object({ kafkaVersion: z.string() })

/** Makes the directory for this user alone (0700) and gives its real path. Throws `DataDirUnusable`, `DiskFull`. */
export async function openDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await chmod(dataDir, 0o700)
    await access(dataDir, constants.W_OK | constants.X_OK)
    return await realpath(dataDir)
  } catch (error) {
    throw fileError(dataDir, error)
  }
}

/**
 * The id of the cluster that the directory holds; formatted first when it is new. The storage is made beside its
 * place and renamed into it, so that an interrupted format leaves nothing that looks like data.
 * Throws `DataDirOfOtherVersion`.
 */
export async function clusterIdOf(
  dir: string,
  runTool: (args: readonly string[]) => Promise<void>,
  formatArguments: readonly string[] = [],
): Promise<string> {
  const data = join(dir, brokerFiles.data)
  try {
    for (const name of await readdir(dir)) {
      if (name.startsWith(`${brokerFiles.data}.partial-`)) await rm(join(dir, name), { recursive: true, force: true })
    }
    if (!(await readdir(dir)).includes(brokerFiles.data)) await format(dir, runTool, formatArguments)
    const meta = await readFile(join(data, 'meta.properties'), 'utf8').catch(() => null)
    const written = await readFile(join(dir, formatName), 'utf8').catch(() => null)
    const check = checkFormat(meta, written)
    if (check.kind === 'refused') throw new LocalKafkaError('DataDirOfOtherVersion', otherVersion(data, check.reason))
    // Once a newer version was here, an older one stays out.
    if (written === null || !written.includes(`"${kafkaVersion}"`)) await writeFormat(dir)
    return check.clusterId
  } catch (error) {
    throw error instanceof LocalKafkaError ? error : fileError(data, error)
  }
}

export type FormatCheck =
  { readonly kind: 'fits'; readonly clusterId: string } | { readonly kind: 'refused'; readonly reason: string }

/** Whether this version may open the storage: `meta` is Kafka's `meta.properties`, `written` our `format.json`. */
export function checkFormat(meta: string | null, written: string | null): FormatCheck {
  if (meta === null) return { kind: 'refused', reason: 'it has no meta.properties' }
  const { version, 'cluster.id': clusterId, 'node.id': nodeId } = parseProperties(meta)
  if (version !== '1') return { kind: 'refused', reason: `meta.properties says version=${version ?? ''}, not 1` }
  if (nodeId !== '1') return { kind: 'refused', reason: `meta.properties says node.id=${nodeId ?? ''}, not 1` }
  if (!clusterId) return { kind: 'refused', reason: 'meta.properties has no cluster.id' }
  const by = formatNote.safeParse(parseJson(written ?? '')).data?.kafkaVersion
  if (by !== undefined && isNewer(by, kafkaVersion)) {
    return { kind: 'refused', reason: `it was written by Kafka ${by}, this is ${kafkaVersion}` }
  }
  return { kind: 'fits', clusterId }
}

/** Writes the settings of this run. */
export async function writeBrokerConfig(dir: string, properties: Readonly<Record<string, string>>): Promise<void> {
  try {
    await writeFile(join(dir, brokerFiles.properties), formatProperties(properties), { mode: 0o600 })
    await writeFile(join(dir, brokerFiles.logging), loggingConfig, { mode: 0o600 })
  } catch (error) {
    throw fileError(dir, error)
  }
}

/** The settings of the last run, empty when there are none. */
export async function readBrokerConfig(dir: string): Promise<Record<string, string>> {
  return parseProperties(await readFile(join(dir, brokerFiles.properties), 'utf8').catch(() => ''))
}

async function format(
  dir: string,
  runTool: (args: readonly string[]) => Promise<void>,
  formatArguments: readonly string[],
): Promise<void> {
  const partial = `${brokerFiles.data}.partial-${randomUUID()}`
  const settings = join(dir, `${partial}.properties`)
  const properties = brokerProperties({ broker: 9092, controller: 9093 }, { 'log.dirs': partial })
  await writeFile(settings, formatProperties(properties), { mode: 0o600 })
  await writeFile(join(dir, brokerFiles.logging), loggingConfig, { mode: 0o600 })
  // Kafka's form of a UUID: its 16 bytes in URL-safe base64. One that begins with "-" would be read as an option.
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url').replace(/^-/, 'A')
  await runTool(['kafka.tools.StorageTool', 'format', '-t', id, '-c', `${partial}.properties`, ...formatArguments])
  await writeFormat(dir)
  await rename(join(dir, partial), join(dir, brokerFiles.data))
  await rm(settings, { force: true })
}

async function writeFormat(dir: string): Promise<void> {
  await writeFileAtomically(join(dir, formatName), `${JSON.stringify({ kafkaVersion })}\n`)
}

/** Runs one of Kafka's tools in the directory. Its output is part of the error when it fails. */
export async function runKafkaTool(java: string, flags: readonly string[], dir: string, args: readonly string[]) {
  try {
    await promisify(execFile)(java, [...flags, ...args], { cwd: dir, maxBuffer: 1 << 20 })
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    if (output.includes('No space left on device')) throw diskFull(dir, error)
    const lines = output.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    throw new LocalKafkaError(
      'DataDirUnusable',
      `${dir} could not be formatted for Kafka. ${args[0]} says:\n  ${lines.slice(-5).join('\n  ') || String(error)}`,
      { cause: error },
    )
  }
}

function otherVersion(data: string, reason: string): string {
  return (
    `${data} cannot be opened by Kafka ${kafkaVersion} (${reason}): name another directory with BARNABAS_DATA_DIR, ` +
    'or move this one away. Nothing in it was changed.'
  )
}

function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split('.').map(Number))
  for (let index = 0; index < 3; index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
