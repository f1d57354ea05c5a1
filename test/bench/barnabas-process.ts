import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runBenchProcess } from './bench-process.ts'
import type { BenchProcess } from './bench-process.ts'

const cli = fileURLToPath(new URL('../../services/cli/bin/barnabas', import.meta.url))

export interface BarnabasOptions {
  readonly brokers: string
  /** Nobody else uses it. */
  readonly prefix: string
  readonly subscriptions: readonly (Record<string, unknown> & { readonly id: string })[]
  readonly nodeOptions?: readonly string[]
}

/** One dispatcher, pinned, with these subscriptions and nothing else of Barnabas beside it. */
export async function runDispatcher(options: BarnabasOptions): Promise<BenchProcess> {
  const env = {
    KAFKA_BROKERS: options.brokers,
    BARNABAS_PREFIX: options.prefix,
    BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_DRAIN_TIMEOUT: '1s',
  }
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-bench-'))
  try {
    const file = join(folder, 'subscriptions.json')
    await writeFile(file, JSON.stringify(options.subscriptions))
    await promisify(execFile)(process.execPath, [cli, 'apply', '--no-wait', '-f', file], {
      env: { ...process.env, ...env },
    })
  } finally {
    await rm(folder, { recursive: true })
  }
  return runBenchProcess('services/dispatcher/main.ts', { env, isPinned: true, nodeOptions: options.nodeOptions ?? [] })
}
