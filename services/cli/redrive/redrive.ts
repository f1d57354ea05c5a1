import { setTimeout as sleep } from 'node:timers/promises'
import { planRedrive, redriveMarkRecord, rfc3339 } from '@barnabas/core'
import type { OutgoingRecord, RedriveOptions, RedriveRefusal } from '@barnabas/core'
import { recordBytes } from '@barnabas/kafka'
import type { PartitionOffsets, Transactor } from '@barnabas/kafka'
import type { Cluster } from '../cluster.ts'
import type { DeadLetterRecord, InputOf } from '../dead-letter-record.ts'
import { positionText } from '../dead-letter-record.ts'
import type { DeadLetterSelection } from '../dead-letter-selection.ts'
import { isSelected } from '../dead-letter-selection.ts'
import { Refusal } from '../refusal.ts'
import { storedDeadLetters } from '../stored-dead-letters.ts'
import type { OffsetSet } from './offset-set.ts'

/** At most so many dead letters in one transaction, and at most so many bytes. */
const transactionRecordsMax = 1_000
const transactionBytesMax = 8 * 1024 * 1024
/** Clocks differ: a mark is taken for gone an hour before it may be. */
const markMarginMs = 3_600_000

export interface RedriveRun {
  readonly cluster: Pick<Cluster, 'names'> & { readonly kafka: Pick<Cluster['kafka'], 'readRange'> }
  /** Up to here and no further: what becomes a dead letter meanwhile is for the next time. */
  readonly partitions: readonly PartitionOffsets[]
  readonly topicIds: ReadonlyMap<string, string>
  readonly selection: DeadLetterSelection
  readonly inputOf: InputOf
  readonly marks: OffsetSet
  /** Null: only say what would be sent. */
  readonly transactor: Pick<Transactor, 'write'> | null
  readonly plan: Omit<RedriveOptions, 'now'>
  /** The largest record that the tier takes. */
  readonly recordBytesMax: number
  /** How long marks are kept; Infinity for ever. */
  readonly marksKeptMs: number
  /** Dead letters per second at the most, null for as fast as it goes. */
  readonly perSecond: number | null
  readonly by: string
  readonly onProgress: (tally: RedriveTally) => void
}

export interface RedriveTally {
  readonly records: number
  readRecords: number
  selected: number
  sent: number
  /** Were sent again before. */
  alreadySent: number
  readonly left: Map<RedriveRefusal, { count: number; readonly first: string; readonly detail: string }>
}

interface Redriven {
  readonly record: OutgoingRecord & { readonly partition: number }
  readonly mark: OutgoingRecord & { readonly partition: number }
  /** Of the record. */
  readonly bytes: number
}

/**
 * Sends what is selected and was not sent before. Each transaction holds retry records and their marks, so that
 * a dead letter is sent if and only if it is marked: whatever kills this process, and whenever, the next one that
 * reads the marks goes on exactly where it ended. Throws a `Refusal` when a transaction fails; what was sent is in `tally`.
 */
export async function redrive(run: RedriveRun): Promise<RedriveTally> {
  const tally: RedriveTally = {
    records: run.partitions.reduce((sum, { low, high }) => sum + high - low, 0),
    readRecords: 0,
    selected: 0,
    sent: 0,
    alreadySent: 0,
    left: new Map(),
  }
  const startedAt = Date.now()
  const recordsMax = Math.min(transactionRecordsMax, run.perSecond ?? Infinity)
  let batch: Redriven[] = []
  let batchBytes = 0

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    await commit(run, batch, tally)
    tally.sent += batch.length
    batch = []
    batchBytes = 0
    run.onProgress(tally)
    // Between the transactions, so that none is open while nothing happens.
    if (run.perSecond !== null) await sleep(Math.max(0, startedAt + (tally.sent / run.perSecond) * 1_000 - Date.now()))
  }

  for await (const { letters, readRecords } of storedDeadLetters(run.cluster, run.partitions, run.inputOf)) {
    for (const letter of letters) {
      const redriven = redrivenOf(run, letter, tally)
      if (redriven === null) continue
      if (batchBytes + redriven.bytes > transactionBytesMax) await flush()
      batch.push(redriven)
      batchBytes += redriven.bytes
      if (batch.length >= recordsMax) await flush()
    }
    tally.readRecords = readRecords
    // With every piece that was read: what waits for the next one would keep the whole of this one in memory.
    await flush()
    run.onProgress(tally)
  }
  return tally
}

function redrivenOf(run: RedriveRun, letter: DeadLetterRecord, tally: RedriveTally): Redriven | null {
  if (!isSelected(letter, run.selection)) return null
  tally.selected += 1
  const { topic, partition, offset, timestamp } = letter.record
  if (run.marks.has(topic, partition, offset)) {
    tally.alreadySent += 1
    return null
  }
  const now = Date.now()
  const leave = (because: RedriveRefusal, detail: string) => {
    const entry = tally.left.get(because)
    if (entry === undefined) tally.left.set(because, { count: 1, first: positionText(letter.record), detail })
    else entry.count += 1
    return null
  }
  if (now - timestamp > run.marksKeptMs - markMarginMs)
    return leave('too-old', `it was written at ${rfc3339(timestamp)}`)
  const planned = planRedrive(letter.record, letter.reason, { ...run.plan, now })
  if (planned.kind === 'left') return leave(planned.because, planned.detail)
  const { record, state } = planned
  const bytes = recordBytes(record)
  if (bytes > run.recordBytesMax) return leave('too-large', `it has ${bytes} bytes`)
  const mark = redriveMarkRecord({
    topic,
    partition,
    offset,
    topicId: run.topicIds.get(topic) ?? null,
    subscription: state.subscriptionId,
    redrives: state.redrives,
    by: run.by,
    at: rfc3339(now),
  })
  return {
    record: { ...record, partition: record.partition ?? 0 },
    mark: { topic: run.cluster.names.redrives, partition: 0, ...mark, headers: {} },
    bytes,
  }
}

async function commit({ transactor }: RedriveRun, batch: readonly Redriven[], { sent }: RedriveTally): Promise<void> {
  if (transactor === null) return
  const written = await transactor.write(batch.flatMap(({ record, mark }) => [record, mark]))
  switch (written.kind) {
    case 'committed':
      return
    case 'fenced':
      throw new Refusal(
        `another redrive has begun, or the brokers did not answer for 10 s; this one ends, after it has sent ${sent}. ` +
          'Saying it again goes on with what nobody has sent',
      )
    case 'failed':
      throw new Refusal(
        `${written.message}; this redrive ends, after it has sent ${sent} for certain. ` +
          'Saying it again goes on where it ended, and sends nothing twice',
      )
    default:
      written satisfies never
  }
}
