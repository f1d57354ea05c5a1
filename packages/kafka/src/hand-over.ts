import type { TopicPartition } from '@barnabas/core'
import type { EachBatchPayload } from 'kafkajs'
import { toRecord } from './kafka-record.ts'
import type { FetchedMessage } from './kafkajs-internals.ts'
import type { KafkaLogger } from './log-creator.ts'
import type { OwnPartitions } from './own-partitions.ts'
import type { ConsumerOptions, RecordBatch } from './port.ts'

/** Hands what was fetched of our partitions over. Never waits and never throws: see `createConsumer`. */
export interface HandOver {
  batch(payload: EachBatchPayload): void
  /** A fetch that held nothing but control records or aborted transactions: the client hands over no batch for it. */
  emptyBatch(fetched: TopicPartition & { readonly lastOffset: string }): void
}

export function createHandOver(
  { groupId, onRecords }: Pick<ConsumerOptions, 'groupId' | 'onRecords'>,
  own: OwnPartitions,
  logger: KafkaLogger,
): HandOver {
  /** The broker no longer had, or does not yet have, the offset that was next, and the client went to the log's start. */
  function noticeJump(
    one: TopicPartition,
    batch: EachBatchPayload['batch'],
  ): Pick<RecordBatch, 'startsAnew' | 'skippedTo'> {
    const expected = own.nextOffset(one)
    const fetched = Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset)
    if (expected === undefined || fetched === expected) return {}
    const what = fetched > expected ? 'records were deleted before they were read' : 'the log ends before what was read'
    logger.warn({ ...one, groupId, expected, fetched }, `${what}; reading goes on at the log's start`)
    return fetched > expected ? { skippedTo: fetched } : { startsAnew: true }
  }

  return {
    batch(payload) {
      const { topic, partition } = payload.batch
      const one = { topic, partition }
      // Not resolved, so the client fetches them again from the same place when it is their turn.
      if (!own.has(one) || own.isPaused(one) || payload.isStale()) return
      const nextOffset = Number(payload.batch.lastOffset()) + 1
      const jump = noticeJump(one, payload.batch)
      own.reached(one, nextOffset)
      payload.resolveOffset(String(nextOffset - 1))
      // The client's types leave out that a header's value may be null.
      const messages = payload.batch.messages as unknown as readonly FetchedMessage[]
      const records = messages.map((message) => toRecord(one, message))
      onRecords({ ...one, records, nextOffset, ...jump })
    },
    emptyBatch({ topic, partition, lastOffset }) {
      const one = { topic, partition }
      if (!own.has(one)) return
      const nextOffset = Number(lastOffset) + 1
      own.reached(one, nextOffset)
      onRecords({ ...one, records: [], nextOffset })
    },
  }
}
