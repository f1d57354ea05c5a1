import { spawn, type ChildProcess } from 'node:child_process'
import { open, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brokerFiles, brokerProperties, kafkaVersion } from './broker-config.ts'
import { brokerEndError, logTail } from './broker-log.ts'
import { probeBroker } from './broker-probe.ts'
import { clusterIdOf, runKafkaTool, writeBrokerConfig } from './data-dir.ts'
import { findJava } from './java.ts'
import { kafkaJars } from './kafka-jars.ts'
import { dataDirArgument, type LeftOverBroker } from './left-over-broker.ts'
import { LocalKafkaError, fileError, interrupted } from './local-kafka-error.ts'
import type { BrokerExit, LocalKafkaOptions } from './local-kafka-options.ts'
import { endWithParent } from './parent-guard.ts'
import { anyFreePort, choosePort } from './ports.ts'
import { endProcess } from './processes.ts'

/** Half the memory and time of the defaults, for a broker that few use. */
export const fastStartJvmFlags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const

export const stopGraceMs = 8_000
const startTimeoutMs = 60_000
/** Less than this free: whatever the broker says, the full disk is why it ended. */
const diskFullBytes = 1 << 20

/** A broker that answers. */
export interface Broker extends LeftOverBroker {
  readonly exited: Promise<BrokerExit>
  readonly adopted: boolean
  /** Where in the log file this run began. */
  readonly logStart: number
}

/**
 * Formats the directory when it is new, starts a broker in it and waits until it answers. The caller holds the
 * directory's lock. Throws `LocalKafkaError`; then the broker is gone.
 */
export async function launchBroker(
  dir: string,
  options: LocalKafkaOptions,
  onProgress: (message: string) => void,
): Promise<Broker> {
  const env = options.env ?? process.env
  const port = await choosePort(options.port ?? 9092, options.portIsFixed ?? false, onProgress)
  const java = await findJava(env)
  const jars = await kafkaJars(env, onProgress, options.signal)
  const common = ['-cp', join(jars, '*'), `-Dlog4j2.configurationFile=${brokerFiles.logging}`]
  const runTool = (args: readonly string[]) => {
    onProgress(`formatting ${dir}`)
    return runKafkaTool(java.command, [...common, ...fastStartJvmFlags], dir, args)
  }
  const clusterId = await clusterIdOf(dir, runTool, options.formatArguments)
  const ports = { broker: port, controller: await anyFreePort() }
  await writeBrokerConfig(dir, brokerProperties(ports, options.serverProperties ?? {}))
  if (options.signal?.aborted === true) throw interrupted()

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
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  if (options.endsWithParent === true) endWithParent(child)
  const broker = { pid: child.pid ?? 0, port, clusterId, exited, adopted: false, logStart }
  try {
    await waitUntilItAnswers(broker, logFile, options.signal)
    return broker
  } catch (error) {
    await endProcess(broker.pid, error instanceof LocalKafkaError && error.code === 'Aborted' ? 2_000 : stopGraceMs)
    throw error
  }
}

/** Why a broker that has ended did so, as far as its log and the disk tell. */
export async function brokerEnd(logFile: string, logStart: number, when: string): Promise<LocalKafkaError> {
  const free = await statfs(logFile).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  )
  if (free < diskFullBytes) {
    return new LocalKafkaError(
      'DiskFull',
      `The local Kafka broker ended ${when}: no space is left on the disk of ${logFile}: free some and start again.`,
    )
  }
  return brokerEndError(await logTail(logFile, logStart), logFile, when)
}

/** In a process group of its own, so that a Ctrl-C at the terminal does not reach it. */
async function spawnBroker(
  command: string,
  logFile: string,
  cwd: string,
  args: readonly string[],
): Promise<ChildProcess> {
  // What the JVM itself says goes to the same file as the broker's log: both only append.
  await using log = await open(logFile, 'a', 0o600).catch((error: unknown) => {
    throw fileError(logFile, error)
  })
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', log.fd, log.fd] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => {
      const message = `${command} cannot be run (${error.message}): install a JDK, or set JAVA_HOME to one.`
      reject(new LocalKafkaError('JavaMissing', message, { cause: error }))
    })
  })
  return child
}

async function waitUntilItAnswers(broker: Broker, logFile: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  let hasEnded = false
  void broker.exited.then(() => (hasEnded = true))
  for (;;) {
    if ((await probeBroker(broker.port, 2_000))?.clusterId === broker.clusterId) return
    if (signal?.aborted === true) throw interrupted()
    if (hasEnded) throw await brokerEnd(logFile, broker.logStart, 'before it answered')
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
