import { topicNameProblem } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { Cluster } from './cluster.ts'
import { createPatience } from './patience.ts'
import { Refusal, usageError } from './refusal.ts'

export interface RecordPosition {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** TOPIC/PARTITION/OFFSET, as `dead-letters list` prints it. */
export function parsePosition(text: string): RecordPosition {
  const match = /^([^/]+)\/(\d{1,9})\/(\d{1,15})$/.exec(text)
  if (match === null || topicNameProblem(match[1]!) !== null) {
    throw usageError(
      `${JSON.stringify(text)} is not a position; write TOPIC/PARTITION/OFFSET as \`barnabas dead-letters list\` prints it`,
    )
  }
  return { topic: match[1]!, partition: Number(match[2]), offset: Number(match[3]) }
}

/** The record at this position. Throws a `Refusal` that says what is there instead. */
export async function readRecord({ kafka }: Cluster, position: RecordPosition): Promise<KafkaRecord> {
  const { topic, partition, offset } = position
  const offsets = await kafka.admin.offsets([topic])
  if (offsets.length === 0) throw new Refusal(`topic ${topic} does not exist`)
  const range = offsets.find((each) => each.partition === partition)
  if (range === undefined)
    throw new Refusal(`topic ${topic} has partitions 0 to ${offsets.length - 1}, not ${partition}`)
  if (offset < range.low || offset >= range.high) {
    const holds = range.low === range.high ? 'is empty' : `holds offsets ${range.low} to ${range.high - 1}`
    throw new Refusal(`${topic}/${partition} ${holds}; ${offset} is not there${offset < range.low ? ' any more' : ''}`)
  }
  const found = Promise.withResolvers<KafkaRecord | null>()
  const patience = createPatience()
  const reader = kafka.logReader({
    topic,
    onTrouble: (trouble) => patience.onTrouble(trouble),
    from: (each) => (each === partition ? offset : offsets.find((other) => other.partition === each)?.high),
    onRecord: (record) => {
      if (record.partition === partition) found.resolve(record.offset === offset ? record : null)
    },
  })
  const readAll = patience.while(reader.start()).then(() => null)
  const record = await Promise.race([found.promise, readAll])
  // Stopping ends the start that may be under way.
  readAll.catch(() => undefined)
  await reader.stop()
  if (record === null) throw new Refusal(`there is no record at ${topic}/${partition}/${offset}`)
  return record
}
