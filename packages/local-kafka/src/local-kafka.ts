import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brokerFiles, kafkaVersion } from './broker-config.ts'
import { loadBrokerFile, removeBrokerFile, writeBrokerFile } from './broker-file.ts'
import { brokerEnd, launchBroker, stopGraceMs, type Broker } from './broker-process.ts'
import { withDataDir } from './data-dir-lock.ts'
import { readBrokerConfig } from './data-dir.ts'
import { findLeftOver, type LeftOverBroker } from './left-over-broker.ts'
import { LocalKafkaError, fileError } from './local-kafka-error.ts'
import type { BrokerExit, LocalKafkaOptions } from './local-kafka-options.ts'
import { endProcess, processIdentity } from './processes.ts'

export interface LocalKafka {
  /** "127.0.0.1:9092" */
  readonly brokers: string
  readonly port: number
  readonly pid: number
  readonly logFile: string
  /** Whether it was left over from a former run. */
  readonly adopted: boolean
  readonly runId: string
  /** The run that ended without stopping its broker in order, whose group members may still be counted as alive. */
  readonly formerRunId: string | null
  /** SIGTERM, SIGKILL after 8 s; resolves when the process is gone. May be called again. */
  stop(): Promise<void>
  /** Resolves when the broker has ended, whatever the reason. */
  readonly exited: Promise<BrokerExit>
  /** What to tell a person when `exited` resolved although nobody asked for it. */
  describeExit(exit: BrokerExit): Promise<string>
}

/** Between the choice of a free port and the broker's bind another process may take it. */
const startsTried = 3

/**
 * Runs Apache Kafka (KRaft, one node) on 127.0.0.1 with its data in `dataDir`, or takes over the one that a killed
 * run left there. Resolves when it answers. At most one process at a time has a data directory; the broker is in a
 * process group of its own, so that a Ctrl-C at the terminal reaches only whoever started it.
 *
 * Throws `LocalKafkaError`; then nothing that it started still runs.
 */
export async function startLocalKafka(options: LocalKafkaOptions): Promise<LocalKafka> {
  return await withDataDir(options.dataDir, (dir, release) => startLocked(dir, options, release))
}

async function startLocked(dir: string, options: LocalKafkaOptions, release: () => Promise<void>): Promise<LocalKafka> {
  const onProgress = options.onProgress ?? (() => undefined)
  const former = await loadBrokerFile(dir)
  const leftOver = await findLeftOver(dir, former)
  const run = { dir, options, release, formerRunId: former?.runId ?? null, runId: options.runId ?? randomUUID() }
  if (leftOver.kind === 'answers' && (await fits(dir, leftOver.broker, options))) {
    onProgress(`using the broker of a former run (pid ${leftOver.broker.pid}) on 127.0.0.1:${leftOver.broker.port}`)
    return adopt(run, leftOver.broker)
  }
  for (const pid of leftOver.pids) {
    onProgress(`ending the broker of a former run (pid ${pid})`)
    await endProcess(pid, stopGraceMs)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await listening(run, await launchBroker(dir, options, onProgress))
    } catch (error) {
      const mayTryAgain = options.portIsFixed !== true && attempt < startsTried
      if (!(mayTryAgain && error instanceof LocalKafkaError && error.code === 'PortTaken')) throw error
    }
  }
}

interface Run {
  readonly dir: string
  readonly options: LocalKafkaOptions
  readonly release: () => Promise<void>
  readonly formerRunId: string | null
  readonly runId: string
}

/** Whether a running broker is what the options ask for. */
async function fits(dir: string, broker: LeftOverBroker, options: LocalKafkaOptions): Promise<boolean> {
  if (options.portIsFixed === true && options.port !== broker.port) return false
  const running = await readBrokerConfig(dir)
  return Object.entries(options.serverProperties ?? {}).every(([key, value]) => running[key] === value)
}

async function adopt(run: Run, broker: LeftOverBroker): Promise<LocalKafka> {
  const exited = watchForeign(broker.pid)
  return listening(run, { ...broker, exited, adopted: true, logStart: 0 })
}

async function watchForeign(pid: number): Promise<BrokerExit> {
  const identity = await processIdentity(pid)
  while (identity !== null && (await processIdentity(pid)) === identity) await wait(250)
  return { code: null, signal: null }
}

/** The broker answers: leave its address for the command line and hand it out. */
async function listening(run: Run, broker: Broker): Promise<LocalKafka> {
  const { dir, options, runId, formerRunId } = run
  const logFile = join(dir, brokerFiles.log)
  const brokers = `127.0.0.1:${broker.port}`
  try {
    await writeBrokerFile(dir, {
      brokers,
      port: broker.port,
      pid: broker.pid,
      clusterId: broker.clusterId,
      allowedNetworks: options.allowedNetworks ?? [],
      runId,
      startedAt: new Date().toISOString(),
      kafkaVersion,
    })
  } catch (error) {
    await endProcess(broker.pid, stopGraceMs)
    throw fileError(dir, error)
  }
  // The file of a broker that died stays: it names the run whose group members were cut off.
  const exited = broker.exited.then(async (exit) => {
    await run.release().catch(() => undefined)
    return exit
  })
  let stopping: Promise<void> | null = null
  const stop = async () => {
    const wasRunning = (await processIdentity(broker.pid)) !== null
    if (wasRunning) await endProcess(broker.pid, stopGraceMs)
    await exited
    if (wasRunning) await removeBrokerFile(dir)
  }
  return {
    brokers,
    port: broker.port,
    pid: broker.pid,
    logFile,
    adopted: broker.adopted,
    runId,
    formerRunId,
    exited,
    stop: () => (stopping ??= stop()),
    describeExit: async ({ code, signal }) => {
      const how = signal !== null ? ` (${signal})` : code !== null ? ` (status ${code})` : ''
      return (await brokerEnd(logFile, broker.logStart, `while it was in use${how}`)).message
    },
  }
}
