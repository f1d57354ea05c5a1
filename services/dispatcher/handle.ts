import { compileFilter, decodeInput, eventJsonBytes, newDeliveryState } from '@barnabas/core'
import type {
  BatchLimits,
  CloudEvent,
  DecodedEvent,
  DeliveryState,
  InPlaceEvent,
  KafkaRecord,
  OpenRecord,
  Subscription,
} from '@barnabas/core'
import { sourceRecordBytes } from '@barnabas/delivery'
import type {
  Batching,
  CarriedOut,
  Deliverer,
  Delivery,
  HoldablePartition,
  NoRequest,
  Window,
} from '@barnabas/delivery'
import type { DueInPlace, InPlace, InPlaceOptions } from './in-place.ts'
import type { OrderLanes } from './order-lanes.ts'

export interface HandleOptions {
  /** The subscription's present revision. */
  readonly subscription: () => Subscription
  readonly window: Window
  readonly deliverer: Deliverer
  readonly cancel: AbortSignal
  readonly onFiltered: (subscriptionId: string) => void
  /** No request can be built for an event, which keeps its place: the subscription is to stop. */
  readonly onNoRequest: (subscription: Subscription, message: string) => void
  /** Where events that stay in their partition wait. */
  readonly inPlace: Pick<InPlace, 'holds' | 'hold' | 'keep' | 'claim'>
  readonly lanes: (begin: (waiting: WaitingRecord) => void) => OrderLanes<WaitingRecord>
  /** A place in the window was had for nothing. */
  readonly onNothingBegun: (subscriptionId: string) => void
}

/** One that waits for its place in a request. */
export interface WaitingRecord {
  readonly partition: HoldablePartition
  /** Null for one that waited in place. */
  readonly open: OpenRecord | null
  readonly record: KafkaRecord
  readonly bytes: number
  /** Behind which others it has to wait; null for none. */
  readonly lane: string | null
  /** What is known of its delivery already; absent when nothing was attempted. */
  readonly state?: DeliveryState
  /** Where else is told what became of it. */
  readonly concluded?: (carried: CarriedOut | NoRequest) => void
  /** What it was read as, and by which revision of the subscription; null until somebody asks. */
  read: { readonly decoded: DecodedEvent; readonly by: Subscription } | null
}

export interface Handle {
  /** A record was handed over. */
  (partition: HoldablePartition, record: KafkaRecord): void
  /** One that stays where it is is due. */
  readonly attempt: InPlaceOptions['attempt']
  readonly lanes: OrderLanes<WaitingRecord>
}

/**
 * What happens to each record of a source topic: decoded → filtered → one attempt as soon as the window has a
 * place, with `batch` together with what else waits by then. Damage becomes a dead letter, whatever the subscription's
 * settings.
 */
export function createHandle(options: HandleOptions): Handle {
  const { window, deliverer } = options
  const lanes = options.lanes(beginInLane)
  let filtered = { subscription: options.subscription(), passes: filterOf(options.subscription()) }

  const batching: Batching<WaitingRecord> = {
    // What is due again has waited already: a window of time is for what comes from the source.
    limits: ({ state }) => limitsOf(options.subscription(), state !== undefined),
    bytesOf(waiting) {
      const subscription = options.subscription()
      const decoded = decodedOf(waiting, subscription)
      return decoded.kind === 'event' ? eventJsonBytes(decoded.event, subscription.schema) : 0
    },
    async begin(batch) {
      const burying: Promise<void>[] = []
      const deliveries = batch.flatMap((waiting) => {
        if (!mayBegin(waiting)) return []
        const decoded = decodedOf(waiting, options.subscription())
        if (decoded.kind === 'event')
          return [{ ...deliveryOf(waiting, decoded.event), owner: waiting.partition, waiting }]
        burying.push(bury(waiting, decoded.message))
        return []
      })
      if (deliveries.length === 0) options.onNothingBegun(options.subscription().id)
      await deliverer.deliverTogether(deliveries, (delivery, carried) => conclude(delivery.waiting, carried))
      await Promise.all(burying)
    },
  }

  function handle(partition: HoldablePartition, record: KafkaRecord): void {
    const subscription = options.subscription()
    if (filtered.subscription !== subscription) filtered = { subscription, passes: filterOf(subscription) }
    const open = partition.take(record.offset)
    if (open === null) return
    const bytes = sourceRecordBytes(record)
    const lane = laneOf(subscription, record)
    if (options.inPlace.claim(partition, record.offset, lane)) {
      open.isUnderWay = true
      if (lane !== null) lanes.occupy(partition, lane)
      return
    }
    // Decoded before its turn only where a filter asks: a thousand decoded events that wait are what the garbage
    // collector would copy most (docs/performance.md).
    if (filtered.passes === null) {
      return wait({ partition, open, record, bytes, lane, read: null }, subscription)
    }
    const decoded = decode(subscription, record)
    if (decoded.kind === 'event' && !filtered.passes(decoded.event)) {
      options.onFiltered(subscription.id)
      partition.finish(open, false)
      return
    }
    wait({ partition, open, record, bytes, lane, read: { decoded, by: subscription } }, subscription)
  }

  function wait(waiting: WaitingRecord, { batch }: Subscription): void {
    if (waiting.lane !== null) lanes.enter(waiting.partition, waiting.lane, waiting)
    else if (batch.maxEvents > 1) window.runTogether(batching, waiting, waiting.bytes)
    else window.run(() => attemptOrBury(waiting), waiting.bytes)
  }

  function beginInLane(waiting: WaitingRecord): void {
    window.run(
      () => attemptOrBury(waiting),
      waiting.bytes,
      () => laneIsOver(waiting),
    )
  }

  function laneIsOver({ partition, lane }: WaitingRecord): void {
    if (lane !== null) lanes.over(partition, lane)
  }

  function attemptDue(
    due: DueInPlace,
    concluded: (carried: CarriedOut | NoRequest) => void,
    onDropped: () => void,
  ): void {
    const { partition, record, event } = due
    const bytes = sourceRecordBytes(record)
    const waiting = { partition, open: null, record, bytes, lane: null, state: event.state, concluded, read: null }
    if (options.subscription().batch.maxEvents > 1) window.runTogether(batching, waiting, bytes, onDropped)
    else window.run(() => attemptOrBury(waiting), bytes, onDropped)
  }

  /** Not when its partition waits for another, or reads it again: then it is handed over once more. */
  function mayBegin({ partition, open }: WaitingRecord): boolean {
    if (partition.lost) return false
    if (open === null) return true
    if (open.isGivenBack === true || options.inPlace.holds(partition)) return false
    open.isUnderWay = true
    return true
  }

  function attemptOrBury(waiting: WaitingRecord): Promise<void> {
    if (!mayBegin(waiting)) {
      options.onNothingBegun(options.subscription().id)
      laneIsOver(waiting)
      return Promise.resolve()
    }
    const decoded = decodedOf(waiting, options.subscription())
    return decoded.kind === 'event' ? attempt(waiting, decoded.event) : bury(waiting, decoded.message)
  }

  async function attempt(waiting: WaitingRecord, event: CloudEvent) {
    conclude(waiting, await deliverer.deliver(deliveryOf(waiting, event)))
  }

  function conclude(waiting: WaitingRecord, carried: CarriedOut | NoRequest): void {
    const { partition, open, concluded } = waiting
    if (carried.kind === 'durable' && open !== null) {
      partition.finish(open, carried.wroteRecord)
      laneIsOver(waiting)
    }
    if (carried.kind === 'in-place' && open !== null && !partition.lost) keep(waiting, carried.event)
    if (carried.kind === 'no-request') options.onNoRequest(options.subscription(), carried.message)
    concluded?.(carried)
  }

  function keep({ partition, record, lane }: WaitingRecord, event: InPlaceEvent): void {
    options.inPlace.keep(partition, record, event, lane)
    if (lane === null) return
    // What is behind it in a partition that is held is read again.
    if (options.inPlace.holds(partition)) lanes.drop(partition, lane)
    else lanes.stays(partition, lane)
  }

  function deliveryOf({ partition, open, record, state }: WaitingRecord, event: CloudEvent): Delivery {
    const subscription = options.subscription()
    const parcel = { record, state: state ?? newState(subscription, record) }
    const delivery = { subscription, event, parcel, owner: partition, dueAt: null, signal: options.cancel }
    // Millions are delivered of those that let nothing wait, and each allocation counts.
    if (subscription.faultTolerance === undefined && subscription.order === undefined) return delivery
    return {
      ...delivery,
      inPlace: true,
      onStays: () => {
        if (open !== null) options.inPlace.hold(partition)
      },
    }
  }

  /** A record that is no CloudEvent becomes a dead letter, whatever the subscription's settings. */
  async function bury(waiting: WaitingRecord, message: string) {
    const { partition, record, state } = waiting
    const subscription = options.subscription()
    const damaged = { ...(state ?? newState(subscription, record)), lastError: message }
    const verdict = { kind: 'dead-letter', reason: 'EventMalformed' } as const
    const about = { subscription, event: null }
    conclude(waiting, await deliverer.settle(verdict, { record, state: damaged }, about, partition))
  }

  return Object.assign(handle, { attempt: attemptDue, lanes })
}

/** By its turn the subscription may be changed, and read its topics by another schema. */
function decodedOf(waiting: WaitingRecord, subscription: Subscription): DecodedEvent {
  if (waiting.read?.by !== subscription)
    waiting.read = { decoded: decode(subscription, waiting.record), by: subscription }
  return waiting.read.decoded
}

/** Events without a key are in no order. */
function laneOf({ order }: Subscription, { key }: KafkaRecord): string | null {
  if (order === 'partition') return ''
  return order === 'key' && key !== null ? key.toString('latin1') : null
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

function limitsOf({ batch }: Subscription, isDueAgain: boolean): BatchLimits {
  return isDueAgain && batch.windowMs !== undefined ? { ...batch, windowMs: 0 } : batch
}
