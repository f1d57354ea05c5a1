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

export interface CarryOutOptions {
  readonly writers: Writers
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

/** The one switch that carries out verdicts, for dispatcher and retrier alike (design, promise 3). */
export function createCarryOut(options: CarryOutOptions): CarryOut {
  const { writers, now } = options

  function retryRecords(parcel: Parcel, dueAt: number): readonly OutgoingRecord[] {
    const tier = tierFor(dueAt - now(), options.tiers, options.timeScale)
    const state = { ...parcel.state, hops: parcel.state.hops + 1 }
    const record = {
      topic: options.tierTopic(tier),
      partition: tierPartition(state.subscriptionId, state.source, options.tierPartitions),
      key: parcel.key,
      value: parcel.value,
    }
    return [
      { ...record, headers: retryHeaders(parcel.headers, state, dueAt) },
      { ...record, headers: retryHeaders(parcel.headers, { ...state, lastError: null }, dueAt) },
    ]
  }

  return async function carryOut(verdict, parcel, details, abandoned) {
    if (abandoned()) return { kind: 'abandoned' }
    switch (verdict.kind) {
      case 'done':
      case 'drop':
        return { kind: 'durable', wroteRecord: false, verdict }
      case 'retry':
      case 'park': {
        const written = await writers.write(retryRecords(parcel, verdict.dueAt), abandoned)
        if (written.kind === 'abandoned') return written
        if (written.kind === 'written') return { kind: 'durable', wroteRecord: true, verdict }
        // The value alone is more than a tier takes: only its position can be kept.
        return carryOut(
          { kind: 'dead-letter', reason: 'RecordTooLarge' },
          { ...parcel, value: null },
          details,
          abandoned,
        )
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
  }
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
