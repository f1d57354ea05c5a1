import { oneLine, problemOfSecrets, transformedParts } from '@barnabas/core'
import type {
  AttemptReport,
  CloudEvent,
  FindSecret,
  Outcome,
  RequestShape,
  SourcePosition,
  TransformedParts,
} from '@barnabas/core'
import type { AddressCheck, AddressGuard } from './address-guard.ts'
import { Attempt } from './attempt.ts'
import { connectionPools } from './connection-pools.ts'
import { guardedConnector, type ResolveAll } from './connector.ts'
import { createDeadlines } from './deadlines.ts'
import { createLateAttempts } from './late-attempts.ts'
import { withoutSecrets } from './own-headers.ts'
import { webhookRequest, type WebhookRequest } from './request.ts'

export interface WebhookSenderOptions {
  readonly addressGuard: AddressGuard
  /** How names are resolved; the system's resolver by default. */
  readonly resolveAll?: ResolveAll
  /** How long an answer's body is read once its head is there, 1 s by default. */
  readonly answerBodyMs?: number
  /** What `{ secret: NAME }` means; nothing by default. */
  readonly findSecret?: FindSecret
  /** Who we say we are (`BARNABAS_ORIGIN`) to receivers that want to know; nobody by default. */
  readonly origin?: string | undefined
}

export interface WebhookAttemptOptions {
  /** The sink, one that `AddressGuard.checkSink` allowed. */
  readonly url: string
  /** Of the subscription: one object for all of its attempts. */
  readonly shape: RequestShape
  /** 1 on the first attempt; the lowest among the events. */
  readonly attemptNumber: number
  /** Where the event stood on its source topic; of one event alone. */
  readonly source?: SourcePosition | undefined
  /** From the start of the attempt to the end of the answer's head: look-up, connection and upload included. */
  readonly timeoutMs: number
  /** From the start too: how long an answer is listened for that comes after its time; absent for no longer than that. */
  readonly lateMs?: number
  /** Connections of this subscription to the sink's origin, 64 by default. */
  readonly connectionsMax?: number
  /** Our own stop: cuts the attempt off (`Canceled`), unless the answer's head is already there. */
  readonly signal?: AbortSignal
}

export interface WebhookSender {
  /**
   * Makes exactly one attempt (design, promise 2): no redirects, no retries. Never rejects for what a receiver, the
   * network, the sink or the events do; where no request can be built it makes none and says so (`isNoRequest`). Waiting for a connection of one's own subscription comes before `startedAt`. With `lateMs`
   * one that has timed out may bring an answer later (`lateAnswer`): its connection counts as none of `connectionsMax`,
   * and a process keeps 64 of them, the newest.
   */
  attempt(events: readonly [CloudEvent, ...CloudEvent[]], options: WebhookAttemptOptions): Promise<AttemptReport>
  /** Cuts off what is still in flight (`Canceled`) and closes every connection. */
  close(): Promise<void>
}

const keptBytesMax = 1_024
const readBytesMax = 65_536
const answerBodyMsDefault = 1_000
const connectionsMaxDefault = 64

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { addressGuard, resolveAll, answerBodyMs = answerBodyMsDefault, findSecret = noSecret } = options
  const settings = { findSecret, origin: options.origin }
  const pools = connectionPools(guardedConnector(addressGuard, resolveAll))
  const limits = { keptBytesMax, readBytesMax, readMsMax: answerBodyMs }
  const deadlines = createDeadlines<Attempt>()
  const late = createLateAttempts()
  const sinkOf = knownSinks(addressGuard)
  const knownSignals = new WeakSet<AbortSignal>()

  /** One listener per signal, not one per attempt: a subscription has one signal and thousands of attempts. */
  function heed(signal: AbortSignal): void {
    if (knownSignals.has(signal)) return
    knownSignals.add(signal)
    const stop = (): void => {
      for (const attempt of deadlines.all()) if (attempt.signal === signal) attempt.cutOff('stop')
    }
    signal.addEventListener('abort', stop, { once: true })
  }

  function attemptAt(
    sink: Sink,
    request: WebhookRequest,
    { shape, timeoutMs, lateMs = 0, connectionsMax = connectionsMaxDefault, signal }: WebhookAttemptOptions,
    onResult: (result: AttemptReport) => void,
  ): void {
    const { path, authority, origin } = sink
    const times = { timeoutMs, lateMs }
    const attempt = new Attempt({ request, path, authority, ...times, late, limits, deadlines, signal, onResult })
    if (signal !== undefined) heed(signal)
    if (signal?.aborted === true) return attempt.cutOff('stop')
    const slot = pools.take(shape.id, origin, connectionsMax)
    if (slot !== null) return attempt.start(slot)
    void pools
      .acquire(shape.id, origin, connectionsMax, attempt.waitSignal)
      .then((waitedFor) => attempt.start(waitedFor))
  }

  /** The text is why there can be none. */
  function requestFor(
    events: readonly [CloudEvent, ...CloudEvent[]],
    attemptOptions: WebhookAttemptOptions,
    transformed: TransformedParts | undefined,
  ): WebhookRequest | string {
    try {
      return webhookRequest(events, { ...attemptOptions, transformed }, settings)
    } catch (error) {
      return `no request can be built: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  return {
    attempt(events, attemptOptions) {
      return new Promise((resolve) => {
        const { headers, transform } = attemptOptions.shape
        const problem = headers.length === 0 ? null : problemOfSecrets(headers, findSecret)
        if (problem !== null) return resolve(noRequest(problem))
        const sink = sinkOf(attemptOptions.url)
        if (sink.check.kind !== 'allowed') {
          return resolve({ ...notAttempted('ResolutionError', sink.check.message), forbiddenAddress: true })
        }
        const { url } = attemptOptions
        const transformed = transform === undefined ? undefined : transformedParts(events, transform, url)
        if (transformed?.kind === 'impossible') return resolve(notMade(transformed.message, events.length))
        const request = requestFor(events, attemptOptions, transformed)
        if (typeof request === 'string') return resolve(noRequest(request))
        const target = transformed?.url === undefined ? sink : { ...sink, ...partsOf(transformed.url) }
        if (headers.length === 0) return attemptAt(target, request, attemptOptions, resolve)
        attemptAt(target, request, attemptOptions, (result) => {
          const { responseBody } = result
          if (responseBody === null) return resolve(result)
          resolve({ ...result, responseBody: withoutSecrets(responseBody, headers, findSecret) })
        })
      })
    },
    async close() {
      for (const attempt of deadlines.all()) attempt.cutOff('stop')
      await pools.close()
    },
  }
}

interface Sink {
  readonly check: AddressCheck
  readonly origin: string
  /** With the query. */
  readonly path: string
  /** Host and port. */
  readonly authority: string
}

const knownSinksMax = 10_000

/** What there is to know of a sink before an attempt is the same for each: the guard looks at its text alone. */
function knownSinks(guard: AddressGuard): (url: string) => Sink {
  const known = new Map<string, Sink>()
  return (url) => {
    const before = known.get(url)
    if (before !== undefined) return before
    const sink = { check: guard.checkSink(url), ...partsOf(url) }
    if (known.size >= knownSinksMax) known.clear()
    known.set(url, sink)
    return sink
  }
}

function partsOf(url: string): Omit<Sink, 'check'> {
  const parsed = URL.parse(url)
  if (parsed === null) return { origin: '', path: '', authority: '' }
  return { origin: parsed.origin, path: parsed.pathname + parsed.search, authority: parsed.host }
}

const noSecret: FindSecret = (name) => ({ kind: 'unknown', message: `the secret ${name} is not known here` })

function noRequest(problem: string): AttemptReport {
  return { ...notAttempted('GenericError', problem), isNoRequest: true }
}

/** Several are taken apart, as by a receiver's 413, until the event is found that nothing can be made of. */
function notMade(message: string, eventCount: number): AttemptReport {
  if (eventCount === 1) return notAttempted('GenericError', message)
  return { ...notAttempted('PayloadTooLarge', message), status: 413 }
}

function notAttempted(outcome: Outcome, message: string): AttemptReport {
  const now = Date.now()
  return {
    outcome,
    error: oneLine(message),
    status: null,
    responseBody: null,
    startedAt: now,
    endedAt: now,
  }
}
