import type { OutgoingRecord } from '@barnabas/core'
import type { Producer, ProduceResult } from '@barnabas/kafka'

export interface ProducedMany {
  /** Acknowledged by all in-sync replicas. */
  readonly acknowledged: number
  readonly partitions: ReadonlyMap<number, PartitionShare>
  /** Why the first record failed that did; no further ones were begun then. */
  readonly failure: string | null
}

export interface PartitionShare {
  readonly count: number
  readonly firstOffset: number
  readonly lastOffset: number
}

/** Enough that every partition's next request is full while the one before is under way. */
const outstandingMax = 10_000

/** Produces the records, as many at a time as fill the requests, and stops at the first that fails. Never throws. */
export async function produceMany(
  producer: Pick<Producer, 'produce'>,
  records: Iterable<OutgoingRecord>,
  onAcknowledged: (acknowledged: number) => void = () => undefined,
): Promise<ProducedMany> {
  const partitions = new Map<number, PartitionShare>()
  const outstanding = new Set<Promise<void>>()
  let acknowledged = 0
  let failure: string | null = null

  const settle = (result: ProduceResult): void => {
    if (result.kind !== 'acknowledged') {
      failure ??= result.message
      return
    }
    acknowledged += 1
    partitions.set(result.partition, withOffset(partitions.get(result.partition), result.offset))
    onAcknowledged(acknowledged)
  }

  for (const record of records) {
    if (failure !== null) break
    const produced = producer.produce(record).then((result) => {
      outstanding.delete(produced)
      settle(result)
    })
    outstanding.add(produced)
    // The oldest one: racing all of them would add thousands of callbacks per record.
    if (outstanding.size >= outstandingMax) await outstanding.values().next().value
  }
  await Promise.all(outstanding)
  return { acknowledged, partitions, failure }
}

function withOffset(share: PartitionShare | undefined, offset: number): PartitionShare {
  if (share === undefined) return { count: 1, firstOffset: offset, lastOffset: offset }
  return {
    count: share.count + 1,
    firstOffset: Math.min(share.firstOffset, offset),
    lastOffset: Math.max(share.lastOffset, offset),
  }
}
