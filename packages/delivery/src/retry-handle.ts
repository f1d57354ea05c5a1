import { withoutOwnHeaders } from '@barnabas/core'
import type {
  DeadLetterReason,
  DecodedRetryHeaders,
  DeliveryState,
  KafkaRecord,
  OpenRecord,
  Probation,
  Subscription,
  Verdict,
} from '@barnabas/core'
import type { CarriedOut, NoRequest, Parcel } from './carry-out.ts'
import type { Deliverer } from './deliver.ts'
import type { Owner } from './owner.ts'
import type { Recipient } from './recipient.ts'
import { createRetryBatching, decodedParcel } from './retry-batching.ts'
import type { Due } from './retry-batching.ts'
import type { TrackedPartition } from './tracked-partition.ts'
import type { Window } from './window.ts'

/** A retry record that was taken from its partition: out of a tier, or out of a subscription's held topic. */
export interface RetryRecord {
  readonly partition: TrackedPartition
  readonly open: OpenRecord
  readonly record: KafkaRecord
  readonly decoded: DecodedRetryHeaders
  /** What it counts for in the limits of memory. */
  readonly bytes: number
}

export interface RetryHandleOptions<Retry extends RetryRecord> {
  readonly deliverer: Deliverer
  readonly recipient: (retry: Retry, state: DeliveryState) => Recipient | Promise<Recipient>
  /** The subscription as it is known, whatever its state: where a damaged record's dead letter goes. */
  readonly subscriptionOf: (id: string) => Subscription | null
  readonly windowOf: (subscriptionId: string) => Window
  /** Whether a record may be attempted now or wait for its turn in memory; it is held otherwise. */
  readonly mayWait: (window: Window, bytes: number) => boolean
  /** What may be waited out in memory at the moment, in ms, before `timeScale`; what is due later is parked again. */
  readonly restMaxMs: () => number
  /** What of a delivery's state is to be changed before the attempt. */
  readonly stateOf?: (retry: Retry, state: DeliveryState) => DeliveryState
  /** The probation during which nothing of the subscription may be attempted now, null for none. */
  readonly restOf: (subscription: Subscription) => Probation | null
  /** No request can be built: whoever can stops the subscription. The retry is held. */
  readonly onNoRequest?: (subscription: Subscription, message: string) => void
  /** Whether a due retry takes its turn in the rate of its subscription out of the held topic; absent: it does not. */
  readonly isHeldForRate?: (subscription: Subscription) => false | Promise<boolean>
  readonly cancel: AbortSignal
  readonly timeScale: number
  readonly now: () => number
  /** Whether this write of the event was read at another place already. */
  readonly isDoubled: (retry: Retry, state: DeliveryState) => boolean
  /** False when the process ends first. */
  readonly waitUntil: (time: number) => Promise<boolean>
  /** The record waits for its due time no more; it has gone on, or counts in its subscription's window now. */
  readonly release: (retry: Retry) => void
}

type Hold = Extract<Verdict, { readonly kind: 'hold' }>

/**
 * What happens to each retry record whose turn has come:
 *
 *     due in more than 5 s (1 s where memory is scarce) ──► parked in the next tier
 *     otherwise: waited out ──► due ──► its subscription is gone ────────────► dead letter
 *                                  ├──► rests, or its window is full ────────► held
 *                                  ├──► its endpoint is on probation ────────► skipped: parked again, once
 *                                  ├──► its requests are limited ────────────► held, for a turn there
 *                                  └──► has a place, or a short wait for one ─► attempted, alone or in a batch; held where no
 *                                                                              request can be built
 */
export function createRetryHandle<Retry extends RetryRecord>(
  options: RetryHandleOptions<Retry>,
): (retry: Retry) => Promise<void> {
  const { deliverer, now } = options

  const batching = createRetryBatching<Retry>({
    limitsOf: ({ id, batch }) => options.subscriptionOf(id)?.batch ?? batch,
    recipientOf: ({ retry, parcel }) => options.recipient(retry, parcel.state),
    whenNotRunning,
    skipped,
    buryMalformed,
    attempt: (batch, subscription) =>
      deliverer.deliverTogether(
        batch.map(({ due, event, resolve }) => ({ ...due, event, resolve, subscription, signal: options.cancel })),
        (each, carried) => void heldWithoutRequest(carried, each, subscription).then(each.resolve),
      ),
  })

  return async function handle(retry) {
    let released = false
    const release = () => {
      if (!released) options.release(retry)
      released = true
    }
    const carried = await process(retry, release)
    release()
    if (carried.kind === 'durable') retry.partition.finish(retry.open, carried.wroteRecord)
  }

  async function process(retry: Retry, release: () => void): Promise<CarriedOut> {
    const { decoded } = retry
    const owner = retry.partition
    if (decoded.kind === 'malformed') return buryDamaged(retry, owner)

    if (options.isDoubled(retry, decoded.state)) {
      return { kind: 'durable', wroteRecord: false, verdict: { kind: 'done' } }
    }

    const { key, value, headers } = retry.record
    const state = options.stateOf?.(retry, decoded.state) ?? decoded.state
    const parcel = { record: { key, value, headers: withoutOwnHeaders(headers) }, state }
    const { dueAt } = decoded
    if (dueAt - now() > options.restMaxMs() * options.timeScale) {
      const verdict = { kind: 'park', dueAt } as const
      return deliverer.settle(verdict, parcel, { subscription: null, event: null }, owner)
    }
    if (!(await options.waitUntil(dueAt)) || owner.lost) return { kind: 'abandoned' }

    const due = { retry, parcel, dueAt, owner }
    return whenDue(due, async (subscription) => {
      const isSkipped = skipped(due, subscription)
      if (isSkipped !== null) return isSkipped
      const isHeld = options.isHeldForRate?.(subscription) ?? false
      if (isHeld !== false && (await isHeld)) return hold(due, 'rate', subscription)
      const window = options.windowOf(subscription.id)
      if (!options.mayWait(window, retry.bytes)) return hold(due, 'window-full', subscription)
      release()
      if (subscription.batch.maxEvents > 1) return inBatch(window, due, subscription)
      // It may have waited for long: by then its subscription may be changed or gone.
      return inWindow(window, due, () => whenDue(due, (present) => skipped(due, present) ?? attempt(due, present)))
    })
  }

  async function whenDue(
    due: Due<Retry>,
    whenRunning: (subscription: Subscription) => Promise<CarriedOut>,
  ): Promise<CarriedOut> {
    const recipient = await options.recipient(due.retry, due.parcel.state)
    return recipient.kind === 'running' ? whenRunning(recipient.subscription) : whenNotRunning(recipient, due)
  }

  async function whenNotRunning(
    recipient: Exclude<Recipient, { readonly kind: 'running' }>,
    due: Due<Retry>,
  ): Promise<CarriedOut> {
    switch (recipient.kind) {
      case 'gone':
        return bury('SubscriptionDeleted', due.parcel, null, due.owner)
      case 'resting':
        return hold(due, 'stopped', recipient.subscription)
      case 'unknown':
        return { kind: 'abandoned' }
      default:
        return recipient satisfies never
    }
  }

  function inWindow(window: Window, due: Due<Retry>, task: () => Promise<CarriedOut>): Promise<CarriedOut> {
    return new Promise((resolve) => {
      window.run(
        async () => resolve(due.owner.lost ? { kind: 'abandoned' } : await task()),
        due.retry.bytes,
        () => resolve({ kind: 'abandoned' }),
      )
    })
  }

  function inBatch(window: Window, due: Due<Retry>, subscription: Subscription): Promise<CarriedOut> {
    return new Promise((resolve) => {
      const abandon = () => resolve({ kind: 'abandoned' })
      window.runTogether(batching, { due, subscription, resolve, decoded: null }, due.retry.bytes, abandon)
    })
  }

  /** Null when it may be attempted. While it waited for its place a probation may have begun. */
  function skipped({ parcel, owner }: Due<Retry>, subscription: Subscription): Promise<CarriedOut> | null {
    const probation = options.restOf(subscription)
    return probation === null ? null : deliverer.skip(parcel, subscription, probation, owner)
  }

  async function attempt(due: Due<Retry>, subscription: Subscription): Promise<CarriedOut> {
    const { parcel, dueAt, owner } = due
    const read = decodedParcel(parcel, subscription)
    if (read.kind === 'malformed') return buryMalformed(due, read.message, subscription)
    const { event } = read
    const carried = await deliverer.deliver({ subscription, event, parcel, dueAt, owner, signal: options.cancel })
    return heldWithoutRequest(carried, due, subscription)
  }

  /** A tier waits for nobody, and another process may be able to build what this one cannot. */
  async function heldWithoutRequest(carried: CarriedOut | NoRequest, due: Due<Retry>, subscription: Subscription) {
    if (carried.kind !== 'no-request') return carried
    options.onNoRequest?.(subscription, carried.message)
    return hold(due, 'stopped', subscription)
  }

  function buryMalformed({ parcel, owner }: Due<Retry>, lastError: string, subscription: Subscription) {
    return bury('EventMalformed', { ...parcel, state: { ...parcel.state, lastError } }, subscription, owner)
  }

  function hold(due: Due<Retry>, because: Hold['because'], subscription: Subscription | null): Promise<CarriedOut> {
    const verdict: Hold = { kind: 'hold', because, dueAt: due.dueAt }
    return deliverer.settle(verdict, due.parcel, { subscription, event: null }, due.owner)
  }

  function bury(
    reason: DeadLetterReason,
    parcel: Parcel,
    subscription: Subscription | null,
    owner: Owner,
  ): Promise<CarriedOut> {
    const verdict: Verdict = { kind: 'dead-letter', reason }
    return deliverer.settle(verdict, parcel, { subscription, event: null }, owner)
  }

  function buryDamaged({ record, decoded }: Retry, owner: Owner): Promise<CarriedOut> {
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
    return deliverer.settleDamaged(letter, subscription, owner)
  }
}
