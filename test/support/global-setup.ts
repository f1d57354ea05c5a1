import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import {
  endLeftOverBroker,
  fastStartJvmFlags,
  findKafkaWay,
  startContainerKafka,
  startLocalKafka,
  type ContainerKafka,
  type LocalKafka,
} from '@barnabas/local-kafka'

declare module 'vitest' {
  interface ProvidedContext {
    /** host:port, comma-separated: the broker that all tests of this run share. */
    kafkaBrokers: string
  }
}

const prefix = 'barnabas-test-kafka-'

/** One broker for the whole run, from the first way that applies; what was started here ends with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const way = await findKafkaWay({ env: process.env })
  if (way.kind === 'given') {
    console.log(`kafka tests: the Kafka at ${way.brokers} (KAFKA_BROKERS)`)
    project.provide('kafkaBrokers', way.brokers)
    return () => Promise.resolve()
  }
  await removeAbandoned()
  const dataDir = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  // Vitest runs no teardown when a signal ends it; the broker ends with us then.
  const removeDataDir = () => rmSync(dataDir, { recursive: true, force: true })
  process.once('exit', removeDataDir)
  const kafka = await start(way.kind, dataDir).catch(async (error: unknown) => {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  })
  project.provide('kafkaBrokers', kafka.brokers)
  let isStopping = false
  void kafka.exited.then(async (exit) => {
    if (!isStopping) console.error(`kafka tests: ${await kafka.describeExit(exit)}`)
  })
  return async () => {
    isStopping = true
    await kafka.stop()
    await rm(dataDir, { recursive: true, force: true })
    process.removeListener('exit', removeDataDir)
  }
}

function start(kind: 'jdk' | 'container', dataDir: string): Promise<LocalKafka | ContainerKafka> {
  const common = {
    dataDir,
    port: 0,
    heapMb: 384,
    onProgress: (message: string) => console.log(`kafka tests: ${message}`),
  }
  return kind === 'jdk'
    ? startLocalKafka({ ...common, jvmFlags: fastStartJvmFlags, endsWithParent: true })
    : startContainerKafka({ ...common, keepData: false })
}

/** Brokers and directories of runs that were killed: their pid is part of the name. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? 0)
    if (pid === 0 || isRunning(pid)) continue
    await endLeftOverBroker(join(tmpdir(), name))
    await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
