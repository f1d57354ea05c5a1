import { compileFilter, decodeEvent, newDeliveryState } from '@barnabas/core'
import type { CloudEvent, DecodedEvent, DeliveryState, KafkaRecord, OpenRecord, Subscription } from '@barnabas/core'
import { sourceRecordBytes } from '@barnabas/delivery'
import type { Deliverer, TrackedPartition, Window } from '@barnabas/delivery'

export interface HandleOptions {
  /** The subscription's present revision. */
  readonly subscription: () => Subscription
  readonly window: Window
  readonly deliverer: Deliverer
  readonly cancel: AbortSignal
  readonly onFiltered: (subscriptionId: string) => void
}

/**
 * What happens to each record of a source topic: decoded → filtered → one attempt as soon as the window has a
 * place. Damage becomes a dead letter, whatever the subscription's settings.
 */
export function createHandle(options: HandleOptions): (partition: TrackedPartition, record: KafkaRecord) => void {
  const { window, deliverer } = options
  let filtered = { subscription: options.subscription(), passes: filterOf(options.subscription()) }

  return function handle(partition, record) {
    const subscription = options.subscription()
    if (filtered.subscription !== subscription) filtered = { subscription, passes: filterOf(subscription) }
    const open = partition.take(record.offset)
    if (open === null) return
    const bytes = sourceRecordBytes(record)
    // Decoded before its turn only where a filter asks: a thousand decoded events that wait are what the garbage
    // collector would copy most (docs/performance.md).
    if (filtered.passes === null) {
      return window.run(() => attemptOrBury(partition, open, record, decodeEvent(record)), bytes)
    }
    const decoded = decodeEvent(record)
    if (decoded.kind === 'event' && !filtered.passes(decoded.event)) {
      options.onFiltered(subscription.id)
      partition.finish(open, false)
      return
    }
    window.run(() => attemptOrBury(partition, open, record, decoded), bytes)
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
    const subscription = options.subscription()
    const carried = await deliverer.deliver({
      subscription,
      event,
      parcel: { record, state: newState(subscription, record) },
      owner: partition,
      dueAt: null,
      signal: options.cancel,
    })
    if (carried.kind === 'durable') partition.finish(open, carried.wroteRecord)
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

/** Null when every event passes. */
function filterOf({ types, filters }: Subscription): ((event: CloudEvent) => boolean) | null {
  return types.length === 0 && filters.length === 0 ? null : compileFilter(types, filters)
}

function newState(subscription: Subscription, record: KafkaRecord): DeliveryState {
  const { topic, partition, offset } = record
  return newDeliveryState(subscription, { topic, partition, offset }, record.timestamp)
}
