import { deadLetterRecords, retryHeaders, tierFor, tierPartition } from '@barnabas/core'
import type {
  DeadLetter,
  DeliveryState,
  InPlaceEvent,
  KafkaRecord,
  OutgoingRecord,
  Tier,
  Verdict,
} from '@barnabas/core'
import type { Owner } from './owner.ts'
import type { Writers } from './writers.ts'

/** Whatever a verdict is about: an event's record as it stood on its source topic, and what is known of its delivery. */
export interface Parcel {
  /** As it was read; its members are looked at only when they are written again. */
  readonly record: Pick<KafkaRecord, 'key' | 'value' | 'headers'>
  readonly state: DeliveryState
  /** Of the event in it; null where it could not be read. */
  readonly eventId?: string | null
}

/** How a dead letter of this parcel looks. */
export interface DeadLetterDetails {
  /** Asked anew before each try: while a topic takes no records its subscription may be given another, or be deleted. */
  readonly topic: () => string
  readonly destination?: string
  readonly responseBody?: Buffer | null
  readonly blob?: string
  readonly target?: string
}

export type CarriedOut =
  /** Durable. `wroteRecord`: because another record was written. */
  | { readonly kind: 'durable'; readonly wroteRecord: boolean; readonly verdict: Verdict }
  /** It stays where it is, which is written down; its offset must not be committed. */
  | { readonly kind: 'in-place'; readonly verdict: Verdict; readonly event: InPlaceEvent }
  /** Nothing may be done for it any more (its partition is lost): its offset must not be committed. */
  | { readonly kind: 'abandoned' }

/** No request can be built, and nothing was done: its subscription is to stop (row B3). */
export interface NoRequest {
  readonly kind: 'no-request'
  /** One line without secrets. */
  readonly message: string
}

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
  /** Writes down what is known of an event that stays where it is; false when it is no longer ours. */
  readonly keepInPlace: (event: InPlaceEvent, owner: Owner) => Promise<boolean>
  /** Sorted by delay, `now` first. */
  readonly tiers: readonly Tier[]
  readonly tierTopic: (tier: Tier) => string
  readonly tierPartitions: number
  readonly timeScale: number
  readonly now: () => number
}

/** Gives its answer at once where nothing is written: nearly every verdict is `done`. */
export type CarryOut = (
  verdict: Verdict,
  parcel: Parcel,
  deadLetter: () => DeadLetterDetails,
  owner: Owner,
) => CarriedOut | Promise<CarriedOut>

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
    const { key, value, headers } = parcel.record
    const partition = tierPartition(state.subscriptionId, state.source, partitions)
    const record = { topic, partition, key, value }
    return [
      { ...record, headers: retryHeaders(headers, state, dueAt) },
      { ...record, headers: retryHeaders(headers, { ...state, lastError: null }, dueAt) },
    ]
  }

  function tierOf(dueAt: number) {
    const tier = tierFor(dueAt - now(), options.tiers, options.timeScale)
    return { topic: options.tierTopic(tier), partitions: options.tierPartitions }
  }

  async function heldTopicOf(subscriptionId: string, owner: Owner): Promise<HeldTopic> {
    for (;;) {
      const found = await options.heldTopics.find(subscriptionId)
      if (found.kind !== 'unavailable' || owner.lost) return found
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
    }
  }

  const carryOut: CarryOut = (verdict, parcel, deadLetter, owner) => {
    if (owner.lost) return { kind: 'abandoned' }
    switch (verdict.kind) {
      case 'done':
      case 'drop':
        return { kind: 'durable', wroteRecord: false, verdict }
      case 'retry':
      case 'park':
        return writeRetry(verdict, parcel, tierOf(verdict.dueAt), deadLetter, owner)
      case 'hold':
        return hold(verdict, parcel, deadLetter, owner)
      case 'dead-letter':
        return writeLetter(verdict, parcel.record, parcel.state, deadLetter(), owner)
      case 'retry-in-place':
      case 'block':
        return keepInPlace(verdict, parcel, owner)
      default:
        return verdict satisfies never
    }
  }

  async function hold(
    verdict: Extract<Verdict, { kind: 'hold' }>,
    parcel: Parcel,
    deadLetter: () => DeadLetterDetails,
    owner: Owner,
  ): Promise<CarriedOut> {
    const held = await heldTopicOf(parcel.state.subscriptionId, owner)
    if (held.kind === 'there') return writeRetry(verdict, parcel, held, deadLetter, owner)
    if (held.kind === 'unavailable') return { kind: 'abandoned' }
    // Nobody waits for it in the tier either: it leaves that, and comes back.
    const againMs = parkAgainMs * options.timeScale
    const waiting = verdict.because === 'stopped' ? expiringLater(parcel, againMs) : parcel
    return carryOut({ kind: 'park', dueAt: now() + againMs }, waiting, deadLetter, owner)
  }

  async function writeRetry(
    verdict: Extract<Verdict, { kind: 'retry' | 'park' | 'hold' }>,
    parcel: Parcel,
    to: { readonly topic: string; readonly partitions: number },
    deadLetter: () => DeadLetterDetails,
    owner: Owner,
  ): Promise<CarriedOut> {
    const written = await writers.write(retryRecords(parcel, verdict.dueAt, to), owner)
    if (written.kind === 'abandoned') return written
    if (written.kind === 'written') return { kind: 'durable', wroteRecord: true, verdict }
    // The value alone is more than a tier takes: only its position can be kept.
    const { key, headers } = parcel.record
    const tooLarge = { kind: 'dead-letter', reason: 'RecordTooLarge' } as const
    return writeLetter(tooLarge, { key, value: null, headers }, parcel.state, deadLetter(), owner)
  }

  /** Counted for good before anything else is done with it: a restart goes on from there (row B5). */
  async function keepInPlace(
    verdict: Extract<Verdict, { kind: 'retry-in-place' | 'block' }>,
    { state, eventId = null }: Parcel,
    owner: Owner,
  ): Promise<CarriedOut> {
    const at = now()
    const standing =
      verdict.kind === 'block'
        ? ({ kind: 'blocked', reason: verdict.reason, since: at } as const)
        : ({ kind: 'waiting', dueAt: verdict.dueAt } as const)
    const event: InPlaceEvent = { state: { ...state, hops: 0 }, eventId, standing, at }
    return (await options.keepInPlace(event, owner)) ? { kind: 'in-place', verdict, event } : { kind: 'abandoned' }
  }

  function writeLetter(
    verdict: Extract<Verdict, { kind: 'dead-letter' }>,
    { key, value, headers }: Parcel['record'],
    state: DeliveryState,
    details: DeadLetterDetails,
    owner: Owner,
  ): Promise<CarriedOut> {
    const letter = { key, value, headers, state, ...details, reason: verdict.reason, time: now() }
    return writeDeadLetter(writers, letter, verdict, owner)
  }

  return carryOut
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
  owner: Owner,
): Promise<CarriedOut> {
  for (;;) {
    const topic = letter.topic()
    const isElsewhere = () => letter.topic() !== topic
    const here: Owner = {
      get lost() {
        return owner.lost || isElsewhere()
      },
      get settled() {
        return owner.settled
      },
    }
    const written = await writers.write(deadLetterRecords({ ...letter, topic }), here)
    if (written.kind === 'abandoned' && !owner.lost) continue
    if (written.kind === 'abandoned') return written
    if (written.kind === 'written') return { kind: 'durable', wroteRecord: true, verdict }
    // Not even our headers alone fit: the topic's limit is below any use, and only its owner can mend that.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
  }
}
