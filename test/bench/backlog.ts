import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { benchHeaders, benchValue } from './events.ts'

/** A topic full of events, spread evenly over its partitions. */
export interface Backlog {
  readonly topic: string
  remove(): Promise<void>
}

const sentAtOnce = 500

export async function createBacklog(brokers: string, events: number, partitions: number): Promise<Backlog> {
  const kafka = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  const producer = kafka.producer()
  await Promise.all([admin.connect(), producer.connect()])
  const topic = `bench-${randomUUID()}`
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: false })
  for (let known = 0; known < partitions;) {
    known = await admin.fetchTopicOffsets(topic).then(
      (offsets) => offsets.length,
      () => 0,
    )
  }
  for (let first = 0, batch = 0; first < events; first += sentAtOnce, batch += 1) {
    const messages = Array.from({ length: Math.min(sentAtOnce, events - first) }, (_, index) => ({
      partition: batch % partitions,
      value: benchValue(first + index),
      headers: benchHeaders(first + index),
    }))
    await producer.send({ topic, messages, acks: -1 })
  }
  await producer.disconnect()
  return {
    topic,
    async remove() {
      await admin.deleteTopics({ topics: [topic] })
      await admin.disconnect()
    },
  }
}

/** Deletes the topics and groups whose names begin with `prefix`; whoever used them has ended. */
export async function removeByPrefix(brokers: string, prefix: string): Promise<void> {
  const admin = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix))
  await admin.deleteTopics({ topics })
  const { groups } = await admin.listGroups()
  const ours = groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith(prefix))
  if (ours.length > 0) await admin.deleteGroups(ours).catch(() => undefined)
  await admin.disconnect()
}
