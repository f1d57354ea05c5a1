import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findKafkaWay, startContainerKafka, startLocalKafka } from '@barnabas/local-kafka'

export interface BenchBroker {
  readonly brokers: string
  stop(): Promise<void>
}

/** The broker that KAFKA_BROKERS names, else one of its own that is gone afterwards. */
export async function benchBroker(say: (line: string) => void): Promise<BenchBroker> {
  const way = await findKafkaWay({ env: process.env })
  if (way.kind === 'given') return { brokers: way.brokers, stop: () => Promise.resolve() }
  const dataDir = await mkdtemp(join(tmpdir(), 'barnabas-bench-kafka-'))
  const options = { dataDir, port: 0, heapMb: 512, onProgress: say }
  const kafka =
    way.kind === 'jdk'
      ? await startLocalKafka({ ...options, endsWithParent: true })
      : await startContainerKafka({ ...options, keepData: false })
  return {
    brokers: kafka.brokers,
    async stop() {
      await kafka.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
