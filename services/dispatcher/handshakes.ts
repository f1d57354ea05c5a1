import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import {
  afterAnswer,
  afterCall,
  beginHandshake,
  failedText,
  handshakeAnswer,
  handshakeRequest,
  handshakeTimes,
  pendingText,
  requestsPerMinute,
  resumedHandshake,
  whenDue,
} from '@barnabas/core'
import type {
  Callback,
  DeliveryAttribute,
  Handshake,
  HandshakeReply,
  MadeHandshakeForm,
  PendingHandshake,
  PlainRequest,
  StatusRecord,
  Subscription,
  WantedStatus,
} from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'

/** Makes one request that delivers no event, and reports what came of it. Never rejects. */
export interface Asker {
  ask(
    request: PlainRequest,
    options: {
      readonly url: string
      readonly headers: readonly DeliveryAttribute[]
      readonly timeoutMs: number
      readonly signal: AbortSignal
    },
  ): Promise<HandshakeReply>
}

/** The URL of a handshake was called. */
export interface HandshakeCall {
  readonly subscription: string
  readonly validation: string
  readonly allowedRate: number | null
}

export interface Handshakes {
  /**
   * Makes the handshake of this revision, or goes on with the one that another process began, and writes each step into
   * the status. Resolves when it is over, with what it came to; null when it was stopped. For the group's leader alone.
   */
  make(subscription: Subscription, signal: AbortSignal): Promise<Handshake | null>
  /** Of any subscription: those that nobody waits for now are remembered, for the next leader may. */
  called(call: HandshakeCall): void
}

export interface HandshakesOptions {
  readonly asker: Asker
  readonly statuses: {
    get(id: string): StatusRecord | null
    caughtUp(): Promise<void>
    write(id: string, wanted: Omit<WantedStatus, 'now'>): Promise<void>
  }
  /** `BARNABAS_PUBLIC_URL` without a slash at its end; null: only the synchronous forms. */
  readonly publicUrl: string | null
  /** `BARNABAS_ORIGIN`. */
  readonly origin: string
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

/** Calls of so many subscriptions are remembered; older ones belong to handshakes that are long over. */
const callsMax = 10_000

/** The handshakes that this process makes with receivers, as the leader of their subscriptions' groups. */
export function createHandshakes(options: HandshakesOptions): Handshakes {
  const { asker, statuses, publicUrl, origin, now, logger } = options
  const times = handshakeTimes(options.timeScale)
  /** The last call of each subscription. */
  const calls = new Map<string, HandshakeCall>()
  const waiters = new Set<(call: HandshakeCall) => void>()

  function callbackOf(id: string): Callback {
    if (publicUrl === null) return null
    const token = randomBytes(32).toString('base64url')
    return {
      url: `${publicUrl}/handshakes/${id}/${token}`,
      validation: createHash('sha256').update(token).digest('hex'),
    }
  }

  async function make(subscription: Subscription, signal: AbortSignal): Promise<Handshake | null> {
    const { id, handshake: form } = subscription
    if (form === 'none') throw new TypeError(`${id} has no handshake to make`)
    await statuses.caughtUp()
    const status = statuses.get(id)
    const found = status?.generation === subscription.generation ? status.handshake : null
    const code = randomUUID()
    let handshake: Handshake =
      resumedHandshake(subscription, found, now()) ?? beginHandshake(subscription, form, callbackOf(id), now(), times)
    while (isPending(handshake)) {
      if (signal.aborted) return null
      await say(subscription, handshake)
      const next = await step(subscription, form, handshake, code, signal)
      if (next === null) return null
      handshake = next
    }
    await say(subscription, handshake)
    return handshake
  }

  /** Asks once and waits for the next time, or waits for a call; null when it was stopped. */
  async function step(
    subscription: Subscription,
    form: MadeHandshakeForm,
    handshake: PendingHandshake,
    code: string,
    signal: AbortSignal,
  ): Promise<Handshake | null> {
    const ends = new AbortController()
    const isOver = AbortSignal.any([signal, ends.signal])
    try {
      const call = callOf(subscription.id, handshake, isOver)
      const goesOn =
        handshake.kind === 'trying' ? tryOnce(subscription, form, handshake, code, isOver) : due(handshake, isOver)
      return await Promise.race([call, goesOn, stopped(signal)])
    } finally {
      ends.abort()
    }
  }

  async function tryOnce(
    subscription: Subscription,
    form: MadeHandshakeForm,
    handshake: PendingHandshake,
    code: string,
    signal: AbortSignal,
  ): Promise<Handshake> {
    // In the words of the specification the rate of the whole subscription, whoever of us sends.
    const rate = subscription.rate === null ? null : requestsPerMinute(subscription.rate, options.timeScale)
    const asked = { form, code, origin, rate, url: handshake.url, eventId: randomUUID(), now: now() }
    const reply = await asker.ask(handshakeRequest(subscription, asked), {
      url: subscription.sink,
      headers: subscription.headers,
      timeoutMs: times.answerMs,
      signal,
    })
    const next = afterAnswer(handshake, handshakeAnswer(reply, asked), now(), times)
    if (next.kind === 'trying') {
      // Said before the wait: whoever looks shall know why nothing happens.
      if (!signal.aborted) await say(subscription, next)
      await pause(times.againMs, signal)
    }
    return next
  }

  async function due(handshake: PendingHandshake, signal: AbortSignal): Promise<Handshake> {
    for (;;) {
      const next = whenDue(handshake, now())
      if (next !== handshake || signal.aborted) return next
      await pause(Date.parse(handshake.until) - now(), signal)
    }
  }

  /** Resolves when its URL was called in time, which may have been before this process came to lead. */
  function callOf(id: string, handshake: PendingHandshake, signal: AbortSignal): Promise<Handshake> {
    return new Promise((resolve) => {
      const hear = (call: HandshakeCall) => {
        if (call.subscription !== id || !isSame(call.validation, handshake.validation)) return
        if (now() >= Date.parse(handshake.until)) return
        resolve(afterCall(handshake, call.allowedRate, now()))
      }
      waiters.add(hear)
      signal.addEventListener('abort', () => waiters.delete(hear), { once: true })
      const before = calls.get(id)
      if (before !== undefined) hear(before)
    })
  }

  function say(subscription: Subscription, handshake: Handshake): Promise<void> {
    const { id, generation, revision } = subscription
    const said = { ...wordsOf(handshake), generation, revision, handshake }
    if (handshake.kind === 'failed') logger.warn({ subscription: id, form: handshake.form }, said.reason)
    else
      logger.info({ subscription: id, form: handshake.form, state: handshake.kind }, withoutUrl(handshake, said.reason))
    return statuses.write(id, said).catch((error: unknown) => {
      logger.warn({ subscription: id, error: String(error) }, 'the status of the handshake cannot be written')
    })
  }

  return {
    make,
    called(call) {
      calls.delete(call.subscription)
      calls.set(call.subscription, call)
      const [oldest] = calls.keys()
      if (calls.size > callsMax && oldest !== undefined) calls.delete(oldest)
      for (const hear of waiters) hear(call)
    },
  }
}

function isPending(handshake: Handshake): handshake is PendingHandshake {
  return handshake.kind === 'trying' || handshake.kind === 'awaiting'
}

function wordsOf(handshake: Handshake): Pick<WantedStatus, 'status' | 'reason'> {
  switch (handshake.kind) {
    case 'trying':
    case 'awaiting':
      return { status: 'Starting', reason: pendingText(handshake) }
    case 'succeeded':
      return { status: 'Starting', reason: `the receiver has agreed (handshake: ${handshake.form})` }
    case 'failed':
      return { status: 'Start Failed', reason: failedText(handshake) }
    default:
      return handshake satisfies never
  }
}

/** Logs travel further than the status does, and whoever knows the URL can agree in the receiver's place. */
function withoutUrl(handshake: Handshake, text: string): string {
  return isPending(handshake) && handshake.url !== null ? text.replaceAll(handshake.url, 'its validation URL') : text
}

function isSame(one: string, other: string | null): boolean {
  return other !== null && one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

function stopped(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

/** Timers fire at once when they are set for longer than 2^31 ms. */
const pauseMsMax = 3_600_000

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise((resolve) => (timer = setTimeout(resolve, Math.min(Math.max(0, ms), pauseMsMax))))
  await Promise.race([over, stopped(signal)])
  clearTimeout(timer)
}
