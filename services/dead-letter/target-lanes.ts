import { targetOfLetter } from '@barnabas/core'
import type { KafkaRecord, OpenRecord } from '@barnabas/core'
import { copiedRecord } from '@barnabas/delivery'
import type { TrackedPartition } from '@barnabas/delivery'
import type { TargetWriter } from './target-writer.ts'

export interface TargetLanesOptions {
  /** As `targetText` writes it: records of other targets are passed over. */
  readonly target: string
  readonly writer: Pick<TargetWriter, 'write'>
}

export interface TargetLanes {
  onRecords(partition: TrackedPartition, records: readonly KafkaRecord[]): void
  onLost(partition: TrackedPartition): void
  /** Cuts off what is being written; whoever reads on writes it again. */
  close(): void
}

/** What is written together; one dead letter may be larger. */
export const targetBatchLimits = { lettersMax: 100, bytesMax: 1024 * 1024 } as const

interface Batch {
  readonly letters: KafkaRecord[]
  readonly open: OpenRecord[]
  bytes: number
}

/**
 * How dead letters reach one target: a batch of one partition at a time, so that memory holds one batch however long the
 * target is away. Partitions whose turn it is not are paused, and sought back to the dead letter that they stand at. An
 * offset is done once its dead letter is accepted or refused for good; what a crash leaves in between is written again.
 */
export function createTargetLanes({ target, writer }: TargetLanesOptions): TargetLanes {
  const hungry = new Set<TrackedPartition>()
  const cancel = new AbortController()
  let isWriting = false

  function onRecords(partition: TrackedPartition, records: readonly KafkaRecord[]): void {
    if (cancel.signal.aborted) return
    const batch: Batch = { letters: [], open: [], bytes: 0 }
    for (const record of records) {
      const isOurs = targetOfLetter(record) === target
      if (isOurs && (isWriting || !hasRoom(batch, record))) {
        partition.pause()
        partition.seek(record.offset)
        hungry.add(partition)
        break
      }
      const open = partition.take(record.offset)
      if (open === null) continue
      if (isOurs) add(batch, record, open)
      else partition.finish(open, false)
    }
    if (batch.open.length > 0) void write(partition, batch)
  }

  function add(batch: Batch, record: KafkaRecord, open: OpenRecord): void {
    batch.letters.push(copiedRecord(record))
    batch.open.push(open)
    batch.bytes += record.value?.length ?? 0
  }

  async function write(partition: TrackedPartition, { letters, open }: Batch): Promise<void> {
    isWriting = true
    partition.pause()
    hungry.add(partition)
    if (await writer.write(letters, () => partition.lost, cancel.signal)) {
      for (const each of open) partition.finish(each, true)
    }
    isWriting = false
    if (cancel.signal.aborted) return
    for (const each of hungry) each.resume()
    hungry.clear()
  }

  return {
    onRecords,
    onLost: (partition) => void hungry.delete(partition),
    close: () => cancel.abort(),
  }
}

function hasRoom({ letters, bytes }: Batch, { value }: KafkaRecord): boolean {
  if (letters.length === 0) return true
  return letters.length < targetBatchLimits.lettersMax && bytes + (value?.length ?? 0) <= targetBatchLimits.bytesMax
}
