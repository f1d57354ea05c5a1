import {
  awaitsHandshake,
  decodeRetryHeaders,
  inMemoryRestMs,
  noGeneration,
  restedMs,
  startPlaceWithoutLives,
} from '@barnabas/core'
import type { DeliveryState, KafkaRecord, Names, StatusRecord, Subscription } from '@barnabas/core'
import {
  copiedRecord,
  createMemoryWait,
  createReadGate,
  createRecordCleaner,
  createRecipients,
  createRetryHandle,
  createTrackedConsumer,
  createWindow,
  drain,
  inFlightBytesMax,
  retryRecordBytes,
  waitingMaxOf,
} from '@barnabas/delivery'
import type {
  Deliverer,
  DoubledRecords,
  DrainLimits,
  InHand,
  KnownSubscriptions,
  Logger,
  Probations,
  Rates,
  ReadBudget,
  Recipient,
  RetryRecord,
  TrackedPartition,
  Window,
} from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'
import { createOwnedShare } from './owned-share.ts'

/** This process's part of the retries of one subscription that were held. */
export interface HeldReader {
  /** The subscription was changed or deleted. */
  changed(): void
  /** Stops taking records, drains what is in flight, commits, leaves. */
  stop(limits: DrainLimits): Promise<void>
  readonly lastHeartbeatAt: number
}

export interface HeldReaderOptions {
  readonly id: string
  readonly kafka: KafkaClient
  readonly names: Names
  readonly deliverer: Deliverer
  readonly probations: Probations
  readonly rates: Rates
  readonly budget: ReadBudget
  /** Shared by all readers of the process. */
  readonly doubled: DoubledRecords
  readonly subscriptions: KnownSubscriptions
  readonly statuses: { get(id: string): StatusRecord | null }
  readonly isBlocked: (subscription: Subscription) => boolean
  readonly sessionTimeoutMs: number
  readonly timeScale: number
  readonly now: () => number
  readonly onNoRequest: (subscription: Subscription, message: string) => void
  /** It has stopped for good: its topic is gone, or may not be read. */
  readonly onFailed: (message: string) => void
  readonly logger: Logger
}

const unbatched = { maxEvents: 1, preferredBytes: 0 }

/**
 * Joins the group of a subscription's held topic and attempts what is in it, as the subscription's window allows. All
 * of it is due. What belongs to a life that is over becomes a dead letter. Resolves after the first join.
 */
export async function readHeld(options: HeldReaderOptions): Promise<HeldReader> {
  const { id, kafka, names, budget, subscriptions, statuses, probations, rates, doubled, now, logger } = options
  const cancel = new AbortController()
  const memoryWait = createMemoryWait(now)
  const recipientOf = createRecipients(subscriptions, statuses, options.isBlocked)

  const window: Window = createWindow({
    limit: limitOf,
    bytesMax: inFlightBytesMax,
    budget,
    onFreed: freed,
    lane: (onTurn) => rates.lane(id, onTurn),
  })
  const share = createOwnedShare({
    admin: kafka.admin,
    topics: [names.heldTopic(id)],
    isLimited: () => rates.isLimited(id),
    owns: (owned) => rates.owns(id, 'held', owned),
    logger,
  })
  /** Taken, and on its way to the window. */
  const entering = { records: 0, bytes: 0 }
  /** Taken, and not finished. */
  let handling = 0
  const inHand: InHand = {
    get waiting() {
      return window.waiting + entering.records
    },
    get waitingBytes() {
      return window.waitingBytes + entering.bytes
    },
    get inFlight() {
      return window.inFlight
    },
    get inFlightBytes() {
      return window.inFlightBytes
    },
  }
  const gate = createReadGate(inHand, budget, () => waitingMaxOf(presentOf(id)?.batch ?? unbatched), mayRead)
  const detach = probations.attach(id, { window, onChange: freed })
  const cleaner = createRecordCleaner({ admin: kafka.admin, logger })

  const handle = createRetryHandle<RetryRecord>({
    deliverer: options.deliverer,
    async recipient(_held, state) {
      const recipient = await recipientOf(state.subscriptionId, state.generation)
      return recipient.kind === 'resting' ? afterRest(recipient.subscription) : recipient
    },
    subscriptionOf: presentOf,
    windowOf: () => window,
    mayWait: () => true,
    // It is due, but for the difference of two clocks.
    restMaxMs: () => inMemoryRestMs,
    stateOf: expiringLater,
    // What is held waits for the end of a probation where it is, as new events do: the gate and the window see to it.
    restOf: () => null,
    onNoRequest: options.onNoRequest,
    cancel: cancel.signal,
    timeScale: options.timeScale,
    now,
    isDoubled({ record }, state) {
      const isDoubled = doubled.isDoubled(state, record, now())
      const { topic, partition, offset } = record
      if (isDoubled) logger.info({ subscription: id, topic, partition, offset }, 'dropped a doubled held record')
      return isDoubled
    },
    waitUntil: (time) => memoryWait.until(time),
    release({ bytes }) {
      entering.records -= 1
      entering.bytes -= bytes
      gate.freed()
    },
  })

  const consumer = createTrackedConsumer({
    kafka,
    groupId: names.heldGroup(id),
    topics: [names.heldTopic(id)],
    sessionTimeoutMs: options.sessionTimeoutMs,
    generation: noGeneration,
    keepsAllDone: true,
    startPlace: (_at, found) => startPlaceWithoutLives(found),
    onNoPlace: () => {},
    onRecords(partition, records) {
      for (const record of records) {
        if (!gate.takes()) return gate.rest(partition, record.offset)
        take(partition, record)
      }
      gate.check(partition)
    },
    onLost: (partition) => gate.lost(partition),
    onRejoining() {
      window.hold()
      return window.idle()
    },
    onPlaced(assignment) {
      share.placed(assignment)
      window.open()
    },
    onFailed: ({ message }) => options.onFailed(message),
    onCommitted: (positions) => cleaner.committed(positions),
    logger,
  })

  function limitOf(): number {
    // Of what is gone nothing is attempted: it need not wait behind attempts that hang.
    if (subscriptions.get(id) === undefined) return Infinity
    const present = presentOf(id)
    return present === null ? 1 : probations.limitOf(present, window)
  }

  function freed(): void {
    giveBack()
    gate.freed()
  }

  /** As with new events: what was read before a probation begins is read again afterwards. */
  function giveBack(): void {
    // One that has left the window may not be finished yet.
    if (handling > window.waiting || window.waiting === 0 || mayRead()) return
    logger.debug(
      { subscription: id, events: window.waiting },
      'held retries are given back until the probation is over',
    )
    window.clear()
    consumer.rewind()
  }

  function mayRead(): boolean {
    const present = presentOf(id)
    return present === null || probations.restOf(present) === null
  }

  function take(partition: TrackedPartition, record: KafkaRecord): void {
    const open = partition.take(record.offset)
    if (open === null) return
    const bytes = retryRecordBytes(record)
    entering.records += 1
    entering.bytes += bytes
    const decoded = decodeRetryHeaders(record.headers)
    handling += 1
    void handle({ partition, open, record: copiedRecord(record), decoded, bytes }).finally(() => {
      handling -= 1
      giveBack()
    })
  }

  function presentOf(subscriptionId: string): Subscription | null {
    const entry = subscriptions.get(subscriptionId)
    return entry?.kind === 'valid' ? entry.subscription : null
  }

  /**
   * It is read because it goes on: its status may say so a moment later. One that does not validate is not read, nor one
   * that has just been changed and must make its handshake first.
   */
  function afterRest(subscription: Subscription | null): Recipient {
    const stays =
      subscription === null || options.isBlocked(subscription) || awaitsHandshake(subscription, statuses.get(id))
    return stays ? { kind: 'unknown' } : { kind: 'running', subscription }
  }

  /** Time that an event is held for no fault of its own does not use up its time to live. */
  function expiringLater({ record }: RetryRecord, state: DeliveryState): DeliveryState {
    if (state.expiryTime === null) return state
    const rested = restedMs(statuses.get(id), state.generation, record.timestamp, now())
    return { ...state, expiryTime: state.expiryTime + rested }
  }

  async function close(limits: DrainLimits): Promise<void> {
    gate.close()
    detach()
    consumer.pauseAll()
    memoryWait.close()
    window.clear()
    await drain(window.idle(), limits, () => cancel.abort())
    await consumer.stop()
    share.stop()
    await cleaner.close()
  }

  try {
    await consumer.start()
  } catch (error) {
    gate.close()
    detach()
    share.stop()
    await cleaner.close()
    throw error
  }
  return {
    changed() {
      share.look()
      gate.freed()
      window.limitChanged()
    },
    stop: close,
    get lastHeartbeatAt() {
      return consumer.lastHeartbeatAt
    },
  }
}
