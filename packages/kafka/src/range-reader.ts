import type { TopicPartition } from '@barnabas/core'
import type { ClusterConnection } from './cluster-connection.ts'
import { retrying } from './cluster-connection.ts'
import { brokerErrorType } from './kafka-error.ts'
import { toRecord } from './kafka-record.ts'
import { EARLIEST, READ_COMMITTED, filterAbortedMessages } from './kafkajs-internals.ts'
import type { FetchedPartition } from './kafkajs-internals.ts'
import type { RangePiece } from './port.ts'

const PIECE_BYTES = 1024 * 1024
/** The broker answers at once when there is something; how long it may look for it. */
const MAX_WAIT_MS = 500

/** See the port. What is read is committed: records of aborted transactions are left out. */
export async function* readRange(
  connection: ClusterConnection,
  { topic, partition, from, to }: TopicPartition & { readonly from: number; readonly to: number },
): AsyncGenerator<RangePiece> {
  let position = from
  while (position < to) {
    const fetched = await retrying(() => fetchAt(position))
    if (fetched === 'out-of-range') {
      // Retention was faster. Above the end: the topic was made anew, and nothing of the range is there.
      const low = await retrying(async () => (await connection.listOffsets(topic, EARLIEST)).get(partition) ?? 0)
      position = low > position ? low : to
      continue
    }
    const records = filterAbortedMessages(fetched)
      .filter(({ isControlRecord, offset }) => !isControlRecord && Number(offset) >= position && Number(offset) < to)
      .map((message) => toRecord({ topic, partition }, message))
    position = Math.max(position, Number(fetched.messages.nextOffset ?? position))
    yield { records, nextOffset: Math.min(position, to) }
  }

  async function fetchAt(offset: number): Promise<FetchedPartition | 'out-of-range'> {
    try {
      const leader = await connection.leader({ topic, partition })
      if (leader === undefined) throw new Error(`topic ${topic} has no leader for partition ${partition} now`)
      const { responses } = await leader.fetch({
        maxWaitTime: MAX_WAIT_MS,
        minBytes: 1,
        maxBytes: PIECE_BYTES,
        isolationLevel: READ_COMMITTED,
        topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: PIECE_BYTES }] }],
      })
      const fetched = responses[0]?.partitions[0]
      if (fetched === undefined) throw new Error(`the broker's answer does not cover ${topic}/${partition}`)
      return fetched
    } catch (error) {
      if (brokerErrorType(error) === 'OFFSET_OUT_OF_RANGE') return 'out-of-range'
      connection.forget(topic)
      throw error
    }
  }
}
