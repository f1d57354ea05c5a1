import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  endLeftOverBroker,
  fastStartJvmFlags,
  findKafkaWay,
  readBrokerFile,
  startLocalKafka,
  type LocalKafka,
  type LocalKafkaOptions,
} from '@barnabas/local-kafka'
import { createTopic, plainKafka, produce, readTopic } from '../support/kafka.ts'
import { listeningAddresses } from '../support/listening-addresses.ts'

const { KAFKA_BROKERS: _, BARNABAS_TEST_KAFKA: __, ...env } = process.env
const hasJdk = await findKafkaWay({ env }).then(
  ({ kind }) => kind === 'jdk',
  () => false,
)
if (!hasJdk) console.warn('local-kafka.test.ts is skipped: it runs brokers itself, which takes a JDK 17 and Maven')

const small = { port: 0, heapMb: 256, jvmFlags: fastStartJvmFlags } as const

describe.skipIf(!hasJdk)('a local broker', () => {
  test('keeps its records over a stop and a start', async () => {
    const dataDir = await newDataDir()
    const first = await start({ dataDir })
    await createTopic(plainKafka([first.brokers]), 'orders')
    await produce(plainKafka([first.brokers]), 'orders', [{ key: 'k', value: 'kept' }])
    await first.stop()
    expect(await first.exited).toBeDefined()

    const second = await start({ dataDir })
    expect(second).toMatchObject({ adopted: false, formerRunId: null })
    const records = await readTopic(plainKafka([second.brokers]), 'orders')
    expect(records.map(({ value }) => String(value))).toEqual(['kept'])
  })

  test('is found through broker.json as long as it runs, listens on 127.0.0.1 only, and has its data to itself', async () => {
    const dataDir = await newDataDir()
    const kafka = await start({ dataDir, runId: 'this-run', allowedNetworks: ['127.0.0.0/8'] })
    expect(await readBrokerFile(dataDir)).toMatchObject({
      brokers: kafka.brokers,
      port: kafka.port,
      pid: kafka.pid,
      runId: 'this-run',
      allowedNetworks: ['127.0.0.0/8'],
    })
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    if (process.platform === 'linux') {
      const addresses = await listeningAddresses(kafka.pid)
      expect(addresses).toHaveLength(2)
      expect(new Set(addresses.map(({ host }) => host))).toEqual(new Set(['127.0.0.1']))
    }

    const second = startLocalKafka({ ...small, dataDir })
    await expect(second).rejects.toMatchObject({ code: 'DataDirInUse' })
    await expect(second).rejects.toThrow(`kill ${process.pid}`)
    await kafka.stop()
    expect(await readBrokerFile(dataDir)).toBeNull()
    expect(await readdir(dataDir)).not.toContain('broker.json')
    expect(await readdir(dataDir)).not.toContain('start.lock')
  })

  test('takes the next free port and says so, unless its port is fixed', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const dataDir = await newDataDir()

    const fixed = startLocalKafka({ ...small, dataDir, port, portIsFixed: true })
    await expect(fixed).rejects.toMatchObject({ code: 'PortTaken' })
    await expect(fixed).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`)

    const messages: string[] = []
    const kafka = await start({ dataDir, port, onProgress: (message) => messages.push(message) })
    expect(kafka.port).toBeGreaterThan(port)
    expect(messages).toContain(`port ${port} is taken, using ${kafka.port}`)
    expect(messages.join('\n')).toContain(kafka.logFile)
  })

  test('whose parent was killed is used by the next run, even when broker.json is damaged', async () => {
    const dataDir = await newDataDir()
    const first = await startInProcess(dataDir, 'first')
    await killParent(first.child)
    const second = await startInProcess(dataDir, 'second')
    expect(second.started).toEqual({ ...first.started, adopted: true, formerRunId: 'first' })
    await killParent(second.child)

    await writeFile(join(dataDir, 'broker.json'), '{"brokers": "127.0.')
    const messages: string[] = []
    const third = await start({ dataDir, onProgress: (message) => messages.push(message) })
    expect(third).toMatchObject({ ...first.started, adopted: true, formerRunId: null })
    expect(messages).toEqual([`using the broker of a former run (pid ${third.pid}) on ${third.brokers}`])
    await third.stop()
    await expect(once(connect(third.port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(await readBrokerFile(dataDir)).toBeNull()
  })

  test('of a test is killed with its parent', async () => {
    const dataDir = await newDataDir()
    const { child, started } = await startInProcess(dataDir, 'test', 'ends-with-parent')
    // A connection that the broker's end closes, since a process that is not our child sends no event.
    const socket = connect(Number(started.brokers.split(':')[1]), '127.0.0.1')
    await once(socket, 'connect')
    // Not once(), which rejects on the reset that may come first.
    const closed = new Promise((resolve) => {
      socket.on('error', () => undefined).on('close', resolve)
    })
    child.kill('SIGKILL')
    await closed
    expect(await readBrokerFile(dataDir)).toBeNull()
  })

  test('that was left over and does not answer is ended, and another one started', async () => {
    const dataDir = await newDataDir()
    // What a broker without a parent looks like before it listens.
    const code = 'process.stdout.write("up"); setInterval(() => undefined, 60_000)'
    const silent = spawn(process.execPath, ['-e', code, '--', `-Dbarnabas.data.dir=${dataDir}`])
    onTestFinished(() => void silent.kill('SIGKILL'))
    await once(silent.stdout, 'data')
    const ended = once(silent, 'exit')
    const kafka = await start({ dataDir })
    expect(kafka.adopted).toBe(false)
    expect(await ended).toEqual([null, 'SIGTERM'])
  })

  test('that dies is noticed, told with its log, and the next run knows whose members it cut off', async () => {
    const dataDir = await newDataDir()
    const kafka = await start({ dataDir, runId: 'cut-off' })
    process.kill(kafka.pid, 'SIGKILL')
    const exit = await kafka.exited
    expect(exit).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await kafka.describeExit(exit)).toContain(`ended while it was in use (SIGKILL). Its log is ${kafka.logFile}`)
    expect(await readBrokerFile(dataDir)).toBeNull()
    await kafka.stop()

    const next = await start({ dataDir })
    expect(next).toMatchObject({ adopted: false, formerRunId: 'cut-off' })
  })

  test('whose start is interrupted does not stay', async () => {
    const dataDir = await newDataDir()
    const controller = new AbortController()
    const onProgress = (message: string) => {
      if (message.startsWith('starting')) setImmediate(() => controller.abort())
    }
    const starting = startLocalKafka({ ...small, dataDir, onProgress, signal: controller.signal })
    await expect(starting).rejects.toMatchObject({ code: 'Aborted' })
    const kafka = await start({ dataDir })
    expect(kafka.adopted).toBe(false)
  })

  test('that cannot read its settings is refused with what its log says', async () => {
    const dataDir = await newDataDir()
    const starting = startLocalKafka({ ...small, dataDir, serverProperties: { 'num.io.threads': '-1' } })
    await expect(starting).rejects.toMatchObject({ code: 'BrokerDied' })
    await expect(starting).rejects.toThrow(/kafka\.log; it says:[^]*num\.io\.threads/)
  })
})

describe.skipIf(!hasJdk)('a data directory', () => {
  test('of a newer Kafka is refused and left as it was', async () => {
    const dataDir = await newDataDir()
    await mkdir(join(dataDir, 'kafka'))
    const meta = 'cluster.id=x\nnode.id=1\nversion=1\n'
    await writeFile(join(dataDir, 'kafka', 'meta.properties'), meta)
    await writeFile(join(dataDir, 'format.json'), '{"kafkaVersion":"99.0.0"}')
    const starting = startLocalKafka({ ...small, dataDir })
    await expect(starting).rejects.toMatchObject({ code: 'DataDirOfOtherVersion' })
    await expect(starting).rejects.toThrow('written by Kafka 99.0.0')
    expect(await readdir(join(dataDir, 'kafka'))).toEqual(['meta.properties'])
    expect(await readFile(join(dataDir, 'kafka', 'meta.properties'), 'utf8')).toBe(meta)
  })

  test('that cannot be made is named', async () => {
    const file = join(await newDataDir(), 'file')
    await writeFile(file, '')
    const starting = startLocalKafka({ ...small, dataDir: join(file, 'data') })
    await expect(starting).rejects.toMatchObject({ code: 'DataDirUnusable' })
    await expect(starting).rejects.toThrow(join(file, 'data'))
  })
})

test('a Java that is too old is named with its version', async () => {
  const home = await newDataDir()
  await mkdir(join(home, 'bin'))
  await writeFile(join(home, 'bin', 'java'), '#!/bin/sh\necho \'openjdk version "11.0.2" 2019-01-15\' >&2\n')
  await chmod(join(home, 'bin', 'java'), 0o755)
  const starting = startLocalKafka({ ...small, dataDir: await newDataDir(), env: { ...process.env, JAVA_HOME: home } })
  await expect(starting).rejects.toMatchObject({ code: 'JavaTooOld' })
  await expect(starting).rejects.toThrow(`JAVA_HOME=${home} is 11.0.2`)
})

/** A broker that ends with the test. */
async function start(options: Partial<LocalKafkaOptions> & { dataDir: string }): Promise<LocalKafka> {
  const kafka = await startLocalKafka({ ...small, endsWithParent: true, ...options })
  onTestFinished(() => kafka.stop())
  return kafka
}

interface Started {
  readonly brokers: string
  readonly pid: number
  readonly adopted: boolean
  readonly formerRunId: string | null
}

/** A process of its own that starts the broker, reports it, and waits to be killed. */
async function startInProcess(
  ...args: [dataDir: string, runId: string] | [dataDir: string, runId: string, 'ends-with-parent']
): Promise<{ child: ChildProcess; started: Started }> {
  const script = fileURLToPath(new URL('../support/start-local-kafka.ts', import.meta.url))
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, started: JSON.parse(line) as Started }
  }
  throw new Error('the process that should start a broker ended')
}

async function killParent(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function newDataDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'barnabas-local-kafka-'))
  onTestFinished(async () => {
    await endLeftOverBroker(dir)
    await rm(dir, { recursive: true, force: true })
  })
  return dir
}
