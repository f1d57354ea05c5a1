import { decodeEvent, inMemoryRestMs, withoutOwnHeaders } from '@barnabas/core'
import type { DeadLetterReason, DeliveryState, Subscription, Verdict } from '@barnabas/core'
import type { CarriedOut, Deliverer, Parcel, Window } from '@barnabas/delivery'
import type { WaitingRecord } from './tier-lanes.ts'

/** What the retrier finds under a subscription id. */
export type Recipient =
  | { readonly kind: 'running'; readonly subscription: Subscription }
  /** It exists and may not be attempted now (`Start Failed`, or what stands in the topic does not validate). */
  | { readonly kind: 'not-now'; readonly subscription: Subscription | null }
  /** Deleted, or the id lives another life: certain, because the subscriptions topic was read to its end. */
  | { readonly kind: 'gone' }
  /** The process ends before anybody could say: the record stays where it is. */
  | { readonly kind: 'unknown' }

export interface HandleOptions {
  readonly deliverer: Deliverer
  readonly recipient: (id: string, generation: number) => Recipient | Promise<Recipient>
  /** The subscription as it is known, whatever its state: where a damaged record's dead letter goes. */
  readonly subscriptionOf: (id: string) => Subscription | null
  readonly windowOf: (subscriptionId: string) => Window
  readonly cancel: AbortSignal
  readonly timeScale: number
  readonly now: () => number
  /** Whether this write of the event was read at another place already. */
  readonly isDoubled: (waiting: WaitingRecord, state: DeliveryState) => boolean
  /** False when the process ends first. */
  readonly waitUntil: (time: number) => Promise<boolean>
  /** The record's stay in memory is over. */
  readonly release: (waiting: WaitingRecord) => void
}

/** A record whose subscription cannot be attempted now is parked again for this long, uncounted. */
const parkAgainMs = 30_000

/** What happens to each record that leaves its tier: on to the next tier, or the rest in memory and then the next attempt. */
export function createHandle(options: HandleOptions): (waiting: WaitingRecord) => Promise<void> {
  const { deliverer, now } = options

  return async function handle(waiting) {
    const carried = await process(waiting)
    options.release(waiting)
    if (carried.kind === 'durable') waiting.partition.finish(waiting.open, carried.wroteRecord)
  }

  async function process(waiting: WaitingRecord): Promise<CarriedOut> {
    const { decoded } = waiting
    const abandoned = () => waiting.partition.lost
    if (decoded.kind === 'malformed') return buryDamaged(waiting, abandoned)

    if (options.isDoubled(waiting, decoded.state)) {
      const verdict = { kind: 'done' } as const
      return { kind: 'durable', wroteRecord: false, verdict }
    }

    const { key, value, headers } = waiting.record
    const parcel = { key, value, headers: withoutOwnHeaders(headers), state: decoded.state }
    if (decoded.dueAt - now() > inMemoryRestMs * options.timeScale) {
      return deliverer.settle(
        { kind: 'park', dueAt: decoded.dueAt },
        parcel,
        { subscription: null, event: null },
        abandoned,
      )
    }
    if (!(await options.waitUntil(decoded.dueAt)) || abandoned()) return { kind: 'abandoned' }
    return whenDue(parcel, decoded.dueAt, abandoned)
  }

  async function whenDue(parcel: Parcel, dueAt: number, abandoned: () => boolean): Promise<CarriedOut> {
    const { subscriptionId, generation } = parcel.state
    const recipient = await options.recipient(subscriptionId, generation)
    switch (recipient.kind) {
      case 'gone':
        return bury('SubscriptionDeleted', parcel, null, abandoned)
      case 'not-now': {
        const verdict = { kind: 'park', dueAt: now() + parkAgainMs * options.timeScale } as const
        const held = { ...parcel, state: expiringLater(parcel.state, parkAgainMs * options.timeScale) }
        return deliverer.settle(verdict, held, { subscription: recipient.subscription, event: null }, abandoned)
      }
      case 'running':
        return attempt(parcel, recipient.subscription, dueAt, abandoned)
      case 'unknown':
        return { kind: 'abandoned' }
      default:
        return recipient satisfies never
    }
  }

  function attempt(
    parcel: Parcel,
    subscription: Subscription,
    dueAt: number,
    abandoned: () => boolean,
  ): Promise<CarriedOut> {
    const decoded = decodeEvent(parcel)
    if (decoded.kind === 'malformed') {
      const state = { ...parcel.state, lastError: decoded.message }
      return bury('EventMalformed', { ...parcel, state }, subscription, abandoned)
    }
    const { event } = decoded
    return new Promise((resolve) => {
      options.windowOf(subscription.id).run(
        async () => {
          if (abandoned()) return resolve({ kind: 'abandoned' })
          resolve(await deliverer.deliver({ subscription, event, parcel, dueAt, abandoned, signal: options.cancel }))
        },
        () => resolve({ kind: 'abandoned' }),
      )
    })
  }

  function bury(
    reason: DeadLetterReason,
    parcel: Parcel,
    subscription: Subscription | null,
    abandoned: () => boolean,
  ): Promise<CarriedOut> {
    const verdict: Verdict = { kind: 'dead-letter', reason }
    return deliverer.settle(verdict, parcel, { subscription, event: null }, abandoned)
  }

  function buryDamaged({ record, decoded }: WaitingRecord, abandoned: () => boolean): Promise<CarriedOut> {
    if (decoded.kind !== 'malformed') throw new TypeError('the delivery headers are whole')
    const { known, damaged, message } = decoded
    const subscription = known.subscriptionId === undefined ? null : options.subscriptionOf(known.subscriptionId)
    const letter = {
      key: record.key,
      value: record.value,
      headers: record.headers,
      state: { ...known, lastError: message },
      damaged,
      reason: 'DeliveryMetadataMalformed' as const,
      time: now(),
    }
    return deliverer.settleDamaged(letter, subscription, abandoned)
  }
}

/** Time that an event is held for no fault of its own does not use up its time to live. */
function expiringLater(state: DeliveryState, byMs: number): DeliveryState {
  return state.expiryTime === null ? state : { ...state, expiryTime: state.expiryTime + byMs }
}
