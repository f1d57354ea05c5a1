import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { removeByPrefix } from './backlog.ts'
import { runBenchProcess } from './bench-process.ts'
import type { BenchProcess } from './bench-process.ts'
import type { Bench } from './scenario.ts'

/** The command `barnabas`. */
export const commandLine = fileURLToPath(new URL('../../services/cli/bin/barnabas', import.meta.url))

export type BenchService = 'dispatcher' | 'retrier'

export interface BarnabasOptions {
  /** One process for each entry. */
  readonly services: readonly BenchService[]
  readonly subscriptions: readonly (Record<string, unknown> & { readonly id: string })[]
  /** All processes to the same core. */
  readonly isPinned: boolean
  /** Variables beside those that every scenario has. */
  readonly env?: Readonly<Record<string, string>>
}

/** Barnabas under a prefix of its own, and nothing else of it beside. */
export interface RunningBarnabas {
  /** Of all its topics and groups. */
  readonly prefix: string
  readonly processes: readonly BenchProcess[]
  /** One process more. */
  start(service: BenchService): void
  /** Resolves when every subscription is `Running`. */
  untilRunning(): Promise<void>
}

const runningWithinMs = 300_000

/** Runs Barnabas for as long as it is used, and removes its topics and groups. */
export async function withBarnabas<T>(
  { brokers, profileFolder }: Bench,
  { services, subscriptions, isPinned, env: moreEnv }: BarnabasOptions,
  use: (running: RunningBarnabas) => Promise<T>,
): Promise<T> {
  const prefix = `bench-${randomUUID()}`
  const env = {
    KAFKA_BROKERS: brokers,
    BARNABAS_PREFIX: prefix,
    BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_DRAIN_TIMEOUT: '1s',
    ...moreEnv,
  }
  const barnabas = async (...args: string[]): Promise<string> => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
    return (await promisify(execFile)(process.execPath, [commandLine, ...args], options)).stdout
  }
  const nodeOptions = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  const processes: BenchProcess[] = []
  const start = (service: BenchService): void => {
    processes.push(runBenchProcess(`services/${service}/main.ts`, { env, isPinned, nodeOptions }))
  }
  try {
    await withFile(subscriptions, (file) => barnabas('apply', '--no-wait', '-f', file))
    for (const service of services) start(service)
    return await use({
      prefix,
      processes,
      start,
      async untilRunning() {
        for (const since = performance.now(); performance.now() - since < runningWithinMs; await sleep(500)) {
          const shown = JSON.parse(await barnabas('get', '-o', 'json')) as readonly {
            readonly status: { readonly status: string } | null
          }[]
          if (shown.every(({ status }) => status?.status === 'Running')) return
        }
        throw new Error(`not all subscriptions are Running after ${runningWithinMs / 1_000} s`)
      },
    })
  } finally {
    await Promise.all(processes.map((each) => each.stop()))
    await removeByPrefix(brokers, prefix)
  }
}

async function withFile(content: unknown, use: (file: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-bench-'))
  try {
    const file = join(folder, 'subscriptions.json')
    await writeFile(file, JSON.stringify(content))
    await use(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
