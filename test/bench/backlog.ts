import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { benchRecord } from './events.ts'
import type { BenchRecord } from './events.ts'

/** A topic of events that are spread evenly over its partitions. */
export interface Backlog {
  readonly topic: string
  /** Adds so many events and resolves when all are acknowledged. */
  add(events: number): Promise<void>
  remove(): Promise<void>
}

export const backlogPartitions = 8
const sentAtOnce = 500
const saidEvery = 100_000

export async function createBacklog(
  brokers: string,
  say: (line: string) => void,
  recordOf: (index: number) => BenchRecord = benchRecord,
): Promise<Backlog> {
  const kafka = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  const producer = kafka.producer()
  await Promise.all([admin.connect(), producer.connect()])
  const topic = `bench-${randomUUID()}`
  await admin.createTopics({ topics: [{ topic, numPartitions: backlogPartitions }], waitForLeaders: false })
  for (let known = 0; known < backlogPartitions;) {
    known = await admin.fetchTopicOffsets(topic).then(
      (offsets) => offsets.length,
      () => 0,
    )
  }
  return {
    topic,
    async add(events) {
      const atOnce = Math.min(sentAtOnce, Math.ceil(events / backlogPartitions))
      for (let first = 0, batch = 0; first < events; first += atOnce, batch += 1) {
        const messages = Array.from({ length: Math.min(atOnce, events - first) }, (_, index) => ({
          partition: batch % backlogPartitions,
          ...recordOf(first + index),
        }))
        await producer.send({ topic, messages, acks: -1 })
        if (first > 0 && first % saidEvery === 0) say(`${first} of ${events} events of the backlog are written`)
      }
    },
    async remove() {
      await producer.disconnect()
      await admin.deleteTopics({ topics: [topic] })
      await admin.disconnect()
    },
  }
}

/** Runs with a topic that holds so many events, and removes it. */
export async function withBacklog<T>(
  { brokers, say }: { readonly brokers: string; readonly say: (line: string) => void },
  events: number,
  use: (backlog: Backlog) => Promise<T>,
  recordOf?: (index: number) => BenchRecord,
): Promise<T> {
  const backlog = await createBacklog(brokers, say, recordOf)
  try {
    if (events > 0) await backlog.add(events)
    return await use(backlog)
  } finally {
    await backlog.remove()
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
