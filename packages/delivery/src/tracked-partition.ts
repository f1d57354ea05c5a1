import { commitMetadataRoom, createOffsetTracker, encodeCommitMetadata } from '@barnabas/core'
import type { CommitLabel, KafkaRecord, KnownPlace, OffsetTracker, OpenRecord, TopicPartition } from '@barnabas/core'
import type { CommitPosition, Consumer } from '@barnabas/kafka'
import type { Owner } from './owner.ts'

export interface TrackedPartition extends TopicPartition, Owner {
  /** Null for a record that an earlier reader has done already. */
  take(offset: number): OpenRecord | null
  /** The record is done. `wroteRecord`: because another record was written for it, so commit within 50 ms. */
  finish(record: OpenRecord, wroteRecord: boolean): void
  pause(): void
  resume(): void
  /** Hands over again from this offset, which was not taken yet. */
  seek(offset: number): void
  /** How many records are taken and not finished. */
  readonly openCount: number
}

/** For a reader whose commits say more than how far it has read. */
export interface CommittingPartition extends TrackedPartition {
  /** Whether an earlier reader has done it: `take` would give null for it. */
  wasDone(offset: number): boolean
  /**
   * Resolves with true when all that is done by now is committed, so that whoever reads the partition next finds it so;
   * with false once the partition is lost.
   */
  committedAll(): Promise<boolean>
}

/** For a reader that waits for single records of it. */
export interface HoldablePartition extends CommittingPartition {
  /** Reads no further, whoever resumes it, until `release`. */
  hold(): void
  /** Reads on: what was taken, is not finished and not under way is handed over again. */
  release(): void
  /** As `finish`, for a record that may not have been taken yet. */
  finishAt(offset: number, wroteRecord: boolean): void
  /** Nobody works at the record of this offset any more: it is handed over again, if it is there. */
  handBack(offset: number): void
  /** Nothing below it is read here. */
  readonly start: number
}

/** What the consumer knows of its partition beside what it shows. */
export interface OwnPartition extends HoldablePartition {
  isLost: boolean
  readonly tracker: OffsetTracker
  /** Nothing was handed over since `rewind`: what says that reading has gone on was fetched before it. */
  isRewound: boolean
  readonly place: KnownPlace
  label: CommitLabel
  /** What stands at the broker, null when that is not ours. */
  committed: CommitPosition | null
  /** What may be committed now. */
  position(): CommitPosition
  /** How many of the next records may be taken. */
  takeable(records: readonly KafkaRecord[]): number
  /** Hands over again what was taken, is not finished and not under way. What is done stays done. */
  rewind(): void
  /** Takes no more records, from this one on, until some that are open are finished. False when it may go on at once. */
  fill(next: KafkaRecord): boolean
}

export interface PartitionSurroundings {
  readonly consumer: Pick<Consumer, 'pause' | 'resume' | 'seek'>
  readonly keepsAllDone: boolean
  /** Whether nothing more is to be handed over. */
  readonly isDraining: () => boolean
  /** Whether it may be others' by now; loses the partition then. */
  readonly leaseIsOver: () => boolean
  readonly settled: () => Promise<void> | undefined
  readonly onFinished: (wroteRecord: boolean) => void
  /** Commits what is done, after a commit that is under way; it may fail. */
  readonly commitNow: () => Promise<void>
}

/** Between two tries to commit. */
const troubleDelayMs = 500

export function trackPartition(
  { topic, partition }: TopicPartition,
  place: KnownPlace,
  label: CommitLabel,
  { consumer, keepsAllDone, isDraining, leaseIsOver, settled, onFinished, commitNow }: PartitionSurroundings,
): OwnPartition {
  let tracker = createOffsetTracker(place.offset, place.done)
  let isFull = false
  let isHeld = false

  /** With half of the room free again, so that it does not stop for every record. */
  function hasRoomAgain(): boolean {
    return tracker.takeable([tracker.next], commitMetadataRoom / 2) > 0
  }

  function isCommitted(): boolean {
    const { offset, metadata } = own.position()
    return own.committed?.offset === offset && own.committed.metadata === metadata
  }

  function finished(wroteRecord: boolean): void {
    if (isFull && hasRoomAgain()) {
      isFull = false
      own.resume()
    }
    if (!own.isLost) onFinished(wroteRecord)
  }

  const own: OwnPartition = {
    topic,
    partition,
    place,
    label,
    committed: null,
    isLost: false,
    isRewound: false,
    get tracker() {
      return tracker
    },
    get lost() {
      return own.isLost || leaseIsOver()
    },
    get settled() {
      return own.isLost ? undefined : settled()
    },
    take: (offset) => tracker.take(offset),
    start: place.offset,
    finish(record, wroteRecord) {
      tracker.finish(record)
      finished(wroteRecord)
    },
    finishAt(offset, wroteRecord) {
      tracker.finishAt(offset)
      finished(wroteRecord)
    },
    handBack(offset) {
      tracker.stop(offset)
      // Else `release` does it.
      if (!isHeld) own.rewind()
    },
    hold() {
      isHeld = true
      own.pause()
    },
    release() {
      if (!isHeld) return
      isHeld = false
      own.rewind()
      own.resume()
    },
    wasDone: (offset) => tracker.wasDone(offset),
    async committedAll() {
      while (!own.lost) {
        await commitNow()
        if (own.lost) break
        if (isCommitted()) return true
        await new Promise((resolve) => setTimeout(resolve, troubleDelayMs))
      }
      return false
    },
    pause() {
      if (!own.isLost) consumer.pause([own])
    },
    resume() {
      if (!own.isLost && !isDraining() && !isFull && !isHeld) consumer.resume([own])
    },
    seek(offset) {
      if (!own.isLost) consumer.seek(own, offset)
    },
    get openCount() {
      return tracker.openCount
    },
    position() {
      const offset = tracker.committable
      const metadata = encodeCommitMetadata(own.label, offset, tracker.doneBeyond())
      return { topic, partition, offset, metadata }
    },
    takeable(records) {
      if (!keepsAllDone) return records.length
      return tracker.takeable(
        records.map(({ offset }) => offset),
        commitMetadataRoom,
      )
    },
    rewind() {
      if (own.isLost || tracker.openCount === 0) return
      tracker = tracker.rewound()
      own.isRewound = true
      consumer.seek(own, tracker.next)
      // It has room again; whoever wants nothing read pauses it anew.
      if (isFull) {
        isFull = false
        own.resume()
      }
    },
    fill(next) {
      consumer.seek(own, next.offset)
      // Those before it may have been finished while they were handed over.
      isFull = !hasRoomAgain()
      if (isFull) consumer.pause([own])
      return isFull
    },
  }
  return own
}
