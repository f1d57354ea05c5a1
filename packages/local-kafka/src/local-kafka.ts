import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brokerFiles, brokerProperties, kafkaVersion } from './broker-config.ts'
import { loadBrokerFile, removeBrokerFile, writeBrokerFile } from './broker-file.ts'
import { brokerEndError, logTail } from './broker-log.ts'
import { probeBroker } from './broker-probe.ts'
import { clusterIdOf, openDataDir, readBrokerConfig, runKafkaTool, writeBrokerConfig } from './data-dir.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { findJava } from './java.ts'
import { kafkaJars } from './kafka-jars.ts'
import { dataDirArgument, findLeftOver, type LeftOverBroker } from './left-over-broker.ts'
import { LocalKafkaError, fileError } from './local-kafka-error.ts'
import { anyFreePort, choosePort } from './ports.ts'
import { endProcess, processIdentity } from './processes.ts'

export interface LocalKafkaOptions {
  /** Kept with mode 0700; what stands in it survives restarts. */
  readonly dataDir: string
  /** Default 9092; 0 means any free port. */
  readonly port?: number
  /** A taken port is an error; otherwise the next free one is used and `onProgress` says so. */
  readonly portIsFixed?: boolean
  /** The broker's largest heap; resident memory is some 60 MB more. Default 512. */
  readonly heapMb?: number
  /** Further options of the JVM: `fastStartJvmFlags` for tests. */
  readonly jvmFlags?: readonly string[]
  /** Override those of `brokerProperties`. */
  readonly serverProperties?: Readonly<Record<string, string>>
  /** One line for a person, for instance while the jars are fetched. */
  readonly onProgress?: (message: string) => void
  /** Left in `broker.json` for the command line. */
  readonly allowedNetworks?: readonly string[]
  /** Names this run in `broker.json`; the next run finds it as `formerRunId`. Default: random. */
  readonly runId?: string
  /** `JAVA_HOME`, `PATH` and `XDG_CACHE_HOME` are read. Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** Cuts a start off: whatever was started is ended, and the promise rejects with code `Aborted`. */
  readonly signal?: AbortSignal
}

export interface BrokerExit {
  /** Both null for an adopted broker, which is not our child. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

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

/** Half the memory and time of the defaults, for a broker that few use. */
export const fastStartJvmFlags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const

const stopGraceMs = 8_000
const startTimeoutMs = 60_000
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
  const dir = await openDataDir(options.dataDir)
  const release = await lockDataDir(dir)
  try {
    return await startLocked(dir, options, release)
  } catch (error) {
    await release()
    throw error
  }
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
  for (const pid of leftOver.kind === 'none'
    ? []
    : leftOver.kind === 'silent'
      ? leftOver.pids
      : [leftOver.broker.pid]) {
    onProgress(`ending the broker of a former run (pid ${pid})`)
    await endProcess(pid, stopGraceMs)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(run, onProgress)
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
  while (identity !== null && (await processIdentity(pid)) === identity) await wait(250, undefined, { ref: false })
  return { code: null, signal: null }
}

async function launch(run: Run, onProgress: (message: string) => void): Promise<LocalKafka> {
  const { dir, options } = run
  const env = options.env ?? process.env
  const java = await findJava(env)
  const jars = await kafkaJars(env, onProgress, options.signal)
  const port = await choosePort(options.port ?? 9092, options.portIsFixed ?? false, onProgress)
  const common = ['-cp', join(jars, '*'), `-Dlog4j2.configurationFile=${brokerFiles.logging}`]
  const clusterId = await clusterIdOf(dir, (args) => {
    onProgress(`formatting ${dir}`)
    return runKafkaTool(java.command, [...common, ...fastStartJvmFlags], dir, args)
  })
  await writeBrokerConfig(
    dir,
    brokerProperties({ broker: port, controller: await anyFreePort() }, options.serverProperties ?? {}),
  )
  throwIfAborted(options.signal)

  const logFile = join(dir, brokerFiles.log)
  const logStart = await stat(logFile).then(
    ({ size }) => size,
    () => 0,
  )
  onProgress(`starting Apache Kafka ${kafkaVersion} on 127.0.0.1:${port}, its log is ${logFile}`)
  const child = await spawnBroker(java.command, logFile, dir, [
    `-Xmx${options.heapMb ?? 512}m`,
    ...(options.jvmFlags ?? []),
    '-Djava.awt.headless=true',
    '-XX:+ExitOnOutOfMemoryError',
    dataDirArgument(dir),
    ...common,
    'kafka.Kafka',
    brokerFiles.properties,
  ])
  const exited = new Promise<BrokerExit>((resolve) => {
    child.process.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const broker = { pid: child.pid, port, clusterId, exited, adopted: false, logStart }
  try {
    await waitUntilItAnswers(broker, logFile, options.signal)
    return await listening(run, broker)
  } catch (error) {
    await endProcess(child.pid, options.signal?.aborted === true ? 2_000 : stopGraceMs)
    throw error
  }
}

async function spawnBroker(
  command: string,
  logFile: string,
  cwd: string,
  args: readonly string[],
): Promise<{ process: ChildProcess; pid: number }> {
  // What the JVM itself says goes to the same file as the broker's log: both only append.
  await using log = await open(logFile, 'a', 0o600)
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', log.fd, log.fd] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(fileError(command, error)))
  })
  return { process: child, pid: child.pid ?? 0 }
}

interface Broker extends LeftOverBroker {
  readonly exited: Promise<BrokerExit>
  readonly adopted: boolean
  /** Where in the log file this run began. */
  readonly logStart: number
}

async function waitUntilItAnswers(broker: Broker, logFile: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  let hasEnded = false
  void broker.exited.then(() => (hasEnded = true))
  for (;;) {
    if ((await probeBroker(broker.port, 2_000))?.clusterId === broker.clusterId) return
    throwIfAborted(signal)
    if (hasEnded) throw brokerEndError(await logTail(logFile, broker.logStart), logFile, 'before it answered')
    if (Date.now() > deadline) {
      throw new LocalKafkaError(
        'BrokerSilent',
        `The local Kafka broker (pid ${broker.pid}) did not answer on 127.0.0.1:${broker.port} within ` +
          `${startTimeoutMs / 1000} s and was ended. Its log is ${logFile}.`,
      )
    }
    await Promise.race([wait(50), broker.exited])
  }
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
      return brokerEndError(await logTail(logFile, broker.logStart), logFile, `while it was in use${how}`).message
    },
  }
}

function throwIfAborted(signal?: AbortSignal): void {
  if (signal?.aborted === true) {
    throw new LocalKafkaError('Aborted', 'Starting the local Kafka broker was interrupted.')
  }
}
