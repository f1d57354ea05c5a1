import { randomBytes } from 'node:crypto'
import { Kafka, logLevel, type Admin, type KafkaMessage, type Message } from 'kafkajs'
import { inject } from 'vitest'

/** The brokers that all tests of this run share. */
export function testBrokers(): string[] {
  return inject('kafkaBrokers').split(',')
}

/** A name that nobody else uses: for topics, groups, and `BARNABAS_PREFIX`. */
export function randomName(stem: string): string {
  return `${stem}-${randomBytes(6).toString('hex')}`
}

/** Plain kafkajs, to look at Kafka from outside: nothing of ours is between the test and the broker. */
export function plainKafka(brokers: readonly string[] = testBrokers()): Kafka {
  return new Kafka({ clientId: 'barnabas-test', brokers: [...brokers], logLevel: logLevel.NOTHING })
}

/** Does something with an admin client that is connected for it alone. */
export async function withAdmin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

export async function createTopic(kafka: Kafka, topic: string, numPartitions = 1): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    await admin.createTopics({ topics: [{ topic, numPartitions }], waitForLeaders: false })
    // kafkajs's own wait takes a topic that is not known yet for a failure.
    await untilKnown(admin, topic, numPartitions)
  } finally {
    await admin.disconnect()
  }
}

export async function growTopic(topic: string, count: number): Promise<void> {
  await withAdmin(async (admin) => {
    await admin.createPartitions({ topicPartitions: [{ topic, count }] })
    await untilKnown(admin, topic, count)
  })
}

/**
 * The offsets of a topic that is just being made, as soon as it has so many partitions, by default any: the controller
 * acknowledges before the broker knows of it, and a topic is listed before it is led. The test's own timeout is the limit.
 */
async function untilKnown(admin: Admin, topic: string, partitionCount?: number) {
  for (;;) {
    const partitions = await admin.fetchTopicOffsets(topic).catch(() => [])
    if (partitionCount === undefined ? partitions.length > 0 : partitions.length === partitionCount) return partitions
  }
}

/** Writes the messages once and in order, each acknowledged by all replicas. */
export async function produce(kafka: Kafka, topic: string, messages: Message[]): Promise<void> {
  // A new topic's partitions are led one after the other: kafkajs tries again for all when one of them was not yet.
  const producer = kafka.producer({ idempotent: true })
  await producer.connect()
  try {
    const acknowledged = new Set((await producer.send({ topic, messages, acks: -1 })).map(({ partition }) => partition))
    // kafkajs leaves out what is for a partition that it does not know yet, and says nothing.
    for (const { partition } of messages) {
      if (partition !== undefined && !acknowledged.has(partition))
        throw new Error(`nothing was written to partition ${partition} of ${topic}`)
    }
  } finally {
    await producer.disconnect()
  }
}

export type ReadMessage = KafkaMessage & { readonly partition: number }

/** Member by member, because the patched client decodes them when they are asked for: a spread would lose them. */
export function readMessage(message: KafkaMessage, partition: number): ReadMessage {
  const { attributes, key, value, timestamp, offset, headers } = message
  return { attributes, key, value, timestamp, offset, partition, ...(headers && { headers }) } as ReadMessage
}

/**
 * Reads the topic from its beginning until `isEnough` says so, in the order of arrival, and gives all that was read.
 * The test's own timeout is the limit. By default everything that is there now.
 */
export async function readTopic(
  kafka: Kafka,
  topic: string,
  isEnough?: (messages: readonly ReadMessage[]) => boolean,
): Promise<ReadMessage[]> {
  const groupId = randomName('reader')
  const consumer = kafka.consumer({ groupId, sessionTimeout: 10_000, heartbeatInterval: 1_000, maxWaitTimeInMs: 100 })
  const admin = kafka.admin()
  await admin.connect()
  const messages: ReadMessage[] = []
  try {
    const offsets = await untilKnown(admin, topic)
    const remaining = new Map(
      offsets.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, BigInt(high)]),
    )
    // A transaction's markers take offsets too: a partition is read when its last offset was passed or is in the batch.
    const isDone = () => (isEnough === undefined ? remaining.size === 0 : isEnough(messages))
    if (isDone()) return messages
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      consumer
        .run({
          eachBatch: ({ batch }) => {
            for (const message of batch.messages) messages.push(readMessage(message, batch.partition))
            const end = remaining.get(batch.partition)
            if (end !== undefined && BigInt(batch.lastOffset()) + 1n >= end) remaining.delete(batch.partition)
            if (isDone()) resolve()
            return Promise.resolve()
          },
        })
        .catch(reject)
    })
    return messages
  } finally {
    await consumer.disconnect()
    await admin.deleteGroups([groupId]).catch(() => undefined)
    await admin.disconnect()
  }
}
