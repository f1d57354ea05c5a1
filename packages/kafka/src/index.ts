export type {
  Admin,
  Assignment,
  CommitPosition,
  CommittedOffset,
  Consumer,
  ConsumerFailure,
  ConsumerOptions,
  CreateTopicsResult,
  KafkaClient,
  LogReader,
  LogReaderOptions,
  NewTopic,
  OffsetSince,
  PartitionOffsets,
  Producer,
  ProduceResult,
  RangePiece,
  RecordBatch,
  RefusedTopic,
  TopicDescription,
  TransactionResult,
  Transactor,
  TransactorOptions,
} from './port.ts'
export type { CodecName } from './codecs.ts'
export type { KafkaConnectOptions } from './connect.ts'
export { connectKafka } from './connect.ts'
export { recordBytes } from './produce-batch.ts'
export { connectionProblemOf } from './connection-problem.ts'
export type { ConnectionProblem } from './connection-problem.ts'
export { ConsumerStartError } from './consumer-failure.ts'
export type { KafkaLogger } from './log-creator.ts'
