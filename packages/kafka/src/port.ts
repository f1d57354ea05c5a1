import type { KafkaRecord, OutgoingRecord, TopicPartition } from '@barnabas/core'

/**
 * The port: everything that the rest of Barnabas may ask of Kafka. It names no Kafka client, so that the client
 * can be exchanged behind it; `test/contract` states what it promises and runs on a real broker.
 */
export interface KafkaClient {
  /** A member of a consumer group. One group per consumer; nothing is read before `start`. */
  consumer(options: ConsumerOptions): Consumer
  /** A producer of its own connection; one per class of target, because one deleted topic disturbs a producer. */
  producer(): Producer
  /** Reads partitions without a group, from a given place: control topics, `dead-letters list`, tests. */
  logReader(options: LogReaderOptions): LogReader
  /** Writes to several topics at once, all or nothing. For one who is alone by design: the next one ends it. */
  transactor(options: TransactorOptions): Transactor
  /**
   * The records of one partition from `from` up to and without `to`, in pieces of at most about 1 MiB, each fetched
   * when it is asked for, so that memory stays flat however slowly they are used. What was deleted is passed over.
   * Rejects when no broker answers for 15 s.
   */
  readRange(range: TopicPartition & { readonly from: number; readonly to: number }): AsyncIterable<RangePiece>
  readonly admin: Admin
  /** Closes the admin connection and whatever consumers, producers and readers are still open. */
  close(): Promise<void>
}

export interface ConsumerOptions {
  readonly groupId: string
  readonly topics: readonly string[]
  /**
   * Hands over one fetched batch. Called synchronously: it must neither wait nor throw. Records of a partition
   * arrive in order of their offsets, each at most once between two assignments unless sought back.
   * The values share one fetch response in memory: copy what is kept longer than an attempt takes.
   */
  readonly onRecords: (batch: RecordBatch) => void
  /**
   * Says after every join which partitions are ours now. Called synchronously before the next fetch, so that
   * `pause` and `seek` in here take effect before any record of a gained partition arrives.
   * Kept partitions go on at the place that was reached (no redelivery); pauses of lost partitions are forgotten. A
   * partition that another member may have had in between is lost and gained.
   */
  readonly onAssigned: (assignment: Assignment) => void
  /**
   * Awaited before the group is joined anew, while no record is handed over and this member's commits still count:
   * the moment to finish and commit what is under way, because afterwards its partitions may be another's. It has
   * two seconds (a third of a session time-out below six); then the group is joined all the same.
   */
  readonly onRejoining?: () => Promise<void>
  /**
   * From now until the next `onAssigned` it is not known what is ours: the group is asked for a new assignment, or the
   * connection is gone and the membership with it. Called synchronously, perhaps several times.
   */
  readonly onUnsettled?: () => void
  /**
   * The consumer has stopped for good and its loop is dead (a codec that is not known, a topic that is gone,
   * a refused authorization …). What can pass (broker restart, lost connection) never comes here.
   */
  readonly onFailed: (failure: ConsumerFailure) => void
  /** Bytes fetched per partition and turn; default 256 KiB. A larger single record still arrives. */
  readonly maxBytesPerPartition?: number
  /**
   * For records that are not urgent: while they keep coming, so many bytes are fetched together, or those of 200 ms. The
   * first one after a pause comes at once. Default 1.
   */
  readonly gatheredBytes?: number
}

export interface RecordBatch extends TopicPartition {
  readonly records: readonly KafkaRecord[]
  /** The offset behind the batch: where reading goes on, also when the batch's last offsets held no record. */
  readonly nextOffset: number
  /** The log ends before what was read (its topic was made anew): reading has begun again at its start. */
  readonly startsAnew?: true
  /** What lay below was deleted before it was read (retention, DeleteRecords): reading goes on here, at the log's start. */
  readonly skippedTo?: number
}

export interface Assignment {
  readonly gained: readonly TopicPartition[]
  readonly kept: readonly TopicPartition[]
  readonly lost: readonly TopicPartition[]
  /** Whether this member leads the group (and writes its subscription's status). */
  readonly isLeader: boolean
  readonly memberId: string
  readonly generationId: number
}

export interface ConsumerFailure {
  readonly code: 'UNKNOWN_CODEC' | 'UNKNOWN_TOPIC' | 'NOT_AUTHORIZED' | 'OTHER'
  /** One sentence for a person: what, where (codec, topic, partition when known). */
  readonly message: string
}

export interface CommitPosition extends TopicPartition {
  /** The next offset to be read: everything below it is done. */
  readonly offset: number
  /** At most 4,096 bytes, the broker's limit. */
  readonly metadata: string
}

export interface Consumer {
  /** Resolves after the first join; rejects when the group cannot be joined at all. */
  start(): Promise<void>
  /** Leaves the group. No callback comes afterwards. */
  stop(): Promise<void>
  /** Stops fetching these partitions; what a fetch under way brings for them is dropped and fetched again later. */
  pause(partitions: readonly TopicPartition[]): void
  /** Fetches them again, within about 50 ms, also when every partition was paused. */
  resume(partitions: readonly TopicPartition[]): void
  /** The next record handed over for this partition is the first at or above `offset`. */
  seek(partition: TopicPartition, offset: number): void
  /**
   * Commits positions of partitions that are ours; others are dropped, also when the client retries the request
   * after a rebalance. False when the group's generation is over (the commit did not happen; after the next
   * join everything uncommitted is redelivered). Throws when a topic does not exist, or the broker cannot be reached for
   * long.
   */
  commit(positions: readonly CommitPosition[]): Promise<boolean>
  /** Milliseconds since the epoch of the last acknowledged heartbeat, join or commit; 0 before the first join. */
  readonly lastHeartbeatAt: number
}

export type ProduceResult =
  /** Acknowledged by all in-sync replicas. */
  | { readonly kind: 'acknowledged'; readonly partition: number; readonly offset: number }
  /** The broker refuses this record for good: trying again cannot help. */
  | {
      readonly kind: 'refused'
      readonly code: 'RECORD_TOO_LARGE' | 'NOT_AUTHORIZED' | 'INVALID'
      readonly message: string
    }
  /** Not acknowledged (broker gone, topic missing, time-out): it may or may not have been written; try again. */
  | {
      readonly kind: 'unavailable'
      readonly message: string
      /** The cluster has no such topic. */
      readonly isMissing?: true
      /** Nobody answered in time, the broker's name does not resolve, or too few replicas are in sync; absent for anything else. */
      readonly because?: 'time-out' | 'name' | 'replicas'
    }

export interface Producer {
  /**
   * Writes one record with `acks=all` and never throws. Records of one partition are written in the order of the
   * calls; those that arrive while a request for the same partition is under way travel together in the next one
   * (at most 500 records or about 900 KB a request). It is tried again for `tryForMs`, at most and by default 10 s.
   */
  produce(record: OutgoingRecord, tryForMs?: number): Promise<ProduceResult>
  /** Waits for what is under way, then disconnects. */
  close(): Promise<void>
}

export interface TransactorOptions {
  /** Who it is, beyond the process: `start` ends whoever has the same. */
  readonly transactionalId: string
  /**
   * How long a transaction may stay open, in ms, before the broker takes it back: what a process that was killed in one
   * keeps those waiting who read its partitions.
   */
  readonly timeoutMs: number
}

export interface Transactor {
  /**
   * Fences whoever used the same id before and takes back what that left open. Once it resolves, everything that was
   * written under the id is committed and can be read, or never will be.
   */
  start(): Promise<void>
  /** Writes the records, each to the partition it names, in one transaction. To be called one after the other. */
  write(records: readonly (OutgoingRecord & { readonly partition: number })[]): Promise<TransactionResult>
  close(): Promise<void>
}

/** After anything but `committed` it is of no more use: another one has to be started. */
export type TransactionResult =
  | { readonly kind: 'committed' }
  /** Somebody else has started with the same id, or the transaction was open for too long. Nothing of it is read. */
  | { readonly kind: 'fenced' }
  /** Whether it was written is not known; who starts with the same id and reads what is there finds out. */
  | { readonly kind: 'failed'; readonly message: string }

export interface RangePiece {
  readonly records: readonly KafkaRecord[]
  /** Where the next piece begins. */
  readonly nextOffset: number
}

export interface LogReaderOptions {
  readonly topic: string
  /** Where each partition starts: its beginning, its present end, or an offset (raised to the beginning). */
  readonly from: 'beginning' | 'end' | ((partition: number) => number | undefined)
  readonly onRecord: (record: KafkaRecord) => void
  /** Told once when reading cannot go on and will be tried again (broker gone, topic missing), and again when it does. */
  readonly onTrouble?: (trouble: string | null) => void
}

export interface LogReader {
  /** Begins to follow the topic; resolves when every partition's present end was reached, rejects when it may not be read. */
  start(): Promise<void>
  /** Asks the broker for the ends as they are now and resolves when `onRecord` has seen everything below them. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

export interface TopicDescription {
  readonly topic: string
  readonly partitions: number
  readonly replication: number
}

export interface NewTopic {
  readonly topic: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

export interface PartitionOffsets extends TopicPartition {
  readonly low: number
  /** The offset that the next record will get. */
  readonly high: number
}

export interface OffsetSince extends TopicPartition {
  readonly offset: number | null
}

export interface CommittedOffset extends TopicPartition {
  readonly offset: number
  readonly metadata: string
}

export type CreateTopicsResult = { readonly created: readonly string[]; readonly refused: readonly RefusedTopic[] }
export interface RefusedTopic {
  readonly topic: string
  readonly code: string
  readonly message: string
}

export interface Admin {
  /** Number of brokers in the cluster. While none answers it is asked for again for `withinMs`, by default 15 s. */
  brokerCount(withinMs?: number): Promise<number>
  topics(): Promise<ReadonlySet<string>>
  /** Of the topics that exist; missing ones are left out. */
  describeTopics(topics: readonly string[]): Promise<readonly TopicDescription[]>
  topicConfig(topics: readonly string[]): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>>
  /** Makes those that do not exist and waits until every leader is known; an existing one is neither error nor result. */
  createTopics(topics: readonly NewTopic[]): Promise<CreateTopicsResult>
  /** Low and high offset of every partition of the topics that exist. */
  offsets(topics: readonly string[]): Promise<readonly PartitionOffsets[]>
  /**
   * The first offset of every partition whose record is of this time (ms since the epoch) or later; null when there is
   * none.
   */
  offsetsSince(topics: readonly string[], timestamp: number): Promise<readonly OffsetSince[]>
  /**
   * The ids of the topics that exist, by name: one that was deleted and made again has another id. Empty when the
   * brokers cannot tell (before Kafka 2.8).
   */
  topicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What the group committed; partitions without a commit are left out. */
  committed(groupId: string, topics: readonly string[]): Promise<readonly CommittedOffset[]>
  /** Deletes records below the given offsets (DeleteRecords). */
  deleteRecords(below: readonly (TopicPartition & { readonly offset: number })[]): Promise<void>
  /** Resolves when they are gone; those that do not exist are no error. */
  deleteTopics(topics: readonly string[]): Promise<void>
  /** Deletes a group without members; false when it has members. A missing one is no error. */
  deleteGroup(groupId: string): Promise<boolean>
  /**
   * Sends LeaveGroup for every member whose client id is `clientId`, in every group whose name begins with
   * `groupPrefix`: only for members known to be dead. Answers how many left.
   */
  removeMembers(clientId: string, groupPrefix: string): Promise<number>
}
