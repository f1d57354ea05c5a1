import { STATUS_CODES } from 'node:http'
import { outcomeOfStatus, type AttemptResult, type CloudEvent } from '@barnabas/core'
import type { AddressGuard } from './address-guard.ts'
import { readAnswerBody, type AnswerBodyLimits } from './answer-body.ts'
import { connectionPools, type Slot } from './connection-pools.ts'
import { guardedConnector, type ResolveAll } from './connector.ts'
import { oneLine } from './one-line.ts'
import { webhookRequest, type WebhookRequest } from './request.ts'
import { transportFailure } from './transport-error.ts'

export interface WebhookSenderOptions {
  readonly addressGuard: AddressGuard
  /** How names are resolved; the system's resolver by default. */
  readonly resolveAll?: ResolveAll
  /** How long an answer's body is read once its head is there, 1 s by default. */
  readonly answerBodyMs?: number
}

export interface WebhookAttemptOptions {
  /** The sink, one that `AddressGuard.checkSink` allowed. */
  readonly url: string
  readonly mode: 'binary' | 'structured'
  readonly subscriptionId: string
  /** 1 on the first attempt. */
  readonly attemptNumber: number
  /** From the start of the attempt to the end of the answer's head: look-up, connection and upload included. */
  readonly timeoutMs: number
  /** Connections of this subscription to the sink's origin, 64 by default. */
  readonly connectionsMax?: number
  /** Our own stop: cuts the attempt off (`Canceled`), unless the answer's head is already there. */
  readonly signal?: AbortSignal
}

export interface WebhookSender {
  /**
   * Makes exactly one attempt (design, promise 2): no redirects, no retries. Never rejects for what a receiver, the
   * network or the sink does. Waiting for a connection of one's own subscription comes before `startedAt`.
   */
  attempt(events: readonly [CloudEvent, ...CloudEvent[]], options: WebhookAttemptOptions): Promise<AttemptResult>
  /** Cuts off what is still in flight (`Canceled`) and closes every connection. */
  close(): Promise<void>
}

const keptBytesMax = 1_024
const readBytesMax = 65_536
const answerBodyMsDefault = 1_000
const connectionsMaxDefault = 64
/** Node's timers fire at once when they are set for longer. */
const timerMsMax = 2 ** 31 - 1

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { addressGuard, resolveAll, answerBodyMs = answerBodyMsDefault } = options
  const pools = connectionPools(guardedConnector(addressGuard, resolveAll))
  const limits = { keptBytesMax, readBytesMax, readMsMax: answerBodyMs }
  const inFlight = new Set<AttemptCut>()

  return {
    async attempt(events, attemptOptions) {
      const request = webhookRequest(events, attemptOptions)
      const { subscriptionId, timeoutMs, connectionsMax = connectionsMaxDefault, signal } = attemptOptions
      const sink = addressGuard.checkSink(attemptOptions.url)
      if (sink.kind === 'forbidden')
        return failure(Date.now(), { outcome: 'ResolutionError', error: oneLine(sink.message) })
      const url = new URL(attemptOptions.url)
      const cut = new AttemptCut()
      const stop = (): void => cut.off('stop')
      inFlight.add(cut)
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted === true) stop()
      try {
        const slot = await pools.acquire(subscriptionId, url.origin, connectionsMax, cut.signal)
        if (slot === null) return failure(Date.now(), canceled)
        return await attemptOnce(slot, url, request, timeoutMs, limits, cut)
      } finally {
        signal?.removeEventListener('abort', stop)
        inFlight.delete(cut)
      }
    },
    async close() {
      for (const cut of inFlight) cut.off('stop')
      await pools.close()
    },
  }
}

/** One attempt is cut off at most once, by its deadline or by our own stop; a second reason changes nothing. */
class AttemptCut {
  readonly #controller = new AbortController()
  by: 'deadline' | 'stop' | null = null

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  off(by: 'deadline' | 'stop'): void {
    this.by ??= by
    this.#controller.abort()
  }
}

async function attemptOnce(
  slot: Slot,
  url: URL,
  request: WebhookRequest,
  timeoutMs: number,
  limits: AnswerBodyLimits,
  cut: AttemptCut,
): Promise<AttemptResult> {
  const startedAt = Date.now()
  let late: NodeJS.Immediate | undefined
  // When the process was busy or asleep past the deadline, an answer that came in time may still lie in the socket:
  // one turn of the event loop reads it, and the event is not delivered twice.
  const deadline = setTimeout(() => (late = setImmediate(() => cut.off('deadline'))), Math.min(timeoutMs, timerMsMax))
  try {
    const answer = await slot.pool.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: request.headers,
      body: request.body,
      signal: cut.signal,
    })
    clearTimeout(deadline)
    clearImmediate(late)
    const endedAt = Date.now()
    const body = readAnswerBody(answer.body, limits, cut.signal)
    // undici takes a connection for its next request only one turn of the event loop after the last answer.
    void body.finished.then(() => setImmediate(() => slot.release()))
    return { ...answered(answer.statusCode), startedAt, endedAt, responseBody: await body.beginning }
  } catch (thrown) {
    slot.release()
    if (cut.by === 'deadline') {
      const error = `no complete answer head within ${timeoutMs / 1_000} s`
      return { ...failure(startedAt, { outcome: 'TimedOut', error }), endedAt: startedAt + timeoutMs }
    }
    return failure(startedAt, cut.by === 'stop' ? canceled : transportFailure(thrown, url.host))
  } finally {
    clearTimeout(deadline)
    clearImmediate(late)
  }
}

function answered(status: number): Pick<AttemptResult, 'outcome' | 'status' | 'error'> {
  const outcome = outcomeOfStatus(status)
  if (outcome === 'Delivered') return { outcome, status, error: null }
  const isRedirect = status >= 300 && status < 400
  const meaning = `${status} ${STATUS_CODES[status] ?? ''}`.trim()
  return { outcome, status, error: `answered ${meaning}${isRedirect ? '; redirects are not followed' : ''}` }
}

const canceled = { outcome: 'Canceled', error: 'cut off by our own stop' } as const

/** An attempt that brought no answer and is over now. */
function failure(startedAt: number, what: Pick<AttemptResult, 'outcome' | 'error'>): AttemptResult {
  return { ...what, status: null, responseBody: null, startedAt, endedAt: Date.now() }
}
