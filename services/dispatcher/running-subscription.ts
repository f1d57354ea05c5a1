import { awaitsHandshake, blocksOf, decodeCommitMetadata, failedText, startOffsetOf, startPlace } from '@barnabas/core'
import type {
  BlockedEvent,
  InPlaceEvent,
  KafkaRecord,
  Names,
  SourcePosition,
  StatusRecord,
  Subscription,
} from '@barnabas/core'
import {
  copiedRecord,
  createReadGate,
  createTrackedConsumer,
  createWindow,
  drain,
  inFlightBytesMax,
  sourceRecordBytes,
  waitingMaxOf,
} from '@barnabas/delivery'
import type { Deliverer, DrainLimits, InHand, Logger, Probations, Rates, ReadBudget, Window } from '@barnabas/delivery'
import type { Assignment, ConsumerFailure, KafkaClient } from '@barnabas/kafka'
import type { InPlaceEvents } from '@barnabas/host'
import { createHandle } from './handle.ts'
import type { Handshakes } from './handshakes.ts'
import { createInPlace } from './in-place.ts'
import { createOrderLanes } from './order-lanes.ts'
import { createOwnedShare } from './owned-share.ts'
import { createSpacedCall } from './spaced-call.ts'

/** One subscription while this process reads its topics. */
export interface RunningSubscription {
  /** Takes up a revision that reads the same topics, or a pause and its end, without joining the group anew. */
  replace(subscription: Subscription): void
  /** Its status is another: its receiver may have agreed. */
  statusChanged(): void
  /** What is known of its events that stay where they are is another. */
  inPlaceChanged(): void
  /** An operator has said something of a block. */
  resolved(): void
  /** Stops taking records, drains what is in flight (`drain`), commits, leaves. */
  stop(limits: DrainLimits): Promise<void>
  readonly lastHeartbeatAt: number
  /** Whether this process leads the group. */
  readonly isLeader: boolean
}

/** What the commits of all members say. */
export interface FoundOfGroup {
  readonly skippedOffsets: number
  /** Topics that were deleted and made again. */
  readonly anew: readonly string[]
  readonly topicIds: ReadonlyMap<string, string>
  /** The events that it is blocked at. */
  readonly blocked: readonly BlockedEvent[]
}

/** Why a subscription cannot go on. */
export type FailureCode = ConsumerFailure['code'] | 'NO_PLACE' | 'HANDSHAKE' | 'NO_REQUEST' | 'FORBIDDEN_ADDRESS'

export interface RunningSubscriptionOptions {
  readonly subscription: Subscription
  readonly kafka: KafkaClient
  readonly names: Names
  readonly deliverer: Deliverer
  readonly probations: Probations
  readonly rates: Rates
  readonly budget: ReadBudget
  readonly sessionTimeoutMs: number
  readonly timeScale: number
  readonly status: () => StatusRecord | null
  readonly handshakes: Pick<Handshakes, 'make'>
  readonly inPlaceEvents: InPlaceEvents
  readonly resolutionOf: (event: InPlaceEvent) => 'start' | 'skip' | null
  /** Whether nothing of it may be attempted because an operator said so; asked when it is replaced. */
  readonly isPaused: (subscription: Subscription) => boolean
  /** This process leads the group and every start offset is committed: the subscription runs. */
  readonly onRunning: (subscription: Subscription, found: FoundOfGroup) => void
  /** It cannot go on, and no retry can help. */
  readonly onFailed: (reason: string, failure: FailureCode) => void
  /** Which topic of that name it begins to read. */
  readonly onTopicId: (topic: string, id: string) => void
  readonly onFiltered: (subscriptionId: string) => void
  readonly onNoRequest: (subscription: Subscription, message: string) => void
  readonly onSkipped: (subscriptionId: string, offsets: number) => void
  readonly logger: Logger
}

const lookAgainMs = 100
/** How often the leader looks at what the others have skipped. */
const lookAtOthersMs = 60_000
/** How often the leader writes how many events are parked, when that has changed. */
const tellParked = { soonMs: 1_000, everyMs: 10_000 }
/** How often the leader looks whether a process is gone whose counts are to be taken over, before `timeScale`. */
const takeOverEveryMs = 30_000

/** Joins the subscription's group. Resolves after the first join. */
export async function runSubscription(options: RunningSubscriptionOptions): Promise<RunningSubscription> {
  const { kafka, names, deliverer, probations, rates, logger } = options
  let subscription = options.subscription
  const { id, generation } = subscription
  const groupId = names.subscriptionGroup(id)
  const cancel = new AbortController()
  let leading: Assignment | null = null
  let stopped = false
  /** Since the last commit. */
  let hasSkipped = false
  let lookingAtOthers: NodeJS.Timeout | undefined
  /** With it the leader has said `Running`, and says it again when something beside it has changed. */
  let told: Omit<FoundOfGroup, 'blocked'> | null = null

  /** Made by this process, as the group's leader. */
  let handshake: { readonly revision: number; readonly stop: AbortController } | null = null

  /** Before its receiver has agreed nothing is read, and what was read for the former revision waits. */
  const isOpen = () => subscription.handshake === 'none' || !awaitsHandshake(subscription, options.status())

  let isPaused = options.isPaused(subscription)
  let blocked = blocksNow()
  function blocksNow(): readonly BlockedEvent[] {
    return blocksOf(subscription, () => options.inPlaceEvents.inPlaceOf(id, generation))
  }

  /** Of a blocked one nothing is attempted, on no partition (row B5); nor of a paused one. */
  const mayAttempt = () => blocked.length === 0 && !isPaused && isOpen()

  const window: Window = createWindow({
    limit: () => (mayAttempt() ? probations.limitOf(subscription, window) : 0),
    bytesMax: inFlightBytesMax,
    budget: options.budget,
    onFreed() {
      giveBack()
      gate.freed()
    },
    lane: (onTurn) => rates.lane(id, onTurn),
  })
  const share = createOwnedShare({
    admin: kafka.admin,
    topics: subscription.topics,
    isLimited: () => rates.isLimited(id),
    owns: (owned) => rates.owns(id, 'source', owned),
    logger,
  })
  /** With those that wait for others before them (`order`). */
  const inHand: InHand = {
    get waiting() {
      // Of other keys more is read while these wait; of a partition that is held it is not.
      const staying = subscription.order === 'key' ? inPlace.count : 0
      return window.waiting + handle.lanes.waiting + staying
    },
    get waitingBytes() {
      return window.waitingBytes + handle.lanes.waitingBytes
    },
    get inFlight() {
      return window.inFlight
    },
    get inFlightBytes() {
      return window.inFlightBytes
    },
  }
  const gate = createReadGate(inHand, options.budget, () => waitingMaxOf(subscription.batch), mayRead)
  const parked = createSpacedCall(tell, tellParked)
  const detach = probations.attach(id, {
    window,
    onChange() {
      giveBack()
      gate.freed()
      inPlace.look()
      tell()
    },
    onParked: () => parked.ask(),
  })
  const takingOver = setInterval(takeOver, Math.max(1_000, takeOverEveryMs * options.timeScale)).unref()
  const inPlace = createInPlace({
    subscription: () => subscription,
    status: options.status,
    events: options.inPlaceEvents,
    mayAttempt: mayRead,
    resolutionOf: options.resolutionOf,
    attempt: (...due) => handle.attempt(...due),
    settle: (verdict, { partition, record, event: { state } }) =>
      deliverer.settle(verdict, { record, state }, { subscription, event: null }, partition),
    readRecord: (at) => readRecord(kafka, at),
    onOver: (partition, lane) => handle.lanes.over(partition, lane),
    copyOf: copiedRecord,
    bytesOf: sourceRecordBytes,
    now: Date.now,
    logger,
  })
  const handle = createHandle({
    subscription: () => subscription,
    window,
    deliverer,
    cancel: cancel.signal,
    onFiltered: options.onFiltered,
    onNoRequest: options.onNoRequest,
    inPlace,
    lanes: (begin) =>
      createOrderLanes({
        begin,
        copyOf: (waiting) => ({ ...waiting, record: copiedRecord(waiting.record), read: null }),
        budget: options.budget,
      }),
    onNothingBegun: () => rates.giveBack(id),
  })
  const consumer = createTrackedConsumer({
    kafka,
    groupId,
    topics: subscription.topics,
    sessionTimeoutMs: options.sessionTimeoutMs,
    generation,
    keepsAllDone: true,
    startPlace(at, found) {
      if (found.topicId !== undefined) options.onTopicId(at.topic, found.topicId)
      const status = options.status()
      const ofThisLife = status?.generation === generation ? status : null
      return startPlace({
        ...found,
        generation,
        start: startOffsetOf(subscription.startOffsets, at.topic, at.partition),
        startedId: ofThisLife?.topicIds[at.topic],
        ranBefore: ofThisLife?.startedTopics.includes(at.topic) ?? false,
        wasMissing: ofThisLife?.missedTopics.includes(at.topic) ?? false,
      })
    },
    onNoPlace: ({ topic, partition }) =>
      options.onFailed(
        `the group ${groupId} has lost its committed offset of ${topic}/${partition}, and any place to go on would be a guess; ` +
          `set one with kafka-consumer-groups --group ${groupId} --topic ${topic}:${partition} --reset-offsets … --execute, then restart the dispatcher`,
        'NO_PLACE',
      ),
    // What is kept there of another subscription's events concerns nobody.
    beforePlaced: async () => {
      if (subscription.faultTolerance !== 'prohibited' && subscription.order === undefined) return
      await options.inPlaceEvents.caughtUp()
      // Whoever owned these partitions may have been blocked while we joined.
      inPlaceChanged()
    },
    onGained: (partition) => inPlace.gained(partition),
    onRecords(partition, records) {
      for (const record of records) {
        if (!gate.takes()) return gate.rest(partition, record.offset)
        handle(partition, gate.isTight ? copiedRecord(record) : record)
      }
      gate.check(partition)
    },
    onLost(partition) {
      gate.lost(partition)
      inPlace.lost(partition)
      handle.lanes.lost(partition)
    },
    onRejoining() {
      window.hold()
      return window.idle()
    },
    onPlaced(assignment) {
      share.placed(assignment)
      window.open()
      leading = assignment.isLeader ? assignment : null
      if (leading === null) stopHandshake()
      void announce()
    },
    onFailed: (failure) => options.onFailed(failure.message, failure.code),
    onSkipped(_at, offsets) {
      options.onSkipped(id, offsets)
      hasSkipped = true
    },
    onCommitted() {
      if (hasSkipped) void announce()
      hasSkipped = false
    },
    logger,
  })

  function mayRead(): boolean {
    return mayAttempt() && probations.restOf(subscription) === null
  }

  function look(): void {
    window.limitChanged()
    giveBack()
    gate.freed()
    inPlace.look()
  }

  function inPlaceChanged(): void {
    const before = blocked
    blocked = blocksNow()
    if (JSON.stringify(before) === JSON.stringify(blocked)) return
    tell()
    look()
  }

  /**
   * What was read before a probation begins would wait in memory for hours, and take from all others what they may have in
   * hand; so would what is read of one that is blocked or paused. It is read again afterwards, once nothing of it is under way.
   */
  function giveBack(): void {
    if (window.inFlight > 0 || inHand.waiting === 0 || !isToRest()) return
    logger.debug({ subscription: id, events: inHand.waiting }, 'given back until it goes on')
    handle.lanes.dropAll()
    window.clear()
    consumer.rewind()
  }

  function isToRest(): boolean {
    return blocked.length > 0 || isPaused || probations.restOf(subscription) !== null
  }

  function tell(): void {
    if (leading !== null && told !== null && !stopped && isOpen()) {
      options.onRunning(subscription, { ...told, blocked })
    }
  }

  function takeOver(): void {
    if (leading === null || stopped) return
    probations.takeOver(id).catch((error: unknown) => {
      logger.debug({ group: groupId, error: String(error) }, 'cannot take over what a process that is gone has said')
    })
  }

  /** The leader says `Running` once every partition, its own or another member's, has a committed place. */
  async function announce(): Promise<void> {
    const mine = leading
    while (mine !== null && mine === leading && !stopped) {
      try {
        const found = await lookAtGroup()
        if (mine !== leading || stopped) return
        if (found.isPlaced) {
          if (!isOpen() && !isPaused) return void makeHandshake()
          told = found
          options.onRunning(subscription, { ...found, blocked })
          if (mine.gained.length + mine.kept.length < found.partitions) lookAtOthersLater()
          return
        }
      } catch (error) {
        logger.debug({ group: groupId, error: String(error) }, 'cannot ask for committed offsets; asking again')
      }
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
    }
  }

  async function makeHandshake(): Promise<void> {
    const asking = subscription
    if (handshake?.revision === asking.revision) return
    stopHandshake()
    const mine = { revision: asking.revision, stop: new AbortController() }
    handshake = mine
    const came = await options.handshakes.make(asking, mine.stop.signal)
    if (handshake === mine) handshake = null
    if (came?.kind === 'failed') options.onFailed(failedText(came), 'HANDSHAKE')
    if (came?.kind === 'succeeded') void announce()
  }

  function stopHandshake(): void {
    handshake?.stop.abort()
    handshake = null
  }

  /** What another member has skipped stands in its commits; only the leader writes it into the status. */
  function lookAtOthersLater(): void {
    clearTimeout(lookingAtOthers)
    lookingAtOthers = setTimeout(() => void announce(), lookAtOthersMs).unref()
  }

  async function lookAtGroup(): Promise<
    Omit<FoundOfGroup, 'blocked'> & { readonly isPlaced: boolean; readonly partitions: number }
  > {
    const [descriptions, committed, topicIds] = await Promise.all([
      kafka.admin.describeTopics(subscription.topics),
      kafka.admin.committed(groupId, subscription.topics),
      kafka.admin.topicIds(subscription.topics),
    ])
    const partitions = descriptions.reduce((sum, topic) => sum + topic.partitions, 0)
    const ours = committed.flatMap(({ topic, metadata, offset }) => {
      const decoded = decodeCommitMetadata(metadata, offset)
      return decoded?.generation === generation ? [{ topic, ...decoded }] : []
    })
    return {
      partitions,
      topicIds,
      isPlaced: ours.length >= partitions,
      skippedOffsets: ours.reduce((sum, { skippedOffsets }) => sum + skippedOffsets, 0),
      anew: [...new Set(ours.filter(({ isAnew }) => isAnew).map(({ topic }) => topic))].toSorted(),
    }
  }

  try {
    await consumer.start()
  } catch (error) {
    clearInterval(takingOver)
    parked.stop()
    detach()
    share.stop()
    gate.close()
    inPlace.close()
    throw error
  }
  return {
    replace(next) {
      subscription = next
      isPaused = options.isPaused(next)
      blocked = blocksNow()
      stopHandshake()
      share.look()
      look()
      void announce()
    },
    statusChanged() {
      if (!isOpen()) return
      share.look()
      look()
    },
    inPlaceChanged,
    resolved: () => inPlace.look(),
    async stop(limits) {
      stopped = true
      stopHandshake()
      clearTimeout(lookingAtOthers)
      clearInterval(takingOver)
      parked.stop()
      detach()
      gate.close()
      inPlace.close()
      consumer.pauseAll()
      handle.lanes.dropAll()
      window.clear()
      await drain(window.idle(), limits, () => cancel.abort())
      await consumer.stop()
      share.stop()
    },
    get isLeader() {
      return leading !== null
    },
    get lastHeartbeatAt() {
      return consumer.lastHeartbeatAt
    },
  }
}

/** Null where it is gone. */
async function readRecord(
  kafka: Pick<KafkaClient, 'readRange'>,
  { topic, partition, offset }: SourcePosition,
): Promise<KafkaRecord | null> {
  for await (const { records } of kafka.readRange({ topic, partition, from: offset, to: offset + 1 })) {
    const [record] = records
    if (record !== undefined) return copiedRecord(record)
  }
  return null
}
