import { realpath } from 'node:fs/promises'
import { loadBrokerFile, removeBrokerFile, type BrokerFile } from './broker-file.ts'
import { probeBroker } from './broker-probe.ts'
import { readBrokerConfig } from './data-dir.ts'
import { endProcess, processesWithArgument } from './processes.ts'

/** On the command line of every broker we start, to find again the one of a data directory whatever its files say. */
export function dataDirArgument(dir: string): string {
  return `-Dbarnabas.data.dir=${dir}`
}

export interface LeftOverBroker {
  readonly pid: number
  readonly port: number
  readonly clusterId: string
}

export type LeftOver =
  | { readonly kind: 'none'; readonly pids: readonly [] }
  | { readonly kind: 'answers'; readonly pids: readonly number[]; readonly broker: LeftOverBroker }
  | { readonly kind: 'silent'; readonly pids: readonly number[] }

/** The broker that a former run left in this directory (a real path). The caller holds the directory's lock. */
export async function findLeftOver(dir: string, file: BrokerFile | null): Promise<LeftOver> {
  const pids = await processesWithArgument(dataDirArgument(dir))
  const [pid] = pids
  if (pid === undefined) return { kind: 'none', pids: [] }
  // broker.json may be missing or damaged; what the broker was started with is the next to ask.
  const listeners = (await readBrokerConfig(dir))['listeners'] ?? ''
  const port = file?.pid === pid ? file.port : Number(/PLAINTEXT:\/\/127\.0\.0\.1:(\d+)/.exec(listeners)?.[1] ?? 0)
  const answer = pids.length > 1 || port === 0 ? null : await probeBroker(port, 3_000)
  if (answer?.clusterId == null) return { kind: 'silent', pids }
  return { kind: 'answers', pids, broker: { pid, port, clusterId: answer.clusterId } }
}

/** Ends every broker that runs in this data directory, whoever started it. Nothing happens when there is none. */
export async function endLeftOverBroker(dataDir: string, graceMs = 8_000): Promise<void> {
  const dir = await realpath(dataDir).catch(() => null)
  if (dir === null) return
  const pids = await processesWithArgument(dataDirArgument(dir))
  await Promise.all(pids.map((pid) => endProcess(pid, graceMs)))
  if (pids.length > 0 && (await loadBrokerFile(dir)) !== null) await removeBrokerFile(dir)
}
