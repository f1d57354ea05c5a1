import { offsetsOutside } from '@barnabas/core'
import type { FoundPartition, KafkaRecord, StartPlace, TopicPartition } from '@barnabas/core'
import type { Assignment, CommitPosition, Consumer, ConsumerFailure, KafkaClient } from '@barnabas/kafka'
import { createCommitSchedule } from './commit-schedule.ts'
import type { Logger } from './logger.ts'
import { placePartitions } from './placing.ts'
import type { PlacingOptions } from './placing.ts'
import { watchRecreatedTopics } from './recreated-topics.ts'
import { trackPartition } from './tracked-partition.ts'
import type { HoldablePartition, OwnPartition, PartitionSurroundings } from './tracked-partition.ts'

/**
 * A consumer whose partitions each have an offset tracker, and whose commits follow what is done.
 *
 *     gained ──► paused ──► its place is looked up and committed ──► resumed: records are handed over
 *     kept   ──► goes on where it was
 *     lost   ──► `lost` is true: what is still under way for it is forgotten, nothing of it is committed
 *
 * The membership is a lease: a process that was asleep (SIGSTOP, a suspended machine) for longer than the session
 * time-out has lost its partitions to others before it can know, so all are lost then, and are looked up anew when
 * the group answers.
 *
 * A partition's place is committed before its first record is handed over, so that a subscription's start is
 * decided once, whoever crashes when.
 */
export interface TrackedConsumer {
  start(): Promise<void>
  /** Stops fetching; what was handed over may still be finished. */
  pauseAll(): void
  /** Hands over again, when it is read again, what was taken, is not finished and not under way. */
  rewind(): void
  /** Commits what is done and leaves the group; what is still under way is lost to this process. */
  stop(): Promise<void>
  readonly lastHeartbeatAt: number
}

export interface TrackedConsumerOptions {
  readonly kafka: KafkaClient
  readonly groupId: string
  readonly topics: readonly string[]
  /** How long the group waits for a silent member: how long a heartbeat's acknowledgement is good for. */
  readonly sessionTimeoutMs: number
  /** Stands in the metadata of every commit: which life of the subscription it belongs to, 0 where there are none. */
  readonly generation: number
  /** Where a gained partition starts; when that is unknown the consumer does not go on (`onNoPlace` is called). */
  readonly startPlace: (partition: TopicPartition, found: FoundPartition) => StartPlace
  readonly onNoPlace: (partition: TopicPartition) => void
  /** What must be known before a gained partition is read; on trouble it is asked again. */
  readonly beforePlaced?: () => Promise<void>
  /** A gained partition has its place, and nothing of it was handed over yet. */
  readonly onGained?: (partition: HoldablePartition) => void
  /** Must not wait: takes each record, or seeks back to the first that it does not take. */
  readonly onRecords: (partition: HoldablePartition, records: readonly KafkaRecord[]) => void
  readonly onLost?: (partition: HoldablePartition) => void
  /**
   * Before the group is joined anew: hand nothing more over, and finish what is under way. What is finished when it
   * resolves is committed before the join, so that no other member does it again. Called too, without waiting, when the
   * membership ended without a word.
   */
  readonly onRejoining?: () => Promise<void>
  /** All partitions of this assignment have their place, perhaps once more: after the lease was over, or a topic was made anew. */
  readonly onPlaced: (assignment: Assignment) => void
  readonly onFailed: (failure: ConsumerFailure) => void
  /** So many offsets were gone before anybody read them. */
  readonly onSkipped?: (partition: TopicPartition, offsets: number) => void
  readonly onCommitted?: (positions: readonly CommitPosition[]) => void
  readonly maxBytesPerPartition?: number
  readonly gatheredBytes?: number
  /**
   * A group that one subscription has for itself takes no more records before what is done of them would not fit into a
   * commit's metadata, so nothing that is done is forgotten. A shared tier must not stop for one of its subscriptions.
   */
  readonly keepsAllDone: boolean
  /**
   * Looks every two seconds whether one of the topics was deleted and made again, and reads it from its beginning then:
   * once it has grown beyond what was read of the former one, nothing else tells. Where many consumers run, somebody
   * asks for all of them.
   */
  readonly watchesTopics?: boolean
  readonly logger: Logger
}

/** After a delivery a commit may wait this long: what a crash in between redelivers. */
const commitIntervalMs = 200
/** After a written record it may not: a crash in between would make one event two (design, "Counting": 50 ms). */
const commitAfterWriteMs = 20
const troubleDelayMs = 500

export function createTrackedConsumer(options: TrackedConsumerOptions): TrackedConsumer {
  const { kafka, groupId, topics, logger } = options
  const partitions = new Map<string, OwnPartition>()
  let epoch = 0
  let present: Assignment | null = null
  let stopped = false
  let draining = false
  /** From the moment when the group is asked for a new assignment until it is there. */
  let unsettled: PromiseWithResolvers<void> | undefined
  let rejoining: Promise<void> | undefined
  const commits = createCommitSchedule(commitDone)

  const consumer: Consumer = kafka.consumer({
    groupId,
    topics,
    ...(options.maxBytesPerPartition === undefined ? {} : { maxBytesPerPartition: options.maxBytesPerPartition }),
    ...(options.gatheredBytes === undefined ? {} : { gatheredBytes: options.gatheredBytes }),
    onRecords(batch) {
      const known = partitions.get(keyOf(batch))
      if (known === undefined || draining) return
      if (known.isRewound && batch.records.length === 0) return
      known.isRewound = false
      const first = batch.records[0]?.offset ?? batch.nextOffset
      const partition = batch.startsAnew === true ? startAnew(known, first) : known
      if (batch.skippedTo !== undefined) skip(partition, batch.skippedTo)
      // After a seek the client may still hand over what is behind us.
      const fresh = batch.records.filter((record) => record.offset >= partition.tracker.next)
      const takeable = partition.takeable(fresh)
      if (takeable > 0) options.onRecords(partition, takeable === fresh.length ? fresh : fresh.slice(0, takeable))
      const left = fresh[takeable]
      const isTaken = takeable === 0 || partition.tracker.next > (fresh[takeable - 1]?.offset ?? 0)
      if (left !== undefined && isTaken) return leave(partition, left)
      const last = batch.records.at(-1)
      if (last === undefined || partition.tracker.next > last.offset) partition.tracker.skipTo(batch.nextOffset)
      if (partition.tracker.openCount === 0) commits.within(commitIntervalMs)
    },
    onAssigned(assignment) {
      epoch += 1
      present = assignment
      for (const lost of assignment.lost) lose(partitions.get(keyOf(lost)))
      settle()
      const unplaced = [...assignment.gained, ...assignment.kept].filter((each) => !partitions.has(keyOf(each)))
      consumer.pause(unplaced)
      void placeUntilDone(assignment, unplaced, epoch)
    },
    async onRejoining() {
      await finishing()
      await commits.now()
    },
    onUnsettled() {
      if (unsettled !== undefined || present === null || stopped) return
      unsettled = Promise.withResolvers()
      void finishing()
    },
    onFailed: options.onFailed,
  })

  /** The next record is not taken, unless those before it were finished while they were handed over. */
  function leave(own: OwnPartition, next: KafkaRecord): void {
    if (!own.fill(next)) return
    const { topic, partition } = own
    logger.debug({ group: groupId, topic, partition }, 'what is done would not fit into a commit: reading waits')
  }

  const surroundings: PartitionSurroundings = {
    consumer,
    keepsAllDone: options.keepsAllDone,
    isDraining: () => draining,
    leaseIsOver,
    settled: () => unsettled?.promise,
    commitNow: () => commits.now(),
    onFinished: (wroteRecord) => commits.within(wroteRecord ? commitAfterWriteMs : commitIntervalMs),
  }
  const placing: PlacingOptions = {
    ...options,
    consumer,
    track: ({ at, place, label }) => trackPartition(at, place, label, surroundings),
    onSkipped: options.onSkipped,
  }
  const recreated = watchRecreatedTopics({
    kafka,
    topics,
    partitions: () => [...partitions.values()],
    onRecreated: placeRecreated,
    groupId,
    logger,
  })

  /** Asks once per rejoin, whichever way it begins. */
  function finishing(): Promise<void> {
    rejoining ??= options.onRejoining?.() ?? Promise.resolve()
    return rejoining
  }

  function settle(): void {
    unsettled?.resolve()
    unsettled = undefined
    rejoining = undefined
  }

  function lose(partition: OwnPartition | undefined): void {
    if (partition === undefined) return
    partitions.delete(keyOf(partition))
    partition.isLost = true
    options.onLost?.(partition)
  }

  /** Whether the last acknowledged heartbeat is too old for anything to be written. Then everything is lost. */
  function leaseIsOver(): boolean {
    if (Date.now() - consumer.lastHeartbeatAt <= options.sessionTimeoutMs) return false
    if (partitions.size > 0) {
      logger.warn(
        { group: groupId },
        'no heartbeat was acknowledged within the session time-out: partitions may be others’ now',
      )
      for (const partition of partitions.values()) lose(partition)
      void placeAnew(epoch)
    }
    return true
  }

  /** The group may still count us as its member (the broker was away too): then no join will tell what is ours. */
  async function placeAnew(ofEpoch: number): Promise<void> {
    const { gained = [], kept = [] } = present ?? {}
    consumer.pause([...gained, ...kept])
    while (ofEpoch === epoch && !stopped && Date.now() - consumer.lastHeartbeatAt > options.sessionTimeoutMs) {
      await new Promise((resolve) => setTimeout(resolve, troubleDelayMs))
    }
    if (ofEpoch === epoch && !stopped && present !== null) await placeUntilDone(present, [...gained, ...kept], ofEpoch)
  }

  /** Each goes on once it has its place; on trouble later, unless the next join made it moot. */
  async function placeUntilDone(assignment: Assignment, unplaced: readonly TopicPartition[], ofEpoch: number) {
    const isMoot = () => ofEpoch !== epoch || stopped
    const placed = await placePartitions(placing, unplaced, isMoot)
    if (placed === null || isMoot()) return
    for (const each of placed) {
      partitions.set(keyOf(each), each)
      consumer.seek(each, each.tracker.next)
      options.onGained?.(each)
      each.resume()
    }
    options.onPlaced(assignment)
  }

  /**
   * What is under way of the former topic is finished, like in `startAnew`; what was read of the new one as if it were the
   * former is read once more.
   */
  async function placeRecreated(anew: readonly TopicPartition[]): Promise<void> {
    if (present === null || draining) return
    consumer.pause(anew)
    for (const partition of anew) partitions.delete(keyOf(partition))
    await placeUntilDone(present, anew, epoch)
  }

  /** What lies below was deleted before it was read. What was done of it in an earlier life does not count. */
  function skip(partition: OwnPartition, to: number): void {
    const { tracker, label } = partition
    const skipped = offsetsOutside(tracker.doneBeyond(), tracker.next, to)
    tracker.skipTo(to)
    if (skipped === 0) return
    partition.label = { ...label, skippedOffsets: label.skippedOffsets + skipped }
    commits.within(commitIntervalMs)
    options.onSkipped?.(partition, skipped)
  }

  /**
   * The log has fewer records than were read of it: its topic was made anew. What is in it now was never taken,
   * though its offsets were. What is under way of the former one is finished, but its offsets say nothing here.
   */
  function startAnew(former: OwnPartition, offset: number): OwnPartition {
    const { place: from, label } = former
    // The id of the new topic is not known yet.
    const anewLabel = { ...label, topicId: null, voidStart: from.start ?? label.voidStart, isAnew: true }
    const anew = trackPartition(former, { ...from, offset, done: [] }, anewLabel, surroundings)
    partitions.set(keyOf(anew), anew)
    return anew
  }

  async function commitDone(): Promise<void> {
    if (leaseIsOver()) return
    const due = [...partitions.values()].flatMap((partition) => {
      const position = partition.position()
      const { committed } = partition
      const isNew = committed?.offset !== position.offset || committed.metadata !== position.metadata
      return isNew ? [{ partition, position }] : []
    })
    if (due.length === 0) return
    const positions = due.map(({ position }) => position)
    try {
      // Of an earlier generation; what is kept in the next one is still to be committed.
      if (!(await consumer.commit(positions))) return commits.within(troubleDelayMs)
      for (const { partition, position } of due) partition.committed = position
      options.onCommitted?.(positions)
    } catch (error) {
      logger.warn({ group: groupId, error: messageOf(error) }, 'commit failed; trying again')
      commits.within(troubleDelayMs)
    }
  }

  return {
    async start() {
      await consumer.start()
      if (options.watchesTopics === true) recreated.start()
    },
    pauseAll() {
      draining = true
      recreated.stop()
      consumer.pause([...partitions.values()])
    },
    rewind() {
      if (!draining) for (const partition of partitions.values()) partition.rewind()
    },
    async stop() {
      draining = true
      recreated.stop()
      await commits.now()
      stopped = true
      commits.stop()
      // What could not be finished in time is the next owner's.
      for (const partition of partitions.values()) lose(partition)
      settle()
      await consumer.stop()
    },
    get lastHeartbeatAt() {
      return consumer.lastHeartbeatAt
    },
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
