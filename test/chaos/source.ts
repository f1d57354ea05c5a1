import { Kafka, logLevel } from 'kafkajs'
import type { Message } from 'kafkajs'

/** Writes the events of a run at an even pace, through whatever happens to the broker. */
export interface Source {
  /** Resolves when every event is acknowledged. */
  readonly done: Promise<void>
  readonly written: number
}

export interface SourceOptions {
  readonly brokers: string
  readonly topics: readonly string[]
  readonly partitions: number
  readonly events: number
  /** How long the writing takes when nothing is in its way. */
  readonly lastsMs: number
  readonly typeOf: (index: number) => string
}

const tickMs = 50

export function startSource(options: SourceOptions): Source {
  const { topics, partitions, events } = options
  const kafka = new Kafka({
    clientId: 'chaos-source',
    brokers: [options.brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 1_000, initialRetryTime: 100, maxRetryTime: 500 },
  })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  let written = 0

  async function write(): Promise<void> {
    await producer.connect()
    const startedAt = Date.now()
    while (written < events) {
      const wanted = Math.min(events, Math.ceil(((Date.now() - startedAt) / options.lastsMs) * events))
      const indexes = Array.from({ length: wanted - written }, (_, step) => written + step)
      if (indexes.length > 0) {
        const byTopic = Map.groupBy(indexes, (index) => topics[index % topics.length]!)
        const topicMessages = [...byTopic].map(([topic, ofTopic]) => ({ topic, messages: ofTopic.map(messageOf) }))
        await writeUntilTaken(topicMessages)
        written = wanted
      }
      await new Promise((resolve) => setTimeout(resolve, tickMs))
    }
    await producer.disconnect()
  }

  /** The client gives some errors of an outage up at once. */
  async function writeUntilTaken(topicMessages: { topic: string; messages: Message[] }[]): Promise<void> {
    for (;;) {
      try {
        await producer.sendBatch({ acks: -1, topicMessages })
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  function messageOf(index: number): Message {
    return {
      partition: Math.floor(index / topics.length) % partitions,
      value: JSON.stringify({ index }),
      headers: {
        ce_specversion: '1.0',
        ce_id: String(index),
        ce_source: '/chaos',
        ce_type: options.typeOf(index),
        'content-type': 'application/json',
      },
    }
  }

  return {
    done: write(),
    get written() {
      return written
    },
  }
}
