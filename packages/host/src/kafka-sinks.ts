import { kafkaSinkOf, problemOfOwnTopic } from '@barnabas/core'
import type { FindSecret, Names, Subscription } from '@barnabas/core'
import type { Sender } from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'
import { createKafkaSender } from '@barnabas/kafka-sink'
import type { Clusters } from './clusters.ts'

/** Kafka topics as sinks: of the Kafka that Barnabas works on, and of other clusters. */
export interface KafkaSinks {
  /** The sender of every subscription: those to Kafka topics go there, all others to `webhooks`. */
  senderBeside(webhooks: Sender): Sender
  /** Why nothing can be delivered, as far as this process knows without asking anybody; null for nothing. */
  problemOf(subscription: Pick<Subscription, 'sink' | 'topics' | 'deadLetter'>): string | null
  /** The same after asking the sink's Kafka, for at most three seconds. */
  lookAt(sink: string): Promise<string | null>
  close(): Promise<void>
}

export interface KafkaSinksOptions {
  readonly kafka: KafkaClient
  /** Of `kafka`, host:port each. */
  readonly brokers: readonly string[]
  readonly clusters: Clusters
  readonly names: Pick<Names, 'prefix'>
  readonly findSecret: FindSecret
}

const lookForMs = 3_000

export function createKafkaSinks({ kafka, brokers, clusters, names, findSecret }: KafkaSinksOptions): KafkaSinks {
  const clientOf = (cluster: string | null) =>
    cluster === null ? ({ kind: 'client', kafka } as const) : clusters.client(cluster)
  const sender = createKafkaSender({ clientOf, findSecret, now: Date.now })
  const own = new Set(brokers.map((each) => each.toLowerCase()))

  /** `topics` are those that the subscription reads, in one way or another. */
  function problemOfCluster(cluster: string, topic: string, topics: readonly string[]): string | null {
    const client = clusters.client(cluster)
    if (client.kind === 'unknown') return client.message
    const isOwn = clusters.brokersOf(cluster)?.some((each) => own.has(each.toLowerCase())) ?? false
    const problem = isOwn ? problemOfOwnTopic(topic, topics, names.prefix) : null
    return problem === null ? null : `the cluster ${cluster} is the Kafka that we work on, and ${problem}`
  }

  return {
    senderBeside: (webhooks) => ({
      attempt(events, options) {
        if (kafkaSinkOf(options.url) === null) return webhooks.attempt(events, options)
        return sender.attempt(events, options)
      },
    }),
    problemOf({ sink, topics, deadLetter }) {
      const { cluster = null, topic = '' } = kafkaSinkOf(sink) ?? {}
      const ofSink = cluster === null ? null : problemOfCluster(cluster, topic, topics)
      if (ofSink !== null) return `sink: ${ofSink}`
      const { target } = deadLetter ?? {}
      if (deadLetter === null || target?.kind !== 'kafka') return null
      const ofTarget = problemOfCluster(target.connection, target.resource, [...topics, deadLetter.topic])
      return ofTarget === null ? null : `deadLetter.target: ${ofTarget}`
    },
    lookAt: (sink) => sender.problemOf(sink, lookForMs),
    close: () => sender.close(),
  }
}
