import * as z from 'zod'
import type { HandshakeAnswer } from './handshake-answer.ts'
import type { MadeHandshakeForm } from './handshake-form.ts'
import type { Subscription } from './subscription.ts'

const begun = {
  form: z.enum(['event-grid', 'cloudevents']),
  /** Of the subscription: every changed one makes its handshake anew (spec event-grid.md 2.2, 2.3). */
  revision: z.int(),
  /** The SHA-256 of the token in `url`, in hexadecimal; null when there is no URL. */
  validation: z.string().nullable(),
}
const pending = {
  ...begun,
  /** What somebody may call instead of the receiver; null without `BARNABAS_PUBLIC_URL`. */
  url: z.string().nullable(),
  since: z.string(),
  /** When it fails unless it has succeeded. */
  until: z.string(),
}

export const handshakeSchema = z.discriminatedUnion('kind', [
  /** The receiver is asked again and again; `problem` is what came of it last. */
  z.object({ kind: z.literal('trying'), ...pending, problem: z.string().nullable() }),
  /** The receiver has answered and not agreed yet: it, or a person, calls `url`; `problem` is what it answered. */
  z.object({ kind: z.literal('awaiting'), ...pending, url: z.string(), problem: z.string().nullable().default(null) }),
  /** `allowedRate`: requests per minute, null for any. */
  z.object({ kind: z.literal('succeeded'), ...begun, at: z.string(), allowedRate: z.int().positive().nullable() }),
  z.object({ kind: z.literal('failed'), ...begun, at: z.string(), reason: z.string() }),
])

/**
 * Where the handshake of one revision of a subscription stands, as its status says it (times: RFC 3339 in UTC with
 * milliseconds). No record: not begun, or not needed.
 *
 *     trying ── agreed ─────────────────────────────────────► succeeded
 *        │ ├─── answered, and may agree later ──► awaiting ──► succeeded  (its URL was called)
 *        │ │                                         └───────► failed     (10 minutes over)
 *        │ └─── its URL was called ──────────────────────────► succeeded
 *        └───── 5 minutes over ──────────────────────────────► failed
 *
 * A failed one begins anew with `barnabas start` and when a dispatcher is started, and a changed subscription begins
 * another.
 */
export type Handshake = Readonly<z.output<typeof handshakeSchema>>
export type PendingHandshake = Extract<Handshake, { readonly kind: 'trying' | 'awaiting' }>

/** How long its steps take, in ms, before `timeScale`. */
export interface HandshakeTimes {
  /** For one answer: Event Grid's 30 s. */
  readonly answerMs: number
  /** From a try that failed to the next: Event Grid's 5 s. */
  readonly againMs: number
  /** From the first try to the last: an endpoint that is just starting up has this long (ours). */
  readonly tryingMs: number
  /** For the call of its URL: Event Grid's 10 minutes. */
  readonly callMs: number
}

const unscaled: HandshakeTimes = { answerMs: 30_000, againMs: 5_000, tryingMs: 300_000, callMs: 600_000 }

export function handshakeTimes(timeScale: number): HandshakeTimes {
  const scaled = (ms: number) => Math.max(1, Math.round(ms * timeScale))
  return {
    answerMs: scaled(unscaled.answerMs),
    againMs: scaled(unscaled.againMs),
    tryingMs: scaled(unscaled.tryingMs),
    callMs: scaled(unscaled.callMs),
  }
}

type Asking = Pick<Subscription, 'handshake' | 'revision' | 'generation'>

/** Whether no event of the subscription may be sent yet (spec event-grid.md 2.2.4: no event before success). */
export function awaitsHandshake(
  { handshake, revision, generation }: Asking,
  status: { readonly generation: number; readonly handshake: Handshake | null } | null,
): boolean {
  if (handshake === 'none') return false
  const made = status?.generation === generation ? status.handshake : null
  return made?.kind !== 'succeeded' || made.revision !== revision || made.form !== handshake
}

/** The token's URL and hash; null without `BARNABAS_PUBLIC_URL`. */
export type Callback = { readonly url: string; readonly validation: string } | null

/** A first try is due at once. */
export function beginHandshake(
  { revision }: Asking,
  form: MadeHandshakeForm,
  callback: Callback,
  now: number,
  times: HandshakeTimes,
): PendingHandshake {
  return {
    kind: 'trying',
    form,
    revision,
    validation: callback?.validation ?? null,
    url: callback?.url ?? null,
    since: iso(now),
    until: iso(now + times.tryingMs),
    problem: null,
  }
}

/** One that another process began and that is not over; null when it is to be begun. */
export function resumedHandshake(
  { handshake, revision }: Asking,
  found: Handshake | null,
  now: number,
): PendingHandshake | null {
  if (found === null || found.revision !== revision || found.form !== handshake) return null
  if (found.kind !== 'trying' && found.kind !== 'awaiting') return null
  return now < Date.parse(found.until) ? found : null
}

/** What becomes of it with the receiver's answer. */
export function afterAnswer(
  handshake: PendingHandshake,
  answer: HandshakeAnswer,
  now: number,
  times: HandshakeTimes,
): Handshake {
  switch (answer.kind) {
    case 'agreed':
      return succeeded(handshake, answer.allowedRate, now)
    case 'may-agree': {
      const { url } = handshake
      if (url === null) return afterProblem(handshake, answer.without, now, times)
      const { form, revision, validation } = handshake
      const until = iso(now + times.callMs)
      return { kind: 'awaiting', form, revision, validation, url, since: iso(now), until, problem: answer.without }
    }
    case 'not-agreed':
      return afterProblem(handshake, answer.problem, now, times)
    default:
      return answer satisfies never
  }
}

/** What becomes of it when its URL was called in time; `allowedRate` in requests per minute, null for none named. */
export function afterCall(handshake: PendingHandshake, allowedRate: number | null, now: number): Handshake {
  return succeeded(handshake, allowedRate, now)
}

/** What becomes of one that awaits the call of its URL, as time goes by. */
export function whenDue(handshake: PendingHandshake, now: number): Handshake {
  if (now < Date.parse(handshake.until)) return handshake
  const { problem, until } = handshake
  const answered = problem === null ? '' : `the receiver ${problem}, and `
  return failed(handshake, `${answered}nobody has called its validation URL before ${until}`, now)
}

function afterProblem(handshake: PendingHandshake, problem: string, now: number, times: HandshakeTimes): Handshake {
  const until = Date.parse(handshake.until)
  if (now + times.againMs < until) {
    return handshake.kind === 'trying' && handshake.problem === problem
      ? handshake
      : { ...handshake, kind: 'trying', problem }
  }
  return failed(handshake, `the receiver has not agreed since ${handshake.since}; the last try: ${problem}`, now)
}

function succeeded(
  { form, revision, validation }: PendingHandshake,
  allowedRate: number | null,
  now: number,
): Handshake {
  return { kind: 'succeeded', form, revision, validation, at: iso(now), allowedRate }
}

function failed({ form, revision, validation }: PendingHandshake, reason: string, now: number): Handshake {
  return { kind: 'failed', form, revision, validation, at: iso(now), reason }
}

/** What the status of its subscription says while it is not over, with what a person can do about it. */
export function pendingText(handshake: PendingHandshake): string {
  const { url, until } = handshake
  if (handshake.kind === 'awaiting') {
    const answered = handshake.problem ?? 'has answered'
    return `the receiver ${answered}, and has not agreed yet: it, or you, must call ${handshake.url} before ${until}`
  }
  const asked = `asking the receiver whether it wants the events (handshake: ${handshake.form})`
  const came = handshake.problem === null ? '' : `: ${handshake.problem}; asking again until ${until}`
  return `${asked}${came}${url === null ? '' : `; or call ${url}`}`
}

/** What the status says when it has failed. */
export function failedText({ form, reason }: Extract<Handshake, { readonly kind: 'failed' }>): string {
  return (
    `the handshake (${form}) has failed: ${reason}; ` +
    'mend the receiver, then `barnabas start` the subscription, or apply it changed'
  )
}

const iso = (time: number): string => new Date(time).toISOString()
