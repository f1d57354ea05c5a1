import type { DeliveryState } from './delivery-state.ts'
import { outcomes } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { HeaderValue, RecordHeaders } from './record.ts'
import { utf8Text } from './utf8.ts'

/**
 * The headers in which what is known about a delivery travels (reference: `docs/delivery.md`, checked against this
 * table). Text is UTF-8, times are RFC 3339 in UTC with milliseconds, numbers are decimal.
 */
export const deliveryHeaders = {
  'barnabas-subscription': { retry: 'required', deadLetter: true },
  'barnabas-subscription-generation': { retry: 'required', deadLetter: true },
  'barnabas-attempts': { retry: 'required', deadLetter: true },
  'barnabas-publish-time': { retry: 'required', deadLetter: true },
  'barnabas-first-attempt-time': { retry: 'optional', deadLetter: true },
  'barnabas-last-attempt-time': { retry: 'optional', deadLetter: true },
  'barnabas-expiry-time': { retry: 'optional', deadLetter: false },
  'barnabas-due-time': { retry: 'required', deadLetter: false },
  'barnabas-last-outcome': { retry: 'optional', deadLetter: true },
  'barnabas-last-status': { retry: 'optional', deadLetter: true },
  'barnabas-last-error': { retry: 'optional', deadLetter: true },
  'barnabas-source-topic': { retry: 'required', deadLetter: true },
  'barnabas-source-partition': { retry: 'required', deadLetter: true },
  'barnabas-source-offset': { retry: 'required', deadLetter: true },
  'barnabas-skips': { retry: 'optional', deadLetter: true },
  'barnabas-redrives': { retry: 'optional', deadLetter: true },
  'barnabas-hops': { retry: 'required', deadLetter: false },
  'barnabas-destination': { retry: 'never', deadLetter: true },
  'barnabas-dead-letter-reason': { retry: 'never', deadLetter: true },
  'barnabas-dead-letter-time': { retry: 'never', deadLetter: true },
  'barnabas-dead-letter-blob': { retry: 'never', deadLetter: true },
  'barnabas-dead-letter-target': { retry: 'never', deadLetter: true },
  'barnabas-response-body': { retry: 'never', deadLetter: true },
} as const satisfies Record<string, { retry: 'required' | 'optional' | 'never'; deadLetter: boolean }>

export type DeliveryHeader = keyof typeof deliveryHeaders

/** Prefix of every header that is ours; whatever a record already carries under it is replaced. */
export const ownHeaderPrefix = 'barnabas-'

/** The headers of a retry record: the source record's own, and what is known about its delivery. */
export function retryHeaders(original: RecordHeaders, state: DeliveryState, dueAt: number): RecordHeaders {
  const headers = withoutOwnHeaders(original)
  writeState(headers, state)
  // Rounded up: a due time cut to whole milliseconds would be early.
  put(headers, 'barnabas-due-time', rfc3339(Math.ceil(dueAt)))
  put(headers, 'barnabas-hops', state.hops)
  if (state.expiryTime !== null) put(headers, 'barnabas-expiry-time', rfc3339(state.expiryTime))
  return headers
}

/** The headers that a retry record and a dead letter share. What cannot be known is absent. */
export function writeState(headers: Record<string, HeaderValue | readonly HeaderValue[]>, state: KnownState): void {
  const { source } = state
  if (state.subscriptionId !== undefined) put(headers, 'barnabas-subscription', state.subscriptionId)
  if (state.generation !== undefined) put(headers, 'barnabas-subscription-generation', state.generation)
  if (state.attempts !== undefined) put(headers, 'barnabas-attempts', state.attempts)
  if (state.publishTime !== undefined) put(headers, 'barnabas-publish-time', rfc3339(state.publishTime))
  if (state.firstAttemptTime != null) put(headers, 'barnabas-first-attempt-time', rfc3339(state.firstAttemptTime))
  if (state.lastAttemptTime != null) put(headers, 'barnabas-last-attempt-time', rfc3339(state.lastAttemptTime))
  if (state.lastOutcome) put(headers, 'barnabas-last-outcome', state.lastOutcome)
  if (state.lastStatus != null) put(headers, 'barnabas-last-status', state.lastStatus)
  if (state.lastError) put(headers, 'barnabas-last-error', state.lastError)
  if (source?.topic !== undefined) put(headers, 'barnabas-source-topic', source.topic)
  if (source?.partition !== undefined) put(headers, 'barnabas-source-partition', source.partition)
  if (source?.offset !== undefined) put(headers, 'barnabas-source-offset', source.offset)
  if (state.skips) put(headers, 'barnabas-skips', state.skips)
  if (state.redrives) put(headers, 'barnabas-redrives', state.redrives)
}

/** A state of which, after damage, only some may be known. */
export type KnownState = Partial<Omit<DeliveryState, 'source'>> & {
  readonly source?: Partial<DeliveryState['source']>
}

export function put(
  headers: Record<string, HeaderValue | readonly HeaderValue[]>,
  name: DeliveryHeader,
  value: string | number | Buffer,
): void {
  headers[name] = Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}

/** A copy of the headers without those that are ours. Values are shared, not copied. */
export function withoutOwnHeaders(headers: RecordHeaders): Record<string, HeaderValue | readonly HeaderValue[]> {
  // Without a prototype, so that a header may be called anything, `__proto__` included.
  const rest = Object.create(null) as Record<string, HeaderValue | readonly HeaderValue[]>
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined && !name.startsWith(ownHeaderPrefix)) rest[name] = value
  }
  return rest
}

export type DecodedRetryHeaders =
  | { readonly kind: 'state'; readonly state: DeliveryState; readonly dueAt: number }
  | {
      readonly kind: 'malformed'
      /** One line that names each bad header and what is wrong with it. */
      readonly message: string
      /** What could be read all the same. */
      readonly known: KnownState
      /** The bytes of the damaged headers, by their names. */
      readonly damaged: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>
    }

/**
 * Reads the delivery headers of a retry record. A missing required header or a damaged one makes the record
 * malformed: a count that cannot be read must not start again at 0 (design, promise 6).
 */
export function decodeRetryHeaders(headers: RecordHeaders): DecodedRetryHeaders {
  const problems: string[] = []
  const damaged: Record<string, HeaderValue | readonly HeaderValue[]> = {}

  function read<Value>(name: DeliveryHeader, parse: (text: string) => Value | undefined, expected: string) {
    const value = headers[name]
    if (value === undefined) {
      if (deliveryHeaders[name].retry === 'required') problems.push(`${name} is missing`)
      return undefined
    }
    const text = value instanceof Buffer ? utf8Text(value) : undefined
    const parsed = text === undefined ? undefined : parse(text)
    if (parsed === undefined) {
      problems.push(`${name} is not ${expected}`)
      damaged[name] = value
    }
    return parsed
  }

  const known = {
    subscriptionId: read('barnabas-subscription', parseText, 'a subscription id'),
    generation: read('barnabas-subscription-generation', parseCount, 'a whole number'),
    source: {
      topic: read('barnabas-source-topic', parseText, 'a topic'),
      partition: read('barnabas-source-partition', parseCount, 'a whole number'),
      offset: read('barnabas-source-offset', parseCount, 'a whole number'),
    },
    publishTime: read('barnabas-publish-time', parseRfc3339, 'an RFC 3339 time'),
    attempts: read('barnabas-attempts', parseCount, 'a whole number'),
    firstAttemptTime: read('barnabas-first-attempt-time', parseRfc3339, 'an RFC 3339 time'),
    lastAttemptTime: read('barnabas-last-attempt-time', parseRfc3339, 'an RFC 3339 time'),
    expiryTime: read('barnabas-expiry-time', parseRfc3339, 'an RFC 3339 time'),
    lastOutcome: read('barnabas-last-outcome', parseOutcome, `one of ${outcomes.join(', ')}`),
    lastStatus: read('barnabas-last-status', parseStatus, 'an HTTP status'),
    lastError: read('barnabas-last-error', parseText, 'UTF-8 text'),
    skips: read('barnabas-skips', parseCount, 'a whole number'),
    redrives: read('barnabas-redrives', parseCount, 'a whole number'),
    hops: read('barnabas-hops', parseCount, 'a whole number'),
  }
  const dueAt = read('barnabas-due-time', parseRfc3339, 'an RFC 3339 time')

  const { source, subscriptionId, generation, publishTime, attempts, hops } = known
  if (
    problems.length > 0 ||
    dueAt === undefined ||
    subscriptionId === undefined ||
    generation === undefined ||
    publishTime === undefined ||
    attempts === undefined ||
    hops === undefined ||
    source.topic === undefined ||
    source.partition === undefined ||
    source.offset === undefined
  ) {
    return { kind: 'malformed', message: problems.join('; '), known, damaged }
  }
  return {
    kind: 'state',
    dueAt,
    state: {
      subscriptionId,
      generation,
      source: { topic: source.topic, partition: source.partition, offset: source.offset },
      publishTime,
      attempts,
      hops,
      firstAttemptTime: known.firstAttemptTime ?? null,
      lastAttemptTime: known.lastAttemptTime ?? null,
      expiryTime: known.expiryTime ?? null,
      lastOutcome: known.lastOutcome ?? null,
      lastStatus: known.lastStatus ?? null,
      lastError: known.lastError ?? null,
      skips: known.skips ?? 0,
      redrives: known.redrives ?? 0,
    },
  }
}

/** A time (ms since the epoch) as headers write it. Producers may stamp any number: what RFC 3339 cannot write is clamped. */
export function rfc3339(time: number): string {
  return new Date(Math.min(Math.max(time, earliestTime), latestTime)).toISOString()
}

const earliestTime = Date.parse('0000-01-01T00:00:00.000Z')
const latestTime = Date.parse('9999-12-31T23:59:59.999Z')

const rfc3339Pattern = /^\d{4}-\d{2}-\d{2}T(?!24)\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** ms since the epoch; undefined for what is no time. */
export function parseRfc3339(text: string): number | undefined {
  if (!rfc3339Pattern.test(text)) return undefined
  const time = Date.parse(text)
  const day = text.slice(0, 10)
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(time) || !new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)) return undefined
  return time
}

function parseCount(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined
  const count = Number(text)
  return Number.isSafeInteger(count) ? count : undefined
}

function parseStatus(text: string): number | undefined {
  // Any three digits that a status line can carry: a status that we wrote down must be readable.
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined
}

function parseText(text: string): string | undefined {
  return text === '' ? undefined : text
}

function parseOutcome(text: string): Outcome | undefined {
  return outcomes.find((outcome) => outcome === text)
}
