/**
 * The parts of the client that it does not export and we use all the same: a connection to the cluster that asks a
 * broker by name. The version is pinned and patched, so they cannot change under us. Typed as narrowly as we use them.
 */
import { createRequire } from 'node:module'
import type { ISocketFactory, logCreator, RetryOptions } from 'kafkajs'

const require = createRequire(import.meta.url)

export interface PartitionMetadata {
  readonly partitionId: number
  /** -1 while there is none. */
  readonly leader: number
  readonly replicas: readonly number[]
}

export interface FetchedMessage {
  readonly offset: string
  readonly timestamp: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Record<string, Buffer | null | (Buffer | null)[]>
  /** What the patch adds: the size of key, value and headers; not with the record formats of before Kafka 0.11. */
  readonly bytes?: number
  readonly isControlRecord: boolean
  readonly batchContext: { readonly firstOffset: string; readonly lastOffsetDelta: number }
}

export interface FetchedPartition {
  readonly partition: number
  readonly highWatermark: string
  readonly lastStableOffset: string
  /** `nextOffset` is what the patch adds: the offset behind the last batch, undefined when there was none. */
  readonly messages: readonly FetchedMessage[] & { readonly nextOffset?: string }
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[]
}

interface ByTopic<Partition> {
  readonly topic: string
  readonly partitions: readonly Partition[]
}

export interface Broker {
  /** By the number of the request; null before it is connected. */
  readonly versions: Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>> | null
  readonly connectionPool: {
    /** Sends a request that the client does not know itself. */
    send<Decoded, Result>(exchange: {
      readonly request: {
        readonly apiKey: number
        readonly apiVersion: number
        readonly apiName: string
        encode(): Promise<Encoder>
      }
      readonly response: {
        decode(payload: Buffer): Promise<Decoded>
        parse(decoded: Decoded): Promise<Result>
      }
    }): Promise<Result>
  }
  metadata(topics: readonly string[]): Promise<{
    readonly topicMetadata: readonly {
      readonly topic: string
      readonly partitionMetadata: readonly PartitionMetadata[]
    }[]
  }>
  produce(request: {
    readonly acks: number
    readonly timeout: number
    readonly topicData: readonly ByTopic<{
      readonly partition: number
      readonly messages: readonly ProducedMessage[]
    }>[]
  }): Promise<{
    readonly topics: readonly {
      readonly topicName: string
      readonly partitions: readonly {
        readonly partition: number
        readonly errorCode: number
        readonly baseOffset: string
      }[]
    }[]
  }>
  fetch(request: {
    readonly maxWaitTime: number
    readonly minBytes: number
    readonly maxBytes: number
    readonly isolationLevel: number
    readonly topics: readonly ByTopic<{
      readonly partition: number
      readonly fetchOffset: string
      readonly maxBytes: number
    }>[]
  }): Promise<{
    readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPartition[] }[]
  }>
  listOffsets(request: {
    readonly isolationLevel: number
    readonly topics: readonly ByTopic<{ readonly partition: number; readonly timestamp: number }>[]
  }): Promise<{ readonly responses: readonly ByTopic<{ readonly partition: number; readonly offset: string }>[] }>
  offsetFetch(request: { readonly groupId: string; readonly topics: readonly [] }): Promise<{
    readonly responses: readonly ByTopic<{
      readonly partition: number
      readonly offset: string
      readonly metadata: string | null
    }>[]
  }>
  deleteRecords(request: {
    readonly topics: readonly ByTopic<{ readonly partition: number; readonly offset: string }>[]
  }): Promise<unknown>
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>
}

export interface ProducedMessage {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, Buffer | null | readonly (Buffer | null)[]>>
}

export interface Cluster {
  readonly brokerPool: {
    /** Asks for these topics (for all when there are none) and brings the list of brokers up to date. */
    refreshMetadata(topics: readonly string[]): Promise<void>
    readonly metadata: {
      readonly topicMetadata: readonly {
        readonly topic: string
        readonly partitionMetadata: readonly PartitionMetadata[]
      }[]
    } | null
    findConnectedBroker(): Promise<Broker>
    findBroker(node: { readonly nodeId: string }): Promise<Broker>
  }
  getNodeIds(): readonly string[]
  findGroupCoordinator(group: { readonly groupId: string }): Promise<Broker>
  disconnect(): Promise<void>
}

export interface ClusterConfig {
  readonly brokers: string[]
  readonly clientId: string
  readonly ssl?: unknown
  readonly sasl?: unknown
  readonly connectionTimeout: number
  readonly requestTimeout: number
  readonly enforceRequestTimeout: true
  readonly metadataMaxAge: number
  readonly allowAutoTopicCreation: false
  readonly isolationLevel: number
  readonly retry: RetryOptions
  readonly socketFactory: ISocketFactory
}

/** Writes what a request consists of; `UVarInt` is what the protocol calls compact. */
export interface Encoder {
  writeBoolean(value: boolean): Encoder
  writeBuffer(bytes: Buffer): Encoder
  writeUVarInt(value: number): Encoder
  writeUVarIntString(text: string): Encoder
}

export interface Decoder {
  readBoolean(): boolean
  readBytes(length: number): Buffer
  readInt16(): number
  readInt32(): number
  readUVarInt(): number
  readUVarIntString(): string | null
  readUVarIntArray<Item>(read: (decoder: Decoder) => Item): Item[] | null
}

export const READ_COMMITTED = 1
export const EARLIEST = -2
export const LATEST = -1
const LOG_LEVEL_WARN = 2

/** Not connected yet; the first request connects. */
export function createCluster(config: ClusterConfig, logCreator: logCreator): Cluster {
  const logger = (requireInternal('loggers') as LoggersModule).createLogger({ level: LOG_LEVEL_WARN, logCreator })
  const ClusterClass = requireInternal('cluster') as new (options: unknown) => Cluster
  return new ClusterClass({ ...config, logger })
}

/** How the client makes its sockets. */
export const openSocket = (requireInternal('network/socketFactory') as () => ISocketFactory)()

export function emptyEncoder(): Encoder {
  return new (requireInternal('protocol/encoder') as new () => Encoder)()
}

export function decoderOf(payload: Buffer): Decoder {
  return new (requireInternal('protocol/decoder') as new (payload: Buffer) => Decoder)(payload)
}

/** Kafka's hash of a key, as Java's producer computes it: a signed 32 bit integer. */
export const murmur2 = requireInternal('producer/partitioners/default/murmur2') as (key: Buffer) => number

/** Drops the records of aborted transactions. */
export const filterAbortedMessages = requireInternal('consumer/filterAbortedMessages') as (fetched: {
  readonly messages: readonly FetchedMessage[]
  readonly abortedTransactions: FetchedPartition['abortedTransactions']
}) => readonly FetchedMessage[]

interface LoggersModule {
  createLogger(options: { readonly level: number; readonly logCreator: logCreator }): unknown
}

function requireInternal(path: string): unknown {
  return require(`kafkajs/src/${path}`)
}
