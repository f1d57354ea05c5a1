import { Kafka, logLevel } from 'kafkajs'
import type { Message } from 'kafkajs'

/** Writes the events of a run at an even pace, through whatever happens to the broker. */
export interface Source {
  /** Resolves when every event is acknowledged. */
  readonly done: Promise<void>
  readonly written: number
  /** When writes took longer than a healthy broker needs, whether a fault was on or not. */
  readonly slowWrites: readonly SlowWrite[]
}

export interface SlowWrite {
  readonly from: number
  readonly to: number
}

export interface SourceOptions {
  readonly brokers: readonly string[]
  readonly topics: readonly string[]
  readonly partitions: number
  readonly events: number
  /** How long the writing takes when nothing is in its way. */
  readonly lastsMs: number
  /** How many may be written by now, however late it is: so that the last fault has as much in its way as the first. */
  readonly mayBeWritten: () => number
  readonly typeOf: (index: number) => string
  readonly keyOf: (index: number) => string
}

const tickMs = 50
const slowMs = 1_000
/** What has to be made up for after an outage goes in batches that a broker takes (`message.max.bytes`, 1 MiB). */
const atOnceMax = 8_000

export function startSource(options: SourceOptions): Source {
  const { topics, partitions, events } = options
  const kafka = new Kafka({
    clientId: 'chaos-source',
    brokers: [...options.brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 1_000, initialRetryTime: 100, maxRetryTime: 500 },
  })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  let written = 0
  const slowWrites: SlowWrite[] = []

  async function write(): Promise<void> {
    await producer.connect()
    const startedAt = Date.now()
    while (written < events) {
      const due = Math.ceil(((Date.now() - startedAt) / options.lastsMs) * events)
      const wanted = Math.max(written, Math.min(events, due, options.mayBeWritten(), written + atOnceMax))
      const indexes = Array.from({ length: wanted - written }, (_, step) => written + step)
      if (indexes.length > 0) {
        const writtenAt = Date.now()
        const places = Map.groupBy(indexes, (index) => index % (topics.length * partitions))
        await Promise.all([...places.values()].map(writeUntilTaken))
        if (Date.now() - writtenAt > slowMs) slowWrites.push({ from: writtenAt, to: Date.now() })
        written = wanted
      }
      await new Promise((resolve) => setTimeout(resolve, tickMs))
    }
    await producer.disconnect()
  }

  /**
   * All of them to one partition: the client resolves although a partition was never written when a request spans
   * brokers and one of them moved. And it gives some errors of an outage up at once.
   */
  async function writeUntilTaken(indexes: readonly number[]): Promise<void> {
    const topic = topics[indexes[0]! % topics.length]!
    for (;;) {
      try {
        await producer.send({ topic, acks: -1, messages: indexes.map(messageOf) })
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  function messageOf(index: number): Message {
    return {
      partition: Math.floor(index / topics.length) % partitions,
      key: options.keyOf(index),
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
    slowWrites,
    get written() {
      return written
    },
  }
}
