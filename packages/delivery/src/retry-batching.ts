import { decodeInput, eventJsonBytes } from '@barnabas/core'
import type { BatchLimits, CloudEvent, DecodedEvent, Subscription } from '@barnabas/core'
import type { CarriedOut, Parcel } from './carry-out.ts'
import type { Owner } from './owner.ts'
import type { Recipient } from './recipient.ts'
import type { Batching } from './window.ts'

/** A retry that is due. */
export interface Due<Retry> {
  readonly retry: Retry
  readonly parcel: Parcel
  readonly dueAt: number
  readonly owner: Owner
}

/** One that waits for its place in a request. */
export interface WaitingForBatch<Retry> {
  readonly due: Due<Retry>
  /** As it was when it began to wait. */
  readonly subscription: Subscription
  readonly resolve: (carried: CarriedOut) => void
  /** Read when it is first asked how large it is, by the subscription of then. */
  decoded: DecodedEvent | null
}

export interface RetryBatchingOptions<Retry> {
  readonly limitsOf: (subscription: Subscription) => BatchLimits
  readonly recipientOf: (due: Due<Retry>) => Recipient | Promise<Recipient>
  /** For whom there is nobody to attempt it. */
  readonly whenNotRunning: (
    recipient: Exclude<Recipient, { readonly kind: 'running' }>,
    due: Due<Retry>,
  ) => Promise<CarriedOut>
  /** Null when it may be attempted. */
  readonly skipped: (due: Due<Retry>, subscription: Subscription) => Promise<CarriedOut> | null
  readonly buryMalformed: (due: Due<Retry>, message: string, subscription: Subscription) => Promise<CarriedOut>
  readonly attempt: (
    batch: readonly (WaitingForBatch<Retry> & { readonly event: CloudEvent })[],
    subscription: Subscription,
  ) => Promise<void>
}

/**
 * Due retries of one subscription that begin together. Each may have waited for long, so each is asked once more for
 * whom it is; those for one and the same revision share a request, and no others.
 */
export function createRetryBatching<Retry>(options: RetryBatchingOptions<Retry>): Batching<WaitingForBatch<Retry>> {
  return {
    // Due, they have waited already: a window of time is for what comes from the source (EventBridge's `BatchWindow`).
    limits: ({ subscription }) => ({ ...options.limitsOf(subscription), windowMs: 0 }),
    bytesOf(waiting) {
      const decoded = decodedOf(waiting, waiting.subscription)
      return decoded.kind === 'event' ? eventJsonBytes(decoded.event, waiting.subscription.schema) : 0
    },
    async begin(batch) {
      const recipients = await Promise.all(batch.map(async ({ due }) => options.recipientOf(due)))
      const running = new Map<Subscription, (WaitingForBatch<Retry> & { readonly event: CloudEvent })[]>()
      const others: Promise<void>[] = []
      for (const [index, recipient] of recipients.entries()) {
        const waiting = batch[index]!
        const { due, resolve } = waiting
        if (due.owner.lost) {
          resolve({ kind: 'abandoned' })
          continue
        }
        if (recipient.kind !== 'running') {
          others.push(options.whenNotRunning(recipient, due).then(resolve))
          continue
        }
        const { subscription } = recipient
        const isSkipped = options.skipped(due, subscription)
        if (isSkipped !== null) {
          others.push(isSkipped.then(resolve))
          continue
        }
        const decoded = decodedOf(waiting, subscription)
        if (decoded.kind === 'malformed') {
          others.push(options.buryMalformed(due, decoded.message, subscription).then(resolve))
        } else {
          const alike = running.get(subscription) ?? []
          running.set(subscription, alike)
          alike.push({ ...waiting, event: decoded.event })
        }
      }
      // One place, one request at a time.
      for (const [subscription, alike] of running) await options.attempt(alike, subscription)
      await Promise.all(others)
    },
  }
}

function decodedOf<Retry>(waiting: WaitingForBatch<Retry>, subscription: Subscription): DecodedEvent {
  const { parcel } = waiting.due
  // Another revision may read the topic by another schema.
  if (subscription !== waiting.subscription) return decodedParcel(parcel, subscription)
  waiting.decoded ??= decodedParcel(parcel, subscription)
  return waiting.decoded
}

/** What a parcel carries, as its subscription reads it. */
export function decodedParcel({ record, state }: Parcel, subscription: Subscription): DecodedEvent {
  return decodeInput(subscription, record, state.source, state.publishTime)
}
