import { STATUS_CODES } from 'node:http'
import { outcomeOfStatus, parseRetryAfter, type AttemptReport, type AttemptResult } from '@barnabas/core'
import type { Dispatcher } from 'undici'
import type { Slot } from './connection-pools.ts'
import type { Deadlines, Timed } from './deadlines.ts'
import type { LateAttempt, LateAttempts } from './late-attempts.ts'
import type { WebhookRequest } from './request.ts'
import { transportFailure } from './transport-error.ts'

/** As undici gives them: several of one name are a list. */
type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface AnswerBodyLimits {
  /** How much of the body is kept. */
  readonly keptBytesMax: number
  /** How much is read at most, so that the connection can be used again; a longer body ends the connection. */
  readonly readBytesMax: number
  /** How long the body is read at most; one that drips or hangs ends the connection. */
  readonly readMsMax: number
}

export interface AttemptSettings {
  readonly request: WebhookRequest
  readonly path: string
  /** The sink's host and port, for errors that do not say where they happened. */
  readonly authority: string
  /** From `start` to the end of the answer's head. */
  readonly timeoutMs: number
  /** From `start`: how long an answer is waited for beyond the deadline; no longer than `timeoutMs` for not at all. */
  readonly lateMs: number
  readonly late: LateAttempts
  readonly limits: AnswerBodyLimits
  /** Where it stands until it holds no connection any more. */
  readonly deadlines: Deadlines<Attempt>
  /** Our own stop. */
  readonly signal: AbortSignal | undefined
  /** Called once, as soon as no more of the answer is kept. */
  readonly onResult: (result: AttemptReport) => void
}

/**
 * One attempt, from the wait for a connection to the end of the answer:
 *
 *     waiting ──start──► sent ──head──► reading ──end, limit or cut──► over
 *        │                 ├── error, deadline or stop ──────────────► over
 *        │                 └── deadline ──► late ──head, error, cut ─► over
 *        └── stop ───────────────────────────────────────────────────► over
 *
 * `late` (row A7): the attempt has timed out and its slot is free; what was sent is listened to for some time yet.
 *
 * With the head the outcome is decided: a body that is cut, hangs or never ends is no failure (interface,
 * "Outcomes"). It is cut off at most once, by its deadline or by our own stop; a second reason changes nothing.
 *
 * It is undici's handler itself, with no stream, no AbortSignal and no timer of its own: this is the hot path, and
 * these cost more than the request (docs/performance.md).
 */
export class Attempt implements Dispatcher.DispatchHandler, Timed, LateAttempt {
  dueAt = Infinity
  place = -1
  readonly #settings: AttemptSettings
  #phase: 'waiting' | 'sent' | 'reading' | 'late' | 'over' = 'waiting'
  #cutBy: 'deadline' | 'stop' | null = null
  #whileWaiting: AbortController | null = null
  #slot: Slot | null = null
  #controller: Dispatcher.DispatchController | null = null
  #startedAt = 0
  #endedAt = 0
  #status = 0
  #retryAfter: number | null = null
  #wasSent = false
  #isSettled = false
  #kept: Buffer[] | null = null
  #readBytes = 0
  #endLate: ((answer: AttemptResult | null) => void) | null = null

  constructor(settings: AttemptSettings) {
    this.#settings = settings
    settings.deadlines.watch(this)
  }

  get signal(): AbortSignal | undefined {
    return this.#settings.signal
  }

  /** Aborted when the attempt is cut off while it waits for a connection. Made for those that have to wait only. */
  get waitSignal(): AbortSignal {
    this.#whileWaiting ??= new AbortController()
    return this.#whileWaiting.signal
  }

  /** The clock starts now. Null when there is no connection, and will be none. */
  start(slot: Slot | null): void {
    if (this.#phase === 'over') return slot?.release()
    if (slot === null) return this.cutOff('stop')
    const { request, path, timeoutMs, deadlines } = this.#settings
    this.#slot = slot
    this.#phase = 'sent'
    this.#startedAt = Date.now()
    this.dueAt = performance.now() + timeoutMs
    deadlines.watch(this)
    slot.pool.dispatch({ method: 'POST', path, headers: request.headers, body: request.body }, this)
  }

  cutOff(by: 'deadline' | 'stop'): void {
    if (this.#phase === 'over') return
    if (this.#phase === 'late') return this.#endLate?.(null)
    if (this.#phase !== 'reading') this.#cutBy ??= by
    if (this.#cutBy === 'deadline' && this.#mayComeLate()) return this.#listenOn()
    if (this.#controller !== null) {
      this.#controller.abort(cutOff)
      return
    }
    this.#whileWaiting?.abort()
    this.#fail(cutOff)
  }

  onDue(): void {
    if (this.#phase === 'reading' || this.#phase === 'late') return this.cutOff('stop')
    // When the process was busy or asleep past the deadline, an answer that came in time may still lie in the socket:
    // one turn of the event loop reads it, and the event is not delivered twice.
    setImmediate(() => {
      if (this.#phase === 'sent') this.cutOff('deadline')
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It was cut off while undici still waited for its connection: nothing must be sent any more.
    if (this.#phase === 'over') controller.abort(cutOff)
    // Nor after its deadline, of which a busy process may hear later than of its connection.
    else if (performance.now() > this.dueAt) this.cutOff('deadline')
    else this.#wasSent = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // An interim answer (103 Early Hints) decides nothing.
    if (status < 200 || this.#phase === 'over') return
    const { deadlines, limits } = this.#settings
    this.#status = status
    this.#endedAt = Date.now()
    if (this.#phase === 'late') return this.#endLate?.(this.#answered())
    if (status === 429 || status === 503) this.#retryAfter = retryAfterOf(headers, this.#endedAt)
    this.#phase = 'reading'
    this.dueAt = performance.now() + limits.readMsMax
    deadlines.watch(this)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { keptBytesMax, readBytesMax } = this.#settings.limits
    const roomBytes = keptBytesMax - this.#readBytes
    this.#readBytes += chunk.length
    // A copy: the chunk is a slice of a far larger buffer of the socket.
    if (roomBytes > 0) (this.#kept ??= []).push(Buffer.from(chunk.subarray(0, roomBytes)))
    if (this.#readBytes >= keptBytesMax) this.#settle(this.#answered())
    if (this.#readBytes > readBytesMax) this.#controller?.abort(cutOff)
  }

  onResponseEnd(): void {
    this.#end(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#phase === 'reading') this.#end(false)
    else if (this.#phase === 'late') this.#endLate?.(null)
    else this.#fail(error)
  }

  get bodyBytes(): number {
    return this.#settings.request.body?.length ?? 0
  }

  drop(): void {
    this.#endLate?.(null)
  }

  /** It was sent, as far as anybody can tell, and there is time left for its answer. */
  #mayComeLate(): boolean {
    const { lateMs, timeoutMs } = this.#settings
    return this.#phase === 'sent' && this.#wasSent && lateMs > timeoutMs
  }

  #listenOn(): void {
    const { timeoutMs, lateMs, late, deadlines } = this.#settings
    const answer = Promise.withResolvers<AttemptResult | null>()
    const closeConnection = this.#slot?.letGo()
    this.#phase = 'late'
    this.#endLate = (result) => {
      this.#phase = 'over'
      this.#endLate = null
      deadlines.forget(this)
      late.forget(this)
      closeConnection?.()
      answer.resolve(result)
    }
    this.dueAt = performance.now() + lateMs - timeoutMs
    deadlines.watch(this)
    late.keep(this)
    this.#settle({ ...this.#timedOut(), lateAnswer: answer.promise })
  }

  #timedOut(): AttemptResult {
    const { timeoutMs } = this.#settings
    const startedAt = this.#startedAt
    const error = `no complete answer head within ${timeoutMs / 1_000} s`
    const endedAt = startedAt + timeoutMs
    return { outcome: 'TimedOut', error, status: null, responseBody: null, startedAt, endedAt }
  }

  #fail(error: Error): void {
    if (this.#phase === 'over') return
    const result = this.#cutBy === 'deadline' ? this.#timedOut() : this.#failed(error)
    this.#leave(false)
    this.#settle(result)
  }

  #failed(error: Error): AttemptResult {
    const outcome = this.#cutBy === null ? transportFailure(error, this.#settings.authority) : canceled
    // One that is cut off while it waits never began.
    const startedAt = this.#phase === 'waiting' ? Date.now() : this.#startedAt
    return { ...outcome, status: null, responseBody: null, startedAt, endedAt: Date.now() }
  }

  #end(isComplete: boolean): void {
    const result = this.#answered()
    this.#leave(isComplete)
    this.#settle(result)
  }

  /** Before the result is told: whoever gets it may need the connection for the next attempt. */
  #leave(keepConnection: boolean): void {
    this.#phase = 'over'
    this.#settings.deadlines.forget(this)
    if (keepConnection) this.#slot?.release()
    else this.#slot?.discard()
  }

  #settle(result: AttemptReport): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#settings.onResult(result)
  }

  #answered(): AttemptResult {
    const status = this.#status
    const outcome = outcomeOfStatus(status)
    const result = {
      outcome,
      status,
      error: outcome === 'Delivered' ? null : `answered ${meaningOf(status)}`,
      responseBody: this.#kept === null ? null : Buffer.concat(this.#kept),
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
    }
    return this.#retryAfter === null ? result : { ...result, retryAfter: this.#retryAfter }
  }
}

const cutOff = new Error('cut off')

const canceled = { outcome: 'Canceled', error: 'cut off by our own stop' } as const

/** Of several the first counts, as for every header that may stand there once only. */
function retryAfterOf({ 'retry-after': value }: AnswerHeaders, now: number): number | null {
  const first = typeof value === 'string' ? value : value?.[0]
  return first === undefined ? null : parseRetryAfter(first, now)
}

function meaningOf(status: number): string {
  const isRedirect = status >= 300 && status < 400
  return `${`${status} ${STATUS_CODES[status] ?? ''}`.trim()}${isRedirect ? '; redirects are not followed' : ''}`
}
