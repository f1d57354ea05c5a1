import type { KafkaRecord, RecordHeaders, TopicPartition } from '@barnabas/core'
import type { FetchedMessage } from './kafkajs-internals.ts'

type Message = Pick<FetchedMessage, 'offset' | 'timestamp' | 'key' | 'value' | 'headers' | 'bytes'>

/**
 * A record as the client hands it over, offsets and timestamp as numbers. Headers keep their shape: bytes, null, lists.
 * Key, value and headers are decoded when they are asked for (the patched client does that), so a record that waits
 * for its turn is two small objects over the bytes of its fetch. They are not kept either: they would hang on a record
 * that has grown old, where the garbage collector finds them late.
 */
export function toRecord({ topic, partition }: TopicPartition, message: Message): KafkaRecord {
  return new FetchedRecord(topic, partition, message)
}

class FetchedRecord implements KafkaRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly #message: Message

  constructor(topic: string, partition: number, message: Message) {
    this.topic = topic
    this.partition = partition
    this.offset = Number(message.offset)
    this.#message = message
  }

  get timestamp(): number {
    return Number(this.#message.timestamp)
  }

  get key(): Buffer | null {
    return this.#message.key
  }

  get value(): Buffer | null {
    return this.#message.value
  }

  get headers(): RecordHeaders {
    return this.#message.headers
  }

  get bytes(): number | undefined {
    return this.#message.bytes
  }
}
