import { withoutDeadLetterMarks } from './dead-letter.ts'
import { decodeRetryHeaders, retryHeaders } from './delivery-headers.ts'
import type { KnownState } from './delivery-headers.ts'
import { newDeliveryState } from './delivery-state.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { KafkaRecord, OutgoingRecord } from './record.ts'
import { tierPartition } from './tier-choice.ts'
import type { DeadLetterReason } from './verdict.ts'

/** Why a dead letter is not sent again. It stays where it is. */
export const redriveRefusals = [
  /** Its subscription was deleted, or made anew: another life of the id. */
  'subscription-gone',
  /** It was sent again as often as is allowed. */
  'too-many-redrives',
  /** Its value was too large to be kept (`RecordTooLarge`): an empty event must not look like it. */
  'value-lost',
  /** Its delivery headers do not say what a retry record must. */
  'headers-damaged',
  /** The topic does not take a record of its size. */
  'too-large',
  /** Older than marks are kept: whether it was sent again cannot be known. */
  'too-old',
] as const

export type RedriveRefusal = (typeof redriveRefusals)[number]

/** So often may an event be sent again, unless whoever does it says otherwise: what fails for the sixth time fails again. */
export const redrivesMaxDefault = 5

export interface RedriveOptions {
  /** The subscription and the life of it that the event goes to, null when there is none. */
  readonly recipientOf: (
    subscriptionId: string,
    generation: number,
  ) => { readonly id: string; readonly generation: number } | null
  readonly redrivesMax: number
  /** The tier without a delay. */
  readonly to: { readonly topic: string; readonly partitions: number }
  /** ms since the epoch. */
  readonly now: number
}

export type PlannedRedrive =
  | { readonly kind: 'redrive'; readonly record: OutgoingRecord; readonly state: DeliveryState }
  | { readonly kind: 'left'; readonly because: RedriveRefusal; readonly detail: string }

/**
 * The retry record that sends a dead letter to its subscription again (row B8): due at once, with a fresh count of
 * attempts, a fresh schedule and time to live, counted in `barnabas-redrives`, with the time of its first publication.
 * What the dead letter added, the five attributes included, is taken away; the rest stays byte for byte.
 */
export function planRedrive(
  letter: Pick<KafkaRecord, 'key' | 'value' | 'headers'>,
  reason: DeadLetterReason | (string & {}),
  options: RedriveOptions,
): PlannedRedrive {
  const { key, value, headers } = letter
  const decoded = decodeRetryHeaders(headers)
  const known: KnownState = decoded.kind === 'state' ? decoded.state : decoded.known
  const damaged = decoded.kind === 'state' ? {} : decoded.damaged
  const { subscriptionId, generation, publishTime, source } = known
  const missing = missingHeaders(known)
  if (damaged['barnabas-redrives'] !== undefined) missing.push('barnabas-redrives')
  if (
    missing.length > 0 ||
    subscriptionId === undefined ||
    generation === undefined ||
    publishTime === undefined ||
    source?.topic === undefined ||
    source.partition === undefined ||
    source.offset === undefined
  ) {
    return left('headers-damaged', `it does not say ${missing.join(', ')}`)
  }
  const position = { topic: source.topic, partition: source.partition, offset: source.offset }
  if (reason === 'RecordTooLarge') {
    return left('value-lost', `its value stands at ${position.topic}/${position.partition}/${position.offset} alone`)
  }
  const redrives = known.redrives ?? 0
  if (redrives >= options.redrivesMax) return left('too-many-redrives', `it was sent again ${redrives} times`)
  const recipient = options.recipientOf(subscriptionId, generation)
  if (recipient === null) return left('subscription-gone', `${subscriptionId} was deleted, or deleted and made anew`)
  const state = { ...newDeliveryState(recipient, position, publishTime), redrives: redrives + 1, hops: 1 }
  const { topic, partitions } = options.to
  const partition = tierPartition(recipient.id, position, partitions)
  return {
    kind: 'redrive',
    state,
    record: {
      topic,
      partition,
      key,
      value,
      headers: retryHeaders(withoutDeadLetterMarks(headers), state, options.now),
    },
  }
}

function missingHeaders({ subscriptionId, generation, publishTime, source }: KnownState): string[] {
  const facts = {
    'barnabas-subscription': subscriptionId,
    'barnabas-subscription-generation': generation,
    'barnabas-publish-time': publishTime,
    'barnabas-source-topic': source?.topic,
    'barnabas-source-partition': source?.partition,
    'barnabas-source-offset': source?.offset,
  }
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [name] : []))
}

function left(because: RedriveRefusal, detail: string): PlannedRedrive {
  return { kind: 'left', because, detail }
}
