import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { freePort } from '../support/start.ts'
import { formatNodes, startNode } from './broker-node.ts'
import type { BrokerNode, RunningNode } from './broker-node.ts'
import type { Network } from './network.ts'

/** The brokers of a run. With three, every topic has three replicas, of which two must have a write. */
export interface Cluster {
  /** The way that producer and checker take, which nothing disturbs. */
  readonly brokers: readonly string[]
  /** The way that the services take: through the proxies when there are some. */
  readonly serviceBrokers: readonly string[]
  readonly size: number
  /** `kill -9`. */
  kill(index: number): Promise<void>
  /** Starts it again and resolves when no partition lacks a replica. */
  restart(index: number): Promise<void>
  end(): Promise<void>
}

const inSyncWithinMs = 60_000

export async function startCluster(folder: string, size: number, network: Network | null): Promise<Cluster> {
  const nodes: BrokerNode[] = []
  for (let id = 1; id <= size; id++) {
    const port = await freePort()
    const node = { id, folder: join(folder, `broker-${id}`), port, controllerPort: await freePort() }
    if (network === null) nodes.push(node)
    else {
      const proxiedPort = await freePort()
      const advertisedPort = await network.proxy('broker', proxiedPort)
      nodes.push({ ...node, proxied: { port: proxiedPort, advertisedPort } })
    }
  }
  // Kafka's form of a UUID. One that begins with "-" would be read as an option.
  await formatNodes(nodes, randomBytes(16).toString('base64url').replace(/^-/, 'A'))
  const heapMb = size === 1 ? 384 : 256
  const running: RunningNode[] = await Promise.all(nodes.map((node) => startNode(node, heapMb)))
  const addresses = (portOf: (node: BrokerNode) => number): string[] => nodes.map((node) => `127.0.0.1:${portOf(node)}`)
  const brokers = addresses(({ port }) => port)
  const cluster: Cluster = {
    brokers,
    serviceBrokers: addresses(({ port, proxied }) => proxied?.advertisedPort ?? port),
    size,
    kill: (index) => running[index]!.kill(),
    async restart(index) {
      running[index] = await startNode(nodes[index]!, heapMb)
      if (size > 1) await allInSync(brokers)
    },
    async end() {
      await Promise.all(running.map((node) => node.kill()))
    },
  }
  return cluster
}

/** Two brokers down at once are more than two replicas in sync bear: the next fault waits until all are back. */
async function allInSync(brokers: readonly string[]): Promise<void> {
  const admin = new Kafka({ clientId: 'chaos-cluster', brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    for (const until = Date.now() + inSyncWithinMs; Date.now() < until; await sleep(250)) {
      const { topics } = await admin.fetchTopicMetadata().catch(() => ({ topics: [] }))
      const partitions = topics.flatMap((topic) => topic.partitions)
      if (partitions.length > 0 && partitions.every(({ isr, replicas }) => isr.length === replicas.length)) return
    }
    throw new Error(`the replicas were not in sync ${inSyncWithinMs / 1_000} s after a broker came back`)
  } finally {
    await admin.disconnect()
  }
}
