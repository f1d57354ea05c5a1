import { startPlace, tiers } from '@barnabas/core'
import type { Names, StatusRecord, Subscription, Tier } from '@barnabas/core'
import { createTrackedConsumer, createWindow, drain, writeBeforeExitMs } from '@barnabas/delivery'
import type { Deliverer, Logger, Window } from '@barnabas/delivery'
import type { ConsumerFailure, KafkaClient } from '@barnabas/kafka'
import { createDoubledRecords } from './doubled-records.ts'
import { createHandle } from './handle.ts'
import type { Recipient } from './handle.ts'
import { createTierCleaner } from './tier-cleaner.ts'
import { createTierLanes } from './tier-lanes.ts'

/** What a subscription id stands for right now; undefined when it was deleted or never made. */
export type SubscriptionEntry =
  | { readonly kind: 'valid'; readonly subscription: Subscription }
  | { readonly kind: 'invalid'; readonly generation: number }

export interface RetrierOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  readonly deliverer: Deliverer
  readonly timeScale: number
  readonly subscriptions: {
    get(id: string): SubscriptionEntry | undefined
    /** Resolves when the subscriptions topic was read to its present end. */
    caughtUp(): Promise<void>
  }
  readonly statuses: { get(id: string): StatusRecord | null }
  readonly onFailed: (failure: ConsumerFailure) => void
  readonly drainTimeoutMs: number
  readonly sessionTimeoutMs: number
  readonly now: () => number
  readonly logger: Logger
}

export interface Retrier {
  /** Resolves when this process is in the retriers' group and its tiers are being read. */
  start(): Promise<void>
  close(): Promise<void>
  readonly lastHeartbeatAt: number
}

/** Tiers are shared by all subscriptions and all their lives. */
const noGeneration = 0

/** Tiers → due → next attempt. */
export function createRetrier(options: RetrierOptions): Retrier {
  const { kafka, names, subscriptions, statuses, now, timeScale } = options
  const tierByTopic = new Map<string, Tier>(tiers.map((tier) => [names.retryTopic(tier.name), tier]))
  const windows = new Map<string, Window>()
  const cancel = new AbortController()
  const doubled = createDoubledRecords()
  const waits = new Set<() => void>()
  let inHand = 0
  let closing = false
  let whenEmpty = () => {}

  const lanes = createTierLanes({
    timeScale,
    now,
    tierOf(topic) {
      const tier = tierByTopic.get(topic)
      if (tier === undefined) throw new TypeError(`${topic} is no tier`)
      return tier
    },
    onLeave(waiting) {
      inHand += 1
      void handle(waiting).finally(() => {
        inHand -= 1
        if (inHand === 0) whenEmpty()
      })
    },
  })

  const handle = createHandle({
    deliverer: options.deliverer,
    recipient,
    subscriptionOf(id) {
      const entry = subscriptions.get(id)
      return entry?.kind === 'valid' ? entry.subscription : null
    },
    windowOf(id) {
      let window = windows.get(id)
      if (window === undefined) {
        window = createWindow(() => limitOf(id))
        windows.set(id, window)
      }
      return window
    },
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
    waitUntil: waitInMemory,
    release: (waiting) => lanes.release(waiting),
  })

  const cleaner = createTierCleaner({
    deleteRecords: (below) => kafka.admin.deleteRecords(below),
    logger: options.logger,
  })
  const ready = Promise.withResolvers<void>()
  const consumer = createTrackedConsumer({
    kafka,
    groupId: names.retrierGroup,
    topics: names.retryTopics,
    sessionTimeoutMs: options.sessionTimeoutMs,
    generation: noGeneration,
    startPlace: (_at, committed, low) =>
      startPlace({ generation: noGeneration, committed, low, start: undefined, ranBefore: false, wasMissing: false }),
    onNoPlace: () => {},
    onRecords: (partition, records) => lanes.onRecords(partition, records),
    onLost: (partition) => lanes.onLost(partition),
    async onRejoining() {
      for (const window of windows.values()) window.hold()
      await Promise.all([...windows.values()].map((window) => window.idle()))
    },
    onPlaced() {
      for (const window of windows.values()) window.open()
      ready.resolve()
    },
    onFailed: options.onFailed,
    onCommitted: (positions) => cleaner.committed(positions),
    logger: options.logger,
  })

  function limitOf(id: string): number {
    const entry = subscriptions.get(id)
    return entry?.kind === 'valid' ? entry.subscription.concurrency : 1
  }

  function recipient(id: string, generation: number): Recipient | Promise<Recipient> {
    const entry = subscriptions.get(id)
    if (entry !== undefined && isOfLife(entry, generation)) return recipientOf(id, entry)
    return askAgain(id, generation)
  }

  /** Deleted, or not yet heard of? Only who has read the topic to its end may say. */
  async function askAgain(id: string, generation: number): Promise<Recipient> {
    try {
      await subscriptions.caughtUp()
    } catch {
      return { kind: 'unknown' } // What reads the topic was stopped.
    }
    const entry = subscriptions.get(id)
    if (entry === undefined || !isOfLife(entry, generation)) return { kind: 'gone' }
    return recipientOf(id, entry)
  }

  function recipientOf(id: string, entry: SubscriptionEntry): Recipient {
    if (entry.kind === 'invalid') return { kind: 'not-now', subscription: null }
    const { subscription } = entry
    const status = statuses.get(id)
    const failed = status?.status === 'Start Failed' && status.generation === subscription.generation
    return failed ? { kind: 'not-now', subscription } : { kind: 'running', subscription }
  }

  /** The bounded rest of a wait; false when the process ends first: then the record stays where it is. */
  async function waitInMemory(time: number): Promise<boolean> {
    for (let remainingMs = time - now(); remainingMs > 0 && !closing; remainingMs = time - now()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(wake, Math.ceil(remainingMs))
        function wake(): void {
          clearTimeout(timer)
          waits.delete(wake)
          resolve()
        }
        waits.add(wake)
      })
    }
    return !closing
  }

  return {
    async start() {
      await consumer.start()
      await ready.promise
    },
    async close() {
      closing = true
      consumer.pauseAll()
      lanes.close()
      for (const wake of waits) wake()
      for (const window of windows.values()) window.clear()
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

/** A record that somebody wrote by hand names no life (0): whose events wait for it is not known, so none are given up. */
function isOfLife(entry: SubscriptionEntry, generation: number): boolean {
  if (entry.kind === 'valid') return entry.subscription.generation === generation
  return entry.generation === generation || entry.generation === 0
}
