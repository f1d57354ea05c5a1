import { inMemoryRestMs, noGeneration, startPlaceWithoutLives, tiers } from '@barnabas/core'
import type { DeliveryState, Names, StatusRecord, Subscription, Tier } from '@barnabas/core'
import {
  createDoubledRecords,
  createMemoryWait,
  createReadBudget,
  createRecipients,
  createRecordCleaner,
  createRetryHandle,
  createTrackedConsumer,
  createWindow,
  drain,
  inFlightBytesMax,
  retryBytesMax,
  waitingRetriesMax,
  waitingRetryBytesMax,
  writeBeforeExitMs,
} from '@barnabas/delivery'
import type { Deliverer, KnownSubscriptions, Logger, Probations, Rates, Window } from '@barnabas/delivery'
import type { ConsumerFailure, KafkaClient } from '@barnabas/kafka'
import { createHeldForRate } from './held-for-rate.ts'
import { createTierLanes } from './tier-lanes.ts'
import type { WaitingRecord } from './tier-lanes.ts'

export interface RetrierOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  readonly deliverer: Deliverer
  readonly probations: Probations
  readonly rates: Rates
  /** Whether there is a topic to hold due retries of the subscription, or may be. */
  readonly mayHold: (subscriptionId: string) => Promise<boolean>
  readonly timeScale: number
  readonly subscriptions: KnownSubscriptions
  readonly statuses: { get(id: string): StatusRecord | null }
  readonly isBlocked: (subscription: Subscription) => boolean
  readonly onFailed: (failure: ConsumerFailure) => void
  /** An event was seen that waits until `dueAt`. */
  readonly onWaiting: (state: DeliveryState, dueAt: number) => void
  readonly drainTimeoutMs: number
  readonly sessionTimeoutMs: number
  readonly now: () => number
  readonly logger: Logger
}

export interface Retrier {
  /** Resolves when this process is in the retriers' group and its tiers are being read. */
  start(): Promise<void>
  /** The subscription was created, changed or deleted. */
  changed(id: string): void
  close(): Promise<void>
  readonly lastHeartbeatAt: number
}

/** While memory is scarce, what is due later than this costs one more write instead: the shortest tier is 1 s. */
const scarceRestMs = 1_000

/** A fetch names every lane, and costs more than what it brings where retries come one by one. They are read a second ahead. */
const gatheredBytes = 64 * 1024

/** Tiers → due → next attempt. */
export function createRetrier(options: RetrierOptions): Retrier {
  const { kafka, names, subscriptions, probations, now, timeScale } = options
  const tierByTopic = new Map<string, Tier>(tiers.map((tier) => [names.retryTopic(tier.name), tier]))
  const windows = new Map<string, { readonly window: Window; readonly detach: () => void }>()
  const budget = createReadBudget(retryBytesMax)
  const cancel = new AbortController()
  const doubled = createDoubledRecords()
  const memoryWait = createMemoryWait(now)
  const recipientOf = createRecipients(subscriptions, options.statuses, options.isBlocked)
  let inHand = 0
  let whenEmpty = () => {}

  const lanes = createTierLanes({
    timeScale,
    now,
    tierOf(topic) {
      const tier = tierByTopic.get(topic)
      if (tier === undefined) throw new TypeError(`${topic} is no tier`)
      return tier
    },
    onHead: options.onWaiting,
    onLeave(waiting) {
      inHand += 1
      void handle(waiting).finally(() => {
        inHand -= 1
        if (inHand === 0) whenEmpty()
      })
    },
  })

  const handle = createRetryHandle<WaitingRecord>({
    deliverer: options.deliverer,
    recipient: (_waiting, { subscriptionId, generation }) => recipientOf(subscriptionId, generation),
    mayWait,
    restMaxMs: () => (lanes.isScarce ? scarceRestMs : inMemoryRestMs),
    subscriptionOf(id) {
      const entry = subscriptions.get(id)
      return entry?.kind === 'valid' ? entry.subscription : null
    },
    windowOf(id) {
      const present = windows.get(id)
      if (present !== undefined) return present.window
      const onFreed = () => forgetIfGone(id)
      const window: Window = createWindow({
        limit: () => limitOf(id, window),
        bytesMax: inFlightBytesMax,
        budget,
        onFreed,
        lane: (onTurn) => options.rates.lane(id, onTurn),
      })
      windows.set(id, { window, detach: probations.attach(id, { window }) })
      return window
    },
    restOf: (subscription) => probations.restOf(subscription),
    isHeldForRate: createHeldForRate({
      isLimited: (id) => options.rates.isLimited(id),
      mayHold: options.mayHold,
      isWaiting: (id) => (windows.get(id)?.window.waiting ?? 0) > 0,
    }),
    cancel: cancel.signal,
    timeScale,
    now,
    isDoubled({ record }, state) {
      const isDoubled = doubled.isDoubled(state, record, now())
      if (isDoubled) {
        const { topic, partition, offset } = record
        options.logger.info(
          { subscription: state.subscriptionId, topic, partition, offset },
          'dropped a doubled retry record',
        )
      }
      return isDoubled
    },
    waitUntil: (time) => memoryWait.until(time),
    release: (waiting) => lanes.release(waiting),
  })

  const cleaner = createRecordCleaner({
    admin: kafka.admin,
    logger: options.logger,
  })
  const ready = Promise.withResolvers<void>()
  const consumer = createTrackedConsumer({
    kafka,
    groupId: names.retrierGroup,
    topics: names.retryTopics,
    sessionTimeoutMs: options.sessionTimeoutMs,
    generation: noGeneration,
    keepsAllDone: false,
    watchesTopics: true,
    // Scaled down, tiers are shorter than what is gathered.
    gatheredBytes: timeScale < 1 ? 1 : gatheredBytes,
    startPlace: (_at, found) => startPlaceWithoutLives(found),
    onNoPlace: () => {},
    onRecords: (partition, records) => lanes.onRecords(partition, records),
    onLost: (partition) => lanes.onLost(partition),
    async onRejoining() {
      for (const { window } of windows.values()) window.hold()
      await Promise.all([...windows.values()].map(({ window }) => window.idle()))
    },
    onPlaced() {
      for (const { window } of windows.values()) window.open()
      ready.resolve()
    },
    onFailed: options.onFailed,
    onCommitted: (positions) => cleaner.committed(positions),
    logger: options.logger,
  })

  function limitOf(id: string, window: Window): number {
    const entry = subscriptions.get(id)
    // Of what is gone nothing is attempted: it need not wait behind attempts that hang.
    if (entry === undefined) return Infinity
    if (entry.kind === 'invalid') return 1
    // What waits for a place while a probation begins is skipped, and needs none.
    return probations.restOf(entry.subscription) === null ? probations.limitOf(entry.subscription, window) : Infinity
  }

  function forgetIfGone(id: string): void {
    const { window, detach } = windows.get(id) ?? {}
    if (window === undefined || window.inFlight + window.waiting > 0 || subscriptions.get(id) !== undefined) return
    detach?.()
    window.clear()
    windows.delete(id)
  }

  /** A tier waits for no subscription: what would have to wait for long is held. */
  function mayWait(window: Window, bytes: number): boolean {
    if (window.inFlight + window.waiting === 0) return true
    if (budget.isFull) return false
    if (window.hasPlace(bytes)) return true
    return window.waiting < waitingRetriesMax && window.waitingBytes + bytes <= waitingRetryBytesMax
  }

  return {
    async start() {
      await consumer.start()
      await ready.promise
    },
    changed(id) {
      windows.get(id)?.window.limitChanged()
      forgetIfGone(id)
    },
    async close() {
      consumer.pauseAll()
      lanes.close()
      memoryWait.close()
      for (const { window } of windows.values()) window.clear()
      const empty = inHand > 0 ? new Promise<void>((resolve) => (whenEmpty = resolve)) : Promise.resolve()
      await drain(empty, { drainMs: options.drainTimeoutMs, writeMs: writeBeforeExitMs }, () => cancel.abort())
      await consumer.stop()
      await cleaner.close()
    },
    get lastHeartbeatAt() {
      return consumer.lastHeartbeatAt
    },
  }
}
