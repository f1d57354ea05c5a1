import { execFile, spawn } from 'node:child_process'
import { appendFile, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  brokerProperties,
  endWithParent,
  fastStartJvmFlags,
  formatProperties,
  kafkaJars,
  probeBroker,
} from '@barnabas/local-kafka'

/** One broker of a cluster: a folder of its own, and ports that it keeps through all its lives. */
export interface BrokerNode {
  readonly id: number
  readonly folder: string
  readonly port: number
  readonly controllerPort: number
  /** A second listener, and the address that it tells clients to come to: a proxy that a test disturbs. */
  readonly proxied?: { readonly port: number; readonly advertisedPort: number }
}

export interface RunningNode {
  /** SIGKILL, and its end. */
  kill(): Promise<void>
}

const answersWithinMs = 60_000

/** Formats the folders of a new cluster. */
export async function formatNodes(nodes: readonly BrokerNode[], clusterId: string): Promise<void> {
  for (const node of nodes) {
    await mkdir(node.folder, { recursive: true })
    await writeFile(join(node.folder, 'server.properties'), formatProperties(propertiesOf(node, nodes)))
  }
  const args = [...(await classPath()), 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', 'server.properties']
  await Promise.all(
    nodes.map(({ folder: cwd }) => promisify(execFile)(java(), [...fastStartJvmFlags, ...args], { cwd })),
  )
}

/** Starts a broker; it ends with this process. Resolves when it and all `nodes` that run answer for the cluster. */
export async function startNode(node: BrokerNode, heapMb: number): Promise<RunningNode> {
  const logFile = join(node.folder, 'broker.log')
  await appendFile(logFile, `--- started ${new Date().toISOString()}\n`)
  await using log = await open(logFile, 'a')
  const child = spawn(
    java(),
    [`-Xmx${heapMb}m`, ...fastStartJvmFlags, ...(await classPath()), 'kafka.Kafka', 'server.properties'],
    { cwd: node.folder, detached: true, stdio: ['ignore', log.fd, log.fd] },
  )
  endWithParent(child)
  let hasEnded = false
  const exited = new Promise<void>((resolve, reject) => {
    child.once('exit', () => {
      hasEnded = true
      resolve()
    })
    child.once('error', reject)
  })
  for (const until = Date.now() + answersWithinMs; (await probeBroker(node.port, 1_000)) === null;) {
    if (hasEnded || Date.now() > until) {
      child.kill('SIGKILL')
      throw new Error(`broker ${node.id} did not start:\n${(await readFile(logFile, 'utf8')).slice(-4_000)}`)
    }
    await sleep(50)
  }
  return {
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function propertiesOf(node: BrokerNode, nodes: readonly BrokerNode[]): Record<string, string> {
  const { port, controllerPort, proxied } = node
  const replicas = String(nodes.length)
  const replicasInSync = String(Math.max(1, nodes.length - 1))
  const listeners = [`PLAINTEXT://127.0.0.1:${port}`, `CONTROLLER://127.0.0.1:${controllerPort}`]
  const advertised = [`PLAINTEXT://127.0.0.1:${port}`]
  if (proxied !== undefined) {
    listeners.push(`PROXIED://127.0.0.1:${proxied.port}`)
    advertised.push(`PROXIED://127.0.0.1:${proxied.advertisedPort}`)
  }
  return brokerProperties(
    { broker: port, controller: controllerPort },
    {
      'node.id': String(node.id),
      listeners: listeners.join(','),
      'advertised.listeners': advertised.join(','),
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'controller.quorum.voters': nodes.map((each) => `${each.id}@127.0.0.1:${each.controllerPort}`).join(','),
      'default.replication.factor': replicas,
      'min.insync.replicas': replicasInSync,
      'offsets.topic.replication.factor': replicas,
      'transaction.state.log.replication.factor': replicas,
      'transaction.state.log.min.isr': replicasInSync,
      'broker.session.timeout.ms': '6000',
    },
  )
}

async function classPath(): Promise<readonly string[]> {
  return ['-cp', join(await kafkaJars(process.env, () => undefined), '*')]
}

function java(): string {
  const { JAVA_HOME } = process.env
  return JAVA_HOME === undefined || JAVA_HOME === '' ? 'java' : join(JAVA_HOME, 'bin', 'java')
}
