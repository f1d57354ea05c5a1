import { deadLetterRecords, retryHeaders, tierFor, tierPartition } from '@barnabas/core'
import type { DeadLetter, DeliveryState, OutgoingRecord, RecordHeaders, Tier, Verdict } from '@barnabas/core'
import type { Writers } from './writers.ts'

/** Whatever a verdict is about: an event's record as it stood on its source topic, and what is known of its delivery. */
export interface Parcel {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  readonly state: DeliveryState
}

/** How a dead letter of this parcel looks. */
export interface DeadLetterDetails {
  /** Asked anew before each try: while a topic takes no records its subscription may be given another, or be deleted. */
  readonly topic: () => string
  readonly destination?: string
  readonly responseBody?: Buffer | null
}

export type CarriedOut =
  /** Durable. `wroteRecord`: because another record was written. */
  | { readonly kind: 'durable'; readonly wroteRecord: boolean; readonly verdict: Verdict }
  /** Nothing may be done for it any more (its partition is lost): its offset must not be committed. */
  | { readonly kind: 'abandoned' }

/** Where the due retries of a subscription wait that may not be attempted now. */
export interface HeldTopics {
  /** Makes the topic on first need. Never rejects. */
  find(subscriptionId: string): Promise<HeldTopic>
}

export type HeldTopic =
  | { readonly kind: 'there'; readonly topic: string; readonly partitions: number }
  /** It may not be made here. */
  | { readonly kind: 'refused' }
  /** No broker has answered; ask again. */
  | { readonly kind: 'unavailable' }

export interface CarryOutOptions {
  readonly writers: Writers
  readonly heldTopics: HeldTopics
  /** Sorted by delay, `now` first. */
  readonly tiers: readonly Tier[]
  readonly tierTopic: (tier: Tier) => string
  readonly tierPartitions: number
  readonly timeScale: number
  readonly now: () => number
}

export type CarryOut = (
  verdict: Verdict,
  parcel: Parcel,
  deadLetter: DeadLetterDetails,
  abandoned: () => boolean,
) => Promise<CarriedOut>

/** What may not be attempted now and cannot be held, for its topic may not be made, is parked again for this long. */
const parkAgainMs = 30_000
const askAgainMs = 1_000

/** The one switch that carries out verdicts, for dispatcher and retrier alike (design, promise 3). */
export function createCarryOut(options: CarryOutOptions): CarryOut {
  const { writers, now } = options

  /** The forms of one more write of the event: with its last error, and without where that is too large. */
  function retryRecords(
    parcel: Parcel,
    dueAt: number,
    { topic, partitions }: { readonly topic: string; readonly partitions: number },
  ): readonly OutgoingRecord[] {
    const state = { ...parcel.state, hops: parcel.state.hops + 1 }
    const partition = tierPartition(state.subscriptionId, state.source, partitions)
    const record = { topic, partition, key: parcel.key, value: parcel.value }
    return [
      { ...record, headers: retryHeaders(parcel.headers, state, dueAt) },
      { ...record, headers: retryHeaders(parcel.headers, { ...state, lastError: null }, dueAt) },
    ]
  }

  function tierOf(dueAt: number) {
    const tier = tierFor(dueAt - now(), options.tiers, options.timeScale)
    return { topic: options.tierTopic(tier), partitions: options.tierPartitions }
  }

  async function heldTopicOf(subscriptionId: string, abandoned: () => boolean): Promise<HeldTopic> {
    for (;;) {
      const found = await options.heldTopics.find(subscriptionId)
      if (found.kind !== 'unavailable' || abandoned()) return found
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
    }
  }

  return async function carryOut(verdict, parcel, details, abandoned) {
    if (abandoned()) return { kind: 'abandoned' }
    switch (verdict.kind) {
      case 'done':
      case 'drop':
        return { kind: 'durable', wroteRecord: false, verdict }
      case 'retry':
      case 'park': {
        return writeRetry(retryRecords(parcel, verdict.dueAt, tierOf(verdict.dueAt)))
      }
      case 'hold': {
        const held = await heldTopicOf(parcel.state.subscriptionId, abandoned)
        if (held.kind === 'there') return writeRetry(retryRecords(parcel, verdict.dueAt, held))
        if (held.kind === 'unavailable') return { kind: 'abandoned' }
        // Nobody waits for it in the tier either: it leaves that, and comes back.
        const againMs = parkAgainMs * options.timeScale
        const waiting = verdict.because === 'stopped' ? expiringLater(parcel, againMs) : parcel
        return carryOut({ kind: 'park', dueAt: now() + againMs }, waiting, details, abandoned)
      }
      case 'dead-letter': {
        const letter = { ...parcel, ...details, reason: verdict.reason, time: now() }
        return writeDeadLetter(writers, letter, verdict, abandoned)
      }
      case 'retry-in-place':
      case 'block':
        throw new Error(`${verdict.kind} is not available in this version; \`apply\` refuses what would lead to it`)
      default:
        return verdict satisfies never
    }

    async function writeRetry(forms: readonly OutgoingRecord[]): Promise<CarriedOut> {
      const written = await writers.write(forms, abandoned)
      if (written.kind === 'abandoned') return written
      if (written.kind === 'written') return { kind: 'durable', wroteRecord: true, verdict }
      // The value alone is more than a tier takes: only its position can be kept.
      const withoutValue = { ...parcel, value: null }
      return carryOut({ kind: 'dead-letter', reason: 'RecordTooLarge' }, withoutValue, details, abandoned)
    }
  }
}

/** Time that an event is held for no fault of its own does not use up its time to live. */
function expiringLater(parcel: Parcel, byMs: number): Parcel {
  const { state } = parcel
  return state.expiryTime === null ? parcel : { ...parcel, state: { ...state, expiryTime: state.expiryTime + byMs } }
}

/** Writes a dead letter, in the fullest form that the broker takes, to where its subscription wants it by then. */
export async function writeDeadLetter(
  writers: Writers,
  letter: Omit<DeadLetter, 'topic'> & DeadLetterDetails,
  verdict: Verdict,
  abandoned: () => boolean,
): Promise<CarriedOut> {
  for (;;) {
    const topic = letter.topic()
    const isElsewhere = () => letter.topic() !== topic
    const written = await writers.write(deadLetterRecords({ ...letter, topic }), () => abandoned() || isElsewhere())
    if (written.kind === 'abandoned' && !abandoned()) continue
    if (written.kind === 'abandoned') return written
    if (written.kind === 'written') return { kind: 'durable', wroteRecord: true, verdict }
    // Not even our headers alone fit: the topic's limit is below any use, and only its owner can mend that.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
  }
}
