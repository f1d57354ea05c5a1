export { createCarryOut } from './carry-out.ts'
export type { CarriedOut, CarryOut, HeldTopic, HeldTopics, NoRequest, Parcel } from './carry-out.ts'
export { createDeliverer } from './deliver.ts'
export type { Deliverer, Delivery, DeliveryReport, Sender } from './deliver.ts'
export { createDoubledRecords } from './doubled-records.ts'
export type { DoubledRecords } from './doubled-records.ts'
export { drain, writeBeforeExitMs, writeBeforeLeavingMs } from './drain.ts'
export type { DrainLimits } from './drain.ts'
export {
  inFlightBytesMax,
  ownShareBytes,
  readBytesMax,
  retryBytesMax,
  tierLanesBytesMax,
  waitingBytesMax,
  waitingMaxOf,
  waitingRecordsMax,
  waitingRetriesMax,
  waitingRetryBytesMax,
} from './limits.ts'
export { createForbiddenAddresses } from './forbidden-addresses.ts'
export type { Logger } from './logger.ts'
export { createMemoryWait } from './memory-wait.ts'
export { createProbations } from './probations.ts'
export type { HealthPort, Probations } from './probations.ts'
export { createRates } from './rates.ts'
export type { Rates } from './rates.ts'
export { createReadBudget } from './read-budget.ts'
export type { ReadBudget } from './read-budget.ts'
export { createReadGate } from './read-gate.ts'
export type { InHand } from './read-gate.ts'
export type { Recipient } from './recipient.ts'
export { createRecipients } from './recipients.ts'
export type { KnownSubscription, KnownSubscriptions } from './recipients.ts'
export { createRecordCleaner } from './record-cleaner.ts'
export type { Owner } from './owner.ts'
export { copiedRecord } from './record-copy.ts'
export { retryRecordBytes, sourceRecordBytes } from './record-size.ts'
export { createRetryHandle } from './retry-handle.ts'
export type { RetryRecord } from './retry-handle.ts'
export { createTrackedConsumer } from './tracked-consumer.ts'
export type { TrackedConsumer } from './tracked-consumer.ts'
export type { CommittingPartition, HoldablePartition, TrackedPartition } from './tracked-partition.ts'
export { createWindow } from './window.ts'
export type { Batching, Window } from './window.ts'
export { createWriters } from './writers.ts'
export type { Writers } from './writers.ts'
export { createReporter, sentenceOf } from './report.ts'
export type { DeliveryCounts } from './report.ts'
