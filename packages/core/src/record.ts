/** A header value as Kafka stores it: bytes, or null (legal, and kept). */
export type HeaderValue = Buffer | null

/** Headers of a record. Several values under one name stand in their order; order between names is not promised. */
export type RecordHeaders = Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/**
 * A record as it was read. `timestamp` is in ms since the epoch; offsets are safe integers (below 2^53). Not to be
 * spread: what the consumer hands over may decode key, value and headers when they are asked for.
 */
export interface KafkaRecord extends TopicPartition {
  readonly offset: number
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /** The size of key, value and headers as they were read, known without decoding them; absent where it is not. */
  readonly bytes?: number | undefined
}

/** A record to be written. Without `partition` the key decides (Kafka's murmur2), without a key chance does. */
export interface OutgoingRecord {
  readonly topic: string
  readonly partition?: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
}
