import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { StartedTestContainer } from 'testcontainers'
import { brokerFiles, brokerProperties, kafkaVersion } from './broker-config.ts'
import { loadBrokerFile, removeBrokerFile, writeBrokerFile } from './broker-file.ts'
import { probeBroker } from './broker-probe.ts'
import { brokerEnd } from './broker-process.ts'
import { withDataDir } from './data-dir-lock.ts'
import type { BrokerExit, LocalKafkaOptions } from './local-kafka-options.ts'
import type { LocalKafka } from './local-kafka.ts'
import { LocalKafkaError } from './local-kafka-error.ts'
import { choosePort } from './ports.ts'

/** A broker in a container: like `LocalKafka`, but no process of this machine. */
export type ContainerKafka = Omit<LocalKafka, 'pid'> & { readonly pid: null }

export type ContainerKafkaOptions = Omit<
  LocalKafkaOptions,
  'jvmFlags' | 'formatArguments' | 'env' | 'signal' | 'endsWithParent'
> & {
  /** Default true: the records stand in a volume of the engine that belongs to `dataDir`. False for tests. */
  readonly keepData?: boolean
}

const image = `apache/kafka:${kafkaVersion}`
const dataInContainer = '/var/lib/kafka/data'
const label = 'barnabas.data-dir'
const startTimeoutMs = 60_000

/**
 * Runs the image `apache/kafka` (testcontainers' own Kafka module does not take it) with its port published on
 * 127.0.0.1 only. The port is fixed before the start, because a broker must know the address that it names to clients.
 * A container that a killed run left is removed; its records are in the volume. Throws `LocalKafkaError`.
 */
export async function startContainerKafka(options: ContainerKafkaOptions): Promise<ContainerKafka> {
  try {
    return await withDataDir(options.dataDir, (dir, release) => startLocked(dir, options, release))
  } catch (error) {
    if (error instanceof LocalKafkaError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalKafkaError('ContainerFailed', `The container of ${image} could not be run: ${reason}`, {
      cause: error,
    })
  }
}

async function startLocked(
  dir: string,
  options: ContainerKafkaOptions,
  release: () => Promise<void>,
): Promise<ContainerKafka> {
  const onProgress = options.onProgress ?? (() => undefined)
  const former = await loadBrokerFile(dir)
  const name = `barnabas-kafka-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`
  await removeLeftOver(name, onProgress)

  const port = await choosePort(options.port ?? 9092, options.portIsFixed ?? false, onProgress)
  onProgress(`starting ${image} on 127.0.0.1:${port} (the image is fetched when it is not there yet)`)
  const logFile = join(dir, brokerFiles.log)
  const logs = watchLogs(logFile)
  const container = await createContainer(name, port, options, logs.consume)
  const stopContainer = async () => {
    await container.stop({ timeout: 8_000, remove: true })
    logs.ended()
  }
  try {
    const clusterId = await waitUntilItAnswers(port, logFile)
    const runId = options.runId ?? randomUUID()
    const brokers = `127.0.0.1:${port}`
    const startedAt = new Date().toISOString()
    const allowedNetworks = options.allowedNetworks ?? []
    await writeBrokerFile(dir, { brokers, port, pid: null, clusterId, allowedNetworks, runId, startedAt, kafkaVersion })
    void logs.exited.then(release)
    let stopping: Promise<void> | null = null
    const stop = async () => {
      await stopContainer()
      await removeBrokerFile(dir)
      await release()
    }
    return {
      brokers,
      port,
      pid: null,
      logFile,
      adopted: false,
      runId,
      formerRunId: former?.runId ?? null,
      exited: logs.exited,
      stop: () => (stopping ??= stop()),
      describeExit: async () => (await brokerEnd(logFile, 0, 'while it was in use')).message,
    }
  } catch (error) {
    await stopContainer()
    throw error
  }
}

async function createContainer(
  name: string,
  port: number,
  options: ContainerKafkaOptions,
  consumeLogs: (stream: Readable) => void,
): Promise<StartedTestContainer> {
  // Slow to load, and needed by few.
  const { GenericContainer, Wait } = await import('testcontainers')

  class LoopbackContainer extends GenericContainer {
    protected override beforeContainerCreated(): Promise<void> {
      // withExposedPorts publishes on every interface.
      this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] }
      return Promise.resolve()
    }
  }

  const container = new LoopbackContainer(image)
    .withLabels({ [label]: name })
    .withExposedPorts({ container: port, host: port })
    .withEnvironment(containerEnvironment(port, options))
    .withLogConsumer(consumeLogs)
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(startTimeoutMs)
  if (options.keepData !== false) container.withBindMounts([{ source: name, target: dataInContainer }])
  return container.start()
}

/** What the image turns into `server.properties`: given any, it takes nothing of its own. */
export function containerEnvironment(
  port: number,
  options: Pick<ContainerKafkaOptions, 'heapMb' | 'serverProperties'>,
): Record<string, string> {
  const properties = brokerProperties(
    { broker: port, controller: port === 9093 ? 9094 : 9093 },
    {
      // Inside the container every interface, as the engine's published port arrives on one of them.
      listeners: `PLAINTEXT://:${port},CONTROLLER://127.0.0.1:${port === 9093 ? 9094 : 9093}`,
      'log.dirs': dataInContainer,
      ...options.serverProperties,
    },
  )
  const environment: Record<string, string> = { KAFKA_HEAP_OPTS: `-Xmx${options.heapMb ?? 512}m` }
  for (const [key, value] of Object.entries(properties)) environment[containerVariable(key)] = value
  return environment
}

/** `a.b_c-d` is KAFKA_A_B__C___D (apache/kafka's image, docker/examples/README.md). */
function containerVariable(property: string): string {
  return `KAFKA_${property.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_').toUpperCase()}`
}

async function removeLeftOver(name: string, onProgress: (message: string) => void): Promise<void> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  const { container } = await getContainerRuntimeClient()
  const found = await container.fetchByLabel(label, name)
  if (found === undefined) return
  onProgress(`ending the container of a former run (${found.id.slice(0, 12)})`)
  await container.stop(found, { timeout: 8_000 }).catch(() => undefined)
  // What the image declares as volumes is new with each container; the records are in a named one, which stays.
  await container.remove(found, { removeVolumes: true })
}

/** The container's log goes to a file; its end is the container's end. */
function watchLogs(logFile: string) {
  const { promise: exited, resolve } = Promise.withResolvers<BrokerExit>()
  const ended = () => resolve({ code: null, signal: null })
  const consume = (stream: Readable) => {
    const file = createWriteStream(logFile, { mode: 0o600 })
    // A log that cannot be written is no reason to stop a broker that works.
    file.on('error', () => stream.unpipe(file).resume())
    stream.pipe(file)
    stream.once('end', ended)
    stream.once('close', ended)
  }
  return { exited, consume, ended }
}

async function waitUntilItAnswers(port: number, logFile: string): Promise<string | null> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    const answer = await probeBroker(port, 2_000)
    if (answer !== null) return answer.clusterId
    await wait(100)
  }
  throw new LocalKafkaError(
    'BrokerSilent',
    `The container of ${image} does not answer on 127.0.0.1:${port}; is the container engine on this machine? ` +
      `Its log is ${logFile}.`,
  )
}
