import { blobLimits, blobLetterOf, deadLetterJson } from '@barnabas/core'
import type { BlobLetter, DeadLetterShape, KafkaRecord, OpenRecord } from '@barnabas/core'
import type { CommittingPartition } from '@barnabas/delivery'
import { blobsOf } from './blob-window.ts'
import type { Blob, WindowMember } from './blob-window.ts'
import type { BlobWriter } from './blob-writer.ts'

export interface BlobLanesOptions {
  /** `account/container`: records of other targets are passed over. */
  readonly target: string
  readonly writer: BlobWriter
  /** How dead letters of a subscription look. */
  readonly shapeOf: (subscriptionId: string) => DeadLetterShape
  readonly timeScale: number
  readonly now: () => number
}

export interface BlobLanes {
  onRecords(partition: CommittingPartition, records: readonly KafkaRecord[]): void
  onLost(partition: CommittingPartition): void
  /** Cuts off what is being written; whoever reads on writes the same blobs. */
  close(): void
}

/** No timer is set for longer: clocks are corrected. */
const longestTimerMs = 3_600_000
/** How long the rest of a window is waited for that an earlier reader had decided on; retention may have taken it away. */
const restOfWindowMs = 30_000

interface Lane {
  /** Nothing was written of it yet: an earlier reader may have decided on its first window. */
  isNew: boolean
  /** The record that the partition rests at, and until when, whatever its headers say later. */
  head: { readonly offset: number; readonly dueAt: number } | null
  timer: NodeJS.Timeout | undefined
}

/** A piece of a partition whose dead letters are written together: a blob for each subscription. */
interface Window {
  readonly partition: CommittingPartition
  /** Open until all is written: it keeps the committed offset at the window's beginning. */
  readonly head: OpenRecord | null
  readonly members: WindowMember[]
  bytes: number
}

/**
 * How dead letters become blobs, each in one of them. One lane per partition, and one window at a time for all of them,
 * so that memory holds one window however long the store is away:
 *
 *     reading ── its head is due later ──► resting: paused, sought back to the head, until that is due (5 min)
 *      ▲   │  └─ another lane is being written ──► hungry: the same, until that is done
 *      │   └──── its head is due ──► a window of what follows ──► committed ──► its blobs are written, one by one
 *      └────────────────────────────────────── committed ◄───────────────────────────────┘
 *
 * Which dead letters share a blob depends on when somebody looks. So that a crash between a write and the commit after it
 * writes nothing twice, a window is committed before it is written, in the words that a commit has: its head is open, the
 * rest of it is done. Whoever reads the partition next finds exactly these, and forms the same blobs, whose names are
 * taken already. A window of one record looks like none, so whoever gains a partition begins with a window of one.
 */
export function createBlobLanes(options: BlobLanesOptions): BlobLanes {
  const { target, writer, timeScale, now } = options
  const delayMs = blobLimits.delayMs * timeScale
  const lanes = new Map<CommittingPartition, Lane>()
  const hungry = new Set<CommittingPartition>()
  const cancel = new AbortController()
  let gathered: Window | null = null
  let isWriting = false
  let restOfWindow: NodeJS.Timeout | undefined

  function onRecords(partition: CommittingPartition, records: readonly KafkaRecord[]): void {
    const lane = laneOf(partition)
    let next = 0
    for (const record of records) {
      if (cancel.signal.aborted) return
      const read = blobLetterOf(record)
      const letter = read?.target === target ? read : null
      const isDecided = partition.wasDone(record.offset)
      if (letter !== null && gathered === null) {
        if (isWriting) return starve(partition, record.offset)
        const dueAt = isDecided ? 0 : dueAtOf(lane, record.offset, letter.time)
        if (dueAt > now()) return rest(partition, lane, record.offset, dueAt)
        lane.head = null
        gathered = { partition, head: partition.take(record.offset), members: [], bytes: 0 }
        add(gathered, memberOf(record, letter))
      } else if (letter !== null && gathered?.partition !== partition) {
        return starve(partition, record.offset)
      } else {
        const member = letter === null ? null : memberOf(record, letter)
        const window = gathered?.partition === partition ? gathered : null
        if (window !== null && !goesInto(window, lane, member, isDecided)) return void write(window, record.offset)
        const open = partition.take(record.offset)
        if (open !== null) partition.finish(open, true)
        if (window !== null && member !== null) add(window, member)
      }
      next = record.offset + 1
    }
    if (gathered?.partition !== partition) return
    if (lane.isNew && partition.wasDone(next)) awaitRest(gathered)
    else void write(gathered, null)
  }

  function laneOf(partition: CommittingPartition): Lane {
    let lane = lanes.get(partition)
    if (lane === undefined) {
      lane = { isNew: true, head: null, timer: undefined }
      lanes.set(partition, lane)
    }
    return lane
  }

  function memberOf(record: KafkaRecord, { subscriptionId, time }: BlobLetter): WindowMember {
    const { offset, timestamp } = record
    const json = deadLetterJson(record, options.shapeOf(subscriptionId))
    return { offset, timestamp, subscriptionId, time, json }
  }

  /** Headers come from anybody: no head waits longer than the delay from the moment it was first seen. */
  function dueAtOf(lane: Lane, offset: number, time: number): number {
    if (lane.head?.offset !== offset) lane.head = { offset, dueAt: Math.min(time, now()) + delayMs }
    return lane.head.dueAt
  }

  function goesInto(window: Window, lane: Lane, member: WindowMember | null, isDecided: boolean): boolean {
    if (lane.isNew) return isDecided
    if (member === null) return true
    if (window.members.length >= blobLimits.eventsMax || window.bytes + member.json.length > blobLimits.bytesMax)
      return false
    return member.time + delayMs - blobLimits.spreadMs * timeScale <= now()
  }

  /** What was decided and is not here yet comes with the next records. */
  function awaitRest(window: Window): void {
    clearTimeout(restOfWindow)
    restOfWindow = setTimeout(() => void write(window, null), restOfWindowMs)
  }

  async function write(window: Window, next: number | null): Promise<void> {
    const { partition, head, members } = window
    clearTimeout(restOfWindow)
    gathered = null
    isWriting = true
    laneOf(partition).isNew = false
    partition.pause()
    if (next !== null) partition.seek(next)
    if ((await partition.committedAll()) && (await writeAll(blobsOf(partition, members, delayMs), partition))) {
      if (head !== null) partition.finish(head, true)
      partition.resume()
    }
    isWriting = false
    feed()
  }

  async function writeAll(blobs: readonly Blob[], partition: CommittingPartition): Promise<boolean> {
    for (const blob of blobs) {
      if (!(await writer.write(blob, () => partition.lost, cancel.signal))) return false
    }
    return true
  }

  function rest(partition: CommittingPartition, lane: Lane, headOffset: number, dueAt: number): void {
    partition.pause()
    partition.seek(headOffset)
    clearTimeout(lane.timer)
    const wakeInMs = Math.min(Math.max(dueAt - now(), 0), longestTimerMs)
    lane.timer = setTimeout(() => partition.resume(), wakeInMs)
  }

  function starve(partition: CommittingPartition, headOffset: number): void {
    partition.pause()
    partition.seek(headOffset)
    hungry.add(partition)
  }

  function feed(): void {
    for (const partition of hungry) partition.resume()
    hungry.clear()
  }

  return {
    onRecords,
    onLost(partition) {
      clearTimeout(lanes.get(partition)?.timer)
      lanes.delete(partition)
      hungry.delete(partition)
      if (gathered?.partition !== partition) return
      clearTimeout(restOfWindow)
      gathered = null
      feed()
    },
    close() {
      cancel.abort()
      clearTimeout(restOfWindow)
      for (const { timer } of lanes.values()) clearTimeout(timer)
    },
  }
}

function add(window: Window, member: WindowMember): void {
  window.members.push(member)
  window.bytes += member.json.length
}
