import kafkajs from 'kafkajs'
import type { KafkaConfig, SASLOptions } from 'kafkajs'
import { createAdmin } from './admin.ts'
import { ClusterConnection } from './cluster-connection.ts'
import { CODEC_NAMES, registerCodecs } from './codecs.ts'
import type { CodecName } from './codecs.ts'
import { createConsumer } from './consumer.ts'
import { READ_COMMITTED, createCluster } from './kafkajs-internals.ts'
import type { ClusterConfig } from './kafkajs-internals.ts'
import { createLastingConsumer } from './lasting-consumer.ts'
import { createLogCreator } from './log-creator.ts'
import type { KafkaLogger } from './log-creator.ts'
import { createLogReader } from './log-reader.ts'
import { takeMetadataOfAllAsItIs } from './metadata-of-all.ts'
import type { KafkaClient } from './port.ts'
import { createProducer } from './producer.ts'
import { readRange } from './range-reader.ts'
import { sockets } from './sockets.ts'
import { createTransactor } from './transactor.ts'

export interface KafkaConnectOptions {
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly ssl?: KafkaConfig['ssl']
  readonly sasl?: SASLOptions
  /** How long the group waits for a silent member before it gives its partitions away; default 10,000. */
  readonly sessionTimeoutMs?: number
  /** Everything that the client says goes here, on debug; what needs a person comes as warn. */
  readonly logger: KafkaLogger
  /** The codecs that can be read; default all. The client keeps them once per process, so the last call decides. */
  readonly codecs?: readonly CodecName[]
}

const SESSION_TIMEOUT_MS = 10_000
const CONNECTION_TIMEOUT_MS = 3_000
const REQUEST_TIMEOUT_MS = 10_000
/** A request finds out soon that no broker answers; whoever asked decides how often to ask again. */
const REQUEST_RETRY = { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 }
/** A transaction is over, one way or the other, before the broker takes it back: it is open for 10 s at the most. */
const TRANSACTION_RETRY = { retries: 8, initialRetryTime: 100, maxRetryTime: 1_000 }
/** A consumer bridges about half a minute without a broker before it has to join as a new member. */
const CONSUMER_RETRY = { retries: 35, initialRetryTime: 100, maxRetryTime: 1_000 }

/**
 * The port on kafkajs. Nothing is connected until it is used, and topics are never made by asking for them.
 * Each consumer, producer and log reader has connections of its own: the client shares committed offsets and
 * metadata between those that it makes from one object, and the mistakes of one then reach the others.
 */
export function connectKafka(options: KafkaConnectOptions): KafkaClient {
  registerCodecs(options.codecs ?? CODEC_NAMES)
  takeMetadataOfAllAsItIs()
  const logCreator = createLogCreator(options.logger)
  const open = new Set<() => Promise<void>>()

  const base = {
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    socketFactory: sockets,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: options.sasl }),
  }
  const clusterConfig: ClusterConfig = {
    ...base,
    enforceRequestTimeout: true,
    metadataMaxAge: 0,
    allowAutoTopicCreation: false,
    isolationLevel: READ_COMMITTED,
    retry: REQUEST_RETRY,
  }
  const connection = (): ClusterConnection => new ClusterConnection(createCluster(clusterConfig, logCreator))
  const kafka = (retry: KafkaConfig['retry']): kafkajs.Kafka =>
    new kafkajs.Kafka({ ...base, logLevel: kafkajs.logLevel.WARN, logCreator, ...(retry && { retry }) })

  /** `close` ends with everything that was opened, once, whether its owner closed it or not. */
  function closing(close: () => Promise<void>): () => Promise<void> {
    let closed: Promise<void> | undefined
    const once = (): Promise<void> => {
      open.delete(once)
      return (closed ??= close())
    }
    open.add(once)
    return once
  }

  const kafkajsAdmin = kafka(REQUEST_RETRY).admin()
  const adminConnection = connection()
  const admin = createAdmin(kafkajsAdmin, adminConnection)

  return {
    admin,
    consumer(consumerOptions) {
      const { sessionTimeoutMs = SESSION_TIMEOUT_MS, logger } = options
      const missingTopics = async (topics: readonly string[]): Promise<readonly string[]> => {
        const existing = await admin.topics()
        return topics.filter((topic) => !existing.has(topic))
      }
      const consumer = createLastingConsumer(consumerOptions, {
        create: (each) => createConsumer(kafka(CONSUMER_RETRY), each, { sessionTimeoutMs, logger, missingTopics }),
        sessionTimeoutMs,
        logger,
        askBroker: () => admin.topics(),
      })
      const stop = consumer.stop.bind(consumer)
      consumer.stop = closing(stop)
      return consumer
    },
    producer() {
      const producer = createProducer(connection())
      return { ...producer, close: closing(() => producer.close()) }
    },
    logReader(readerOptions) {
      const reader = createLogReader(connection(), readerOptions)
      return { ...reader, stop: closing(() => reader.stop()) }
    },
    transactor(transactorOptions) {
      const transactor = createTransactor(kafka(TRANSACTION_RETRY), transactorOptions)
      return { ...transactor, close: closing(() => transactor.close()) }
    },
    async *readRange(range) {
      const own = connection()
      const close = closing(() => own.close())
      try {
        yield* readRange(own, range)
      } finally {
        await close()
      }
    },
    async close() {
      await Promise.allSettled([...open].map((close) => close()))
      await kafkajsAdmin.disconnect()
      await adminConnection.close()
    },
  }
}
