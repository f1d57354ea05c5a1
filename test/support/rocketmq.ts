import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { endWithParent } from '@barnabas/local-kafka'
import { freePort } from './start.ts'

/** A real RocketMQ 5 on ports of 127.0.0.1 that it keeps when it goes and comes again: a name server, a broker, and its proxy. */
export interface RocketMq {
  /** Of the proxy, as BARNABAS_TARGETS_FILE takes it. */
  readonly endpoint: string
  /** The broker, and the proxy with it. */
  start(): Promise<void>
  /** SIGKILL of the broker, and of the proxy with it. */
  kill(): Promise<void>
  createTopic(topic: string): Promise<void>
  /** All that stands in a topic. */
  messages(topic: string): Promise<readonly ReadRocketMqMessage[]>
  /** Its end, and that of its data. */
  remove(): Promise<void>
}

export interface ReadRocketMqMessage {
  readonly event: Readonly<Record<string, unknown>>
  /** Its properties, as RocketMQ's own tool writes them. */
  readonly told: string
}

const jvmFlags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED']
const tool = 'org.apache.rocketmq.tools.command.MQAdminStartup'
/** Less than a Kafka record may have. */
export const messageBytesMax = 524_288

/** Takes what `canRunOwnBroker` asks for. The first time Maven fetches about 100 MB. */
export async function startRocketMq(): Promise<RocketMq> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-rocketmq-'))
  const [names, broker, ha, proxy, remoting] = await Promise.all([1, 2, 3, 4, 5].map(freePort))
  const nameServer = `127.0.0.1:${names}`
  const endpoint = `127.0.0.1:${proxy}`
  const java = await javaRunner(folder)
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const nameServerFile = await file('names.properties', `listenPort=${names}\nbindAddress=127.0.0.1\n`)
  const brokerFile = await file(
    'broker.properties',
    [
      'brokerClusterName=DefaultCluster',
      'brokerName=broker-a',
      'brokerId=0',
      `namesrvAddr=${nameServer}`,
      'brokerIP1=127.0.0.1',
      'bindAddress=127.0.0.1',
      `listenPort=${broker}`,
      `haListenPort=${ha}`,
      `storePathRootDir=${join(folder, 'store')}`,
      'mappedFileSizeCommitLog=16777216',
      'mappedFileSizeConsumeQueue=600000',
      'flushDiskType=ASYNC_FLUSH',
      'brokerRole=ASYNC_MASTER',
      'diskMaxUsedSpaceRatio=95',
    ].join('\n'),
  )
  const proxyFile = await file(
    'proxy.json',
    JSON.stringify({
      rocketMQClusterName: 'DefaultCluster',
      namesrvAddr: nameServer,
      proxyMode: 'LOCAL',
      grpcServerPort: proxy,
      remotingListenPort: remoting,
      localServeAddr: '127.0.0.1',
      maxMessageSize: messageBytesMax,
      // That a topic was missing is remembered for so long.
      topicRouteServiceCacheRefreshSeconds: 1,
    }),
  )
  async function admin(...args: readonly string[]): Promise<void> {
    for (;;) {
      const output = await java.run(tool, [...args, '-n', nameServer, '-c', 'DefaultCluster'])
      // It ends with 0 whatever came of it.
      if (/success/i.test(output)) return
      // The broker listens before the name server knows it.
      if (!output.includes('Make sure the specified clusterName exists'))
        throw new Error(`${args.join(' ')}: ${output}`)
    }
  }
  let running: ChildProcess | undefined

  const namesrv = java.start('org.apache.rocketmq.namesrv.NamesrvStartup', 128, ['-c', nameServerFile])
  const rocketMq: RocketMq = {
    endpoint,
    async start() {
      const args = ['-pm', 'local', '-bc', brokerFile, '-pc', proxyFile, '-n', nameServer]
      running = java.start('org.apache.rocketmq.proxy.ProxyStartup', 512, args)
      await listening(proxy!, running)
    },
    async kill() {
      if (running !== undefined) await ended(running)
    },
    async createTopic(topic) {
      await admin('updateTopic', '-t', topic, '-r', '2', '-w', '2', '-a', '+message.type=NORMAL')
    },
    async messages(topic) {
      const output = await java.run(tool, ['printMsg', '-t', topic, '-n', nameServer, '-d', 'true'])
      const lines = output.split('\n').filter((line) => line.startsWith('MSGID: '))
      return lines.map((line) => ({
        event: JSON.parse(line.slice(line.indexOf('BODY: ') + 6)) as Readonly<Record<string, unknown>>,
        told: line.slice(0, line.indexOf('BODY: ')),
      }))
    },
    async remove() {
      await rocketMq.kill()
      await ended(namesrv)
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await listening(names!, namesrv)
    await rocketMq.start()
  } catch (error) {
    await rocketMq.remove()
    throw error
  }
  return rocketMq
}

async function javaRunner(folder: string) {
  const classPathFile = join(folder, 'class-path')
  const pom = fileURLToPath(new URL('rocketmq/pom.xml', import.meta.url))
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${classPathFile}`]
  await promisify(execFile)('mvn', ['-q', '-B', '-f', pom, ...goal])
  const { PATH = '', JAVA_HOME } = process.env
  const command = JAVA_HOME === undefined ? 'java' : join(JAVA_HOME, 'bin', 'java')
  // Its logs go below the home of its user.
  const env = { PATH, HOME: folder, ROCKETMQ_HOME: folder }
  const common = [...jvmFlags, `-Duser.home=${folder}`, '-cp', await readFile(classPathFile, 'utf8')]
  return {
    start(main: string, heapMb: number, args: readonly string[]): ChildProcess {
      const memory = [`-Xmx${heapMb}m`, '-XX:MaxDirectMemorySize=256m']
      const child = spawn(command, [...memory, ...common, main, ...args], { env, cwd: folder, stdio: 'ignore' })
      endWithParent(child)
      return child
    },
    async run(main: string, args: readonly string[]): Promise<string> {
      const { stdout, stderr } = await promisify(execFile)(command, [...common, main, ...args], { env, cwd: folder })
      return stdout + stderr
    },
  }
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`RocketMQ ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isThere) return
    await wait(100)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
