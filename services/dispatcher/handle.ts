import { compileFilter, decodeInput, eventJsonBytes, newDeliveryState } from '@barnabas/core'
import type { CloudEvent, DecodedEvent, DeliveryState, KafkaRecord, OpenRecord, Subscription } from '@barnabas/core'
import { sourceRecordBytes } from '@barnabas/delivery'
import type { Batching, CarriedOut, Deliverer, Delivery, NoRequest, TrackedPartition, Window } from '@barnabas/delivery'

export interface HandleOptions {
  /** The subscription's present revision. */
  readonly subscription: () => Subscription
  readonly window: Window
  readonly deliverer: Deliverer
  readonly cancel: AbortSignal
  readonly onFiltered: (subscriptionId: string) => void
  /** No request can be built for an event, which keeps its place: the subscription is to stop. */
  readonly onNoRequest: (subscription: Subscription, message: string) => void
}

/** One that waits for its place in a request. */
interface WaitingRecord {
  readonly partition: TrackedPartition
  readonly open: OpenRecord
  readonly record: KafkaRecord
  /** What it was read as, and by which revision of the subscription; null until somebody asks. */
  read: { readonly decoded: DecodedEvent; readonly by: Subscription } | null
}

/**
 * What happens to each record of a source topic: decoded → filtered → one attempt as soon as the window has a
 * place, with `batch` together with what else waits by then. Damage becomes a dead letter, whatever the subscription's
 * settings.
 */
export function createHandle(options: HandleOptions): (partition: TrackedPartition, record: KafkaRecord) => void {
  const { window, deliverer } = options
  let filtered = { subscription: options.subscription(), passes: filterOf(options.subscription()) }

  const batching: Batching<WaitingRecord> = {
    limits: () => options.subscription().batch,
    bytesOf(waiting) {
      const subscription = options.subscription()
      const decoded = decodedOf(waiting, subscription)
      return decoded.kind === 'event' ? eventJsonBytes(decoded.event, subscription.schema) : 0
    },
    async begin(batch) {
      const burying: Promise<void>[] = []
      const deliveries = batch.flatMap((waiting) => {
        const { partition, open, record } = waiting
        if (partition.lost) return []
        const decoded = decodedOf(waiting, options.subscription())
        if (decoded.kind === 'event')
          return [{ ...deliveryOf(partition, record, decoded.event), open, owner: partition }]
        burying.push(bury(partition, open, record, decoded.message))
        return []
      })
      await deliverer.deliverTogether(deliveries, (delivery, carried) => conclude(delivery, delivery.open, carried))
      await Promise.all(burying)
    },
  }

  return function handle(partition, record) {
    const subscription = options.subscription()
    if (filtered.subscription !== subscription) filtered = { subscription, passes: filterOf(subscription) }
    const open = partition.take(record.offset)
    if (open === null) return
    const bytes = sourceRecordBytes(record)
    // Decoded before its turn only where a filter asks: a thousand decoded events that wait are what the garbage
    // collector would copy most (docs/performance.md).
    if (filtered.passes === null) {
      if (subscription.batch.maxEvents > 1) return wait({ partition, open, record, read: null }, bytes)
      return window.run(() => attemptOrBury(partition, open, record, decode(options.subscription(), record)), bytes)
    }
    const decoded = decode(subscription, record)
    if (decoded.kind === 'event' && !filtered.passes(decoded.event)) {
      options.onFiltered(subscription.id)
      partition.finish(open, false)
      return
    }
    const waiting = { partition, open, record, read: { decoded, by: subscription } }
    if (subscription.batch.maxEvents > 1) return wait(waiting, bytes)
    window.run(() => attemptOrBury(partition, open, record, decodedOf(waiting, options.subscription())), bytes)
  }

  function wait(waiting: WaitingRecord, bytes: number): void {
    window.runTogether(batching, waiting, bytes)
  }

  function attemptOrBury(
    partition: TrackedPartition,
    open: OpenRecord,
    record: KafkaRecord,
    decoded: DecodedEvent,
  ): Promise<void> {
    if (partition.lost) return Promise.resolve()
    if (decoded.kind === 'event') return attempt(partition, open, record, decoded.event)
    return bury(partition, open, record, decoded.message)
  }

  async function attempt(partition: TrackedPartition, open: OpenRecord, record: KafkaRecord, event: CloudEvent) {
    const delivery = deliveryOf(partition, record, event)
    conclude({ ...delivery, owner: partition }, open, await deliverer.deliver(delivery))
  }

  function conclude(
    { owner, subscription }: { readonly owner: TrackedPartition; readonly subscription: Subscription },
    open: OpenRecord,
    carried: CarriedOut | NoRequest,
  ): void {
    if (carried.kind === 'durable') owner.finish(open, carried.wroteRecord)
    if (carried.kind === 'no-request') options.onNoRequest(subscription, carried.message)
  }

  function deliveryOf(owner: TrackedPartition, record: KafkaRecord, event: CloudEvent): Delivery {
    const subscription = options.subscription()
    const parcel = { record, state: newState(subscription, record) }
    return { subscription, event, parcel, owner, dueAt: null, signal: options.cancel }
  }

  /** A record that is no CloudEvent becomes a dead letter, whatever the subscription's settings. */
  async function bury(partition: TrackedPartition, open: OpenRecord, record: KafkaRecord, message: string) {
    const subscription = options.subscription()
    const state = { ...newState(subscription, record), lastError: message }
    const carried = await deliverer.settle(
      { kind: 'dead-letter', reason: 'EventMalformed' },
      { record, state },
      { subscription, event: null },
      partition,
    )
    if (carried.kind === 'durable') partition.finish(open, carried.wroteRecord)
  }
}

/** By its turn the subscription may be changed, and read its topics by another schema. */
function decodedOf(waiting: WaitingRecord, subscription: Subscription): DecodedEvent {
  if (waiting.read?.by !== subscription)
    waiting.read = { decoded: decode(subscription, waiting.record), by: subscription }
  return waiting.read.decoded
}

/** Null when every event passes. */
function filterOf({ types, filters }: Subscription): ((event: CloudEvent) => boolean) | null {
  return types.length === 0 && filters.length === 0 ? null : compileFilter(types, filters)
}

function decode(subscription: Subscription, record: KafkaRecord): DecodedEvent {
  return decodeInput(subscription, record, record, record.timestamp)
}

function newState(subscription: Subscription, record: KafkaRecord): DeliveryState {
  const { topic, partition, offset } = record
  return newDeliveryState(subscription, { topic, partition, offset }, record.timestamp)
}
