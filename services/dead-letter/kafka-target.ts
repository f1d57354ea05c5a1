import type { KafkaRecord } from '@barnabas/core'
import type { Clusters } from '@barnabas/host'
import type { KafkaClient, Producer, ProduceResult } from '@barnabas/kafka'
import { closedWithin, unlessStopped } from './target-limits.ts'
import { accepted, refused, unavailable } from './target-write.ts'
import type { Target, TargetWrite } from './target.ts'

export interface KafkaTargetOptions {
  readonly topic: string
  /** The cluster as it is known now; its password may be another the next time. */
  readonly client: () => ReturnType<Clusters['client']>
  /** The Kafka that Barnabas works on, under whatever address the target names it. */
  readonly own: Pick<KafkaClient, 'admin'>
  /** Whether what is written into a topic of this name on the own Kafka would come round again. */
  readonly isCircular: (topic: string) => boolean
  /** How long `close` waits for a Kafka that does not answer, 1 s by default. */
  readonly closeWithinMs?: number
}

/**
 * A topic of another cluster (row B7): key, value and headers byte for byte as they stand in the dead-letter topic.
 * Accepted when all in-sync replicas have it. What an operator mends (a topic that is missing, rights, a password, a
 * cluster that no file names) is tried again; a record that the topic does not take is refused for good.
 */
export function createKafkaTarget(options: KafkaTargetOptions): Target {
  const { topic, client, closeWithinMs = 1_000 } = options
  let present: { readonly producer: Producer; readonly kafka: KafkaClient } | undefined
  const closing = new Set<Promise<void>>()
  /** Where the topic was found to be another one than ours of the same name. */
  let lookedAt: KafkaClient | undefined

  function producerOf(kafka: KafkaClient): Producer {
    if (present?.kafka === kafka) return present.producer
    letGo()
    present = { producer: kafka.producer(), kafka }
    return present.producer
  }

  /** A connection that was refused is not tried again with what it knew. */
  function letGo(): void {
    if (present === undefined) return
    const closed = present.producer.close().finally(() => closing.delete(closed))
    closing.add(closed)
    present = undefined
  }

  /** Two clusters never give the same id to a topic, whatever their addresses are. Null for no problem. */
  async function problemOf(kafka: KafkaClient): Promise<string | null> {
    if (lookedAt === kafka || !options.isCircular(topic)) return null
    const [there, here] = await Promise.all([kafka.admin.topicIds([topic]), options.own.admin.topicIds([topic])])
    const id = there.get(topic)
    if (id !== undefined && id === here.get(topic)) {
      return `the cluster is the Kafka that we work on, and ${topic} would bring the dead letters round again; name another topic`
    }
    if (id !== undefined) lookedAt = kafka
    return null
  }

  async function produced(kafka: KafkaClient, { key, value, headers }: KafkaRecord): Promise<ProduceResult> {
    const producer = producerOf(kafka)
    const result = await producer.produce({ topic, key, value, headers })
    if (result.kind === 'refused' && result.code === 'NOT_AUTHORIZED' && present?.producer === producer) letGo()
    return result
  }

  async function attempt(letters: readonly KafkaRecord[]): Promise<readonly TargetWrite[]> {
    const found = client()
    if (found.kind === 'unknown') return letters.map(() => unavailable(found.message))
    try {
      const problem = await problemOf(found.kafka)
      if (problem !== null) return letters.map(() => unavailable(problem))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return letters.map(() => unavailable(message))
    }
    const results = await Promise.all(letters.map((letter) => produced(found.kafka, letter)))
    return results.map(writeOf)
  }

  return {
    write: (letters, signal) => unlessStopped(letters, signal, () => attempt(letters)),
    async close() {
      letGo()
      await closedWithin(closeWithinMs, closing)
    },
  }
}

function writeOf(result: ProduceResult): TargetWrite {
  switch (result.kind) {
    case 'acknowledged':
      return accepted
    case 'unavailable':
      return unavailable(result.message)
    case 'refused':
      if (result.code === 'NOT_AUTHORIZED') return unavailable(result.message)
      return refused(result.code, result.message)
    default:
      return result satisfies never
  }
}
