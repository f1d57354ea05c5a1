import { put, rfc3339, withoutOwnHeaders, writeState } from './delivery-headers.ts'
import type { KnownState } from './delivery-headers.ts'
import { mediaTypeEssence } from './media-type.ts'
import type { HeaderValue, OutgoingRecord, RecordHeaders } from './record.ts'
import type { DeadLetterReason } from './verdict.ts'

/** An event that will not be attempted again, and everything known about its delivery. */
export interface DeadLetter {
  readonly topic: string
  /** The source record's key, value and headers, byte for byte. */
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  readonly state: KnownState
  readonly reason: DeadLetterReason
  /** ms since the epoch. */
  readonly time: number
  /** Where the event was to go, as it may be shown. */
  readonly destination?: string
  /** The last answer's body, null when there was none or it is to be left out. */
  readonly responseBody?: Buffer | null
  /** Into which blobs it belongs too: `account/container`. */
  readonly blob?: string
  /** Where it is carried to, as `targetText` writes it. */
  readonly target?: string
  /** The bytes of delivery headers that could not be read. */
  readonly damaged?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>
}

/** The same facts as CloudEvents extension attributes in Event Grid's lower-case spelling (row A15), on binary events. */
const extensionAttributes = [
  'ce_deadletterreason',
  'ce_deliveryattempts',
  'ce_lastdeliveryoutcome',
  'ce_publishtime',
  'ce_lastdeliveryattempttime',
] as const

const responseBodyBytesMax = 1024

/**
 * The record of a dead letter, in the forms to be tried one after the other while the broker refuses the one
 * before as too large: whole; without response body and error text; without its value; with our headers alone.
 * Only what is refused for good becomes smaller, and its reason then is `RecordTooLarge`.
 */
export function deadLetterRecords(letter: DeadLetter): readonly [OutgoingRecord, ...OutgoingRecord[]] {
  const { topic, key, value } = letter
  const withoutText = { ...letter, responseBody: null, state: { ...letter.state, lastError: null } }
  const tooLarge = { ...withoutText, reason: 'RecordTooLarge' as const }
  return [
    { topic, key, value, headers: deadLetterHeaders(letter) },
    { topic, key, value, headers: deadLetterHeaders(withoutText) },
    { topic, key, value: null, headers: deadLetterHeaders(tooLarge) },
    { topic, key: null, value: null, headers: deadLetterHeaders({ ...tooLarge, headers: {}, damaged: {} }) },
  ]
}

function deadLetterHeaders(letter: DeadLetter): RecordHeaders {
  const { state } = letter
  const headers = withoutOwnHeaders(letter.headers)
  writeState(headers, state)
  put(headers, 'barnabas-dead-letter-reason', letter.reason)
  put(headers, 'barnabas-dead-letter-time', rfc3339(letter.time))
  if (letter.destination !== undefined) put(headers, 'barnabas-destination', letter.destination)
  if (letter.blob !== undefined) put(headers, 'barnabas-dead-letter-blob', letter.blob)
  if (letter.target !== undefined) put(headers, 'barnabas-dead-letter-target', letter.target)
  if (letter.responseBody) put(headers, 'barnabas-response-body', utf8Prefix(letter.responseBody, responseBodyBytesMax))
  for (const [name, bytes] of Object.entries(letter.damaged ?? {})) {
    headers[`barnabas-malformed-${name.slice('barnabas-'.length)}`] = bytes
  }
  if (isBinaryMode(letter.headers)) writeExtensionAttributes(headers, letter)
  return headers
}

/**
 * The headers of a dead letter without what it added: those of ours, and in binary mode the five attributes. What an
 * earlier dead letter had left in their place is gone with them.
 */
export function withoutDeadLetterMarks(headers: RecordHeaders): RecordHeaders {
  const rest = withoutOwnHeaders(headers)
  if (isBinaryMode(headers)) for (const name of extensionAttributes) delete rest[name]
  return rest
}

/** A CloudEvents content type decides before `ce_` headers, which a structured event may carry too (Kafka binding §3.3). */
function isBinaryMode(headers: RecordHeaders): boolean {
  if (headers['ce_specversion'] === undefined) return false
  return !Object.entries(headers).some(
    ([name, value]) =>
      name.toLowerCase() === 'content-type' &&
      Buffer.isBuffer(value) &&
      mediaTypeEssence(value.toString('latin1')).startsWith('application/cloudevents'),
  )
}

function writeExtensionAttributes(headers: Record<string, HeaderValue | readonly HeaderValue[]>, letter: DeadLetter) {
  const { state } = letter
  const values = {
    ce_deadletterreason: letter.reason,
    ce_deliveryattempts: state.attempts,
    ce_lastdeliveryoutcome: state.lastOutcome,
    ce_publishtime: state.publishTime === undefined ? undefined : rfc3339(state.publishTime),
    ce_lastdeliveryattempttime: state.lastAttemptTime == null ? undefined : rfc3339(state.lastAttemptTime),
  } satisfies Record<(typeof extensionAttributes)[number], unknown>
  for (const name of extensionAttributes) {
    const value = values[name]
    // What stands there may be from an earlier dead letter: what is unknown now must not look known.
    if (value === undefined || value === null) delete headers[name]
    else headers[name] = Buffer.from(String(value))
  }
}

/** Bytes as UTF-8 of at most `bytesMax` bytes, cut at a character; what is no UTF-8 becomes U+FFFD. */
export function utf8Prefix(bytes: Buffer, bytesMax: number): Buffer {
  // Bytes that fill the limit were probably cut there already: `stream` leaves out a character that is not whole.
  const isCut = bytes.length >= bytesMax
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, bytesMax), { stream: isCut })
  // Replacement characters lengthen the text; `write` stops before a character that does not fit.
  const prefix = Buffer.alloc(bytesMax)
  return prefix.subarray(0, prefix.write(text))
}
