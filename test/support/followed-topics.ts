import type { Kafka, KafkaMessage } from 'kafkajs'
import { randomName, readMessage } from './kafka.ts'

/** A record as plain kafkajs reads it, and where it was read. */
export type FollowedRecord = KafkaMessage & { readonly topic: string; readonly partition: number }

export interface FollowedTopics {
  readonly records: readonly FollowedRecord[]
  /** Resolves as soon as what was read satisfies the predicate. */
  until(isEnough: (records: readonly FollowedRecord[]) => boolean): Promise<readonly FollowedRecord[]>
  stop(): Promise<void>
}

/** Reads topics from their beginning on, while the test goes on: what is deleted later has been seen. */
export async function followTopics(kafka: Kafka, topics: readonly string[]): Promise<FollowedTopics> {
  const groupId = randomName('follower')
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  const records: FollowedRecord[] = []
  const waiters = new Set<() => void>()
  await consumer.connect()
  await consumer.subscribe({ topics: [...topics], fromBeginning: true })
  await consumer.run({
    eachBatch: ({ batch }) => {
      for (const message of batch.messages) {
        records.push({ ...readMessage(message, batch.partition), topic: batch.topic })
      }
      for (const check of waiters) check()
      return Promise.resolve()
    },
  })
  return {
    records,
    until(isEnough) {
      return new Promise((resolve) => {
        const check = () => {
          if (!isEnough(records)) return
          waiters.delete(check)
          resolve(records)
        }
        waiters.add(check)
        check()
      })
    },
    async stop() {
      await consumer.disconnect()
      const admin = kafka.admin()
      await admin.connect()
      await admin.deleteGroups([groupId]).catch(() => undefined)
      await admin.disconnect()
    },
  }
}

/** One header as text; null when it is absent, null or there several times. */
export function header(record: Pick<KafkaMessage, 'headers'>, name: string): string | null {
  const value = record.headers?.[name]
  return Buffer.isBuffer(value) ? value.toString() : null
}

/** The `ce_id` of a binary event, or the id of a structured one. */
export function eventIdOf(record: Pick<KafkaMessage, 'headers' | 'value'>): string | null {
  const id = header(record, 'ce_id')
  if (id !== null) return id
  return (JSON.parse(record.value?.toString() ?? '{}') as { readonly id?: string }).id ?? null
}
