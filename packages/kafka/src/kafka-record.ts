import type { KafkaRecord, TopicPartition } from '@barnabas/core'
import type { FetchedMessage } from './kafkajs-internals.ts'

/** A record as the client hands it over, offsets and timestamp as numbers. Headers keep their shape: bytes, null, lists. */
export function toRecord(
  { topic, partition }: TopicPartition,
  {
    offset,
    timestamp,
    key,
    value,
    headers,
  }: Pick<FetchedMessage, 'offset' | 'timestamp' | 'key' | 'value' | 'headers'>,
): KafkaRecord {
  return { topic, partition, offset: Number(offset), timestamp: Number(timestamp), key, value, headers }
}
