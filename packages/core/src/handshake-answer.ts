import type { MadeHandshakeForm } from './handshake-form.ts'
import { isMapping, shown } from './subscription-field.ts'

/** What came back of one request of a handshake. */
export type HandshakeReply =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** One line of each; null when it is absent. */
      readonly allowedOrigin: string | null
      readonly allowedRate: string | null
      /** What was read of the body; longer ones are cut. */
      readonly body: string
      readonly isBodyCut: boolean
    }
  /** One line without secrets. */
  | { readonly kind: 'unanswered'; readonly problem: string }

/** What it means. */
export type HandshakeAnswer =
  /** `allowedRate` in requests per minute, null for any. */
  | { readonly kind: 'agreed'; readonly allowedRate: number | null }
  /** The answer of a receiver that may agree by calling a URL; `without` says what is wrong where there is none. */
  | { readonly kind: 'may-agree'; readonly without: string }
  | { readonly kind: 'not-agreed'; readonly problem: string }

export interface HandshakeAsked {
  readonly form: MadeHandshakeForm
  /** The validation code of Event Grid's form. */
  readonly code: string
  /** What we said we are. */
  readonly origin: string
  /** Requests per minute that were asked for; null when none were. */
  readonly rate: number | null
}

export function handshakeAnswer(reply: HandshakeReply, asked: HandshakeAsked): HandshakeAnswer {
  if (reply.kind === 'unanswered') return notAgreed(reply.problem)
  return asked.form === 'event-grid' ? validationAnswer(reply, asked.code) : consentAnswer(reply, asked)
}

type Answered = Extract<HandshakeReply, { readonly kind: 'answered' }>

/**
 * Event Grid's validation event (spec event-grid.md 2.2): 200 with the code agrees at once, 200 with anything else may
 * agree later by the validation URL, and 202 is expressly not accepted.
 */
function validationAnswer({ status, body, isBodyCut }: Answered, code: string): HandshakeAnswer {
  if (status === 202) return notAgreed('answered 202, which does not validate an endpoint; only 200 does')
  if (status !== 200) return notAgreed(`answered ${status}${redirect(status)}`)
  if (isBodyCut) return mayAgree('answered 200 with more than an answer to a validation may have')
  const answered = codeOf(body)
  if (answered === code) return { kind: 'agreed', allowedRate: null }
  return mayAgree(
    answered === null ? 'answered 200 without a validationResponse' : 'answered 200 with a code that is not ours',
  )
}

/** `{"validationResponse": "…"}`; the name in any case, as serializers write it. */
function codeOf(body: string): string | null {
  let json: unknown
  try {
    // Some writers of UTF-8 begin with a byte order mark.
    json = JSON.parse(body.replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
  if (!isMapping(json)) return null
  const name = Object.keys(json).find((each) => each.toLowerCase() === 'validationresponse')
  const code = name === undefined ? null : json[name]
  return typeof code === 'string' ? code : null
}

/**
 * CloudEvents, HTTP 1.1 Web Hooks 1.0.2, 4.2: the headers agree, a status alone never does. An answer to OPTIONS without
 * them, or that OPTIONS is not known here (405), may be followed by a call of the callback URL.
 */
function consentAnswer(
  { status, allowedOrigin, allowedRate }: Answered,
  { origin, rate }: HandshakeAsked,
): HandshakeAnswer {
  const isSuccess = status >= 200 && status < 300
  if (!isSuccess && status !== 405) return notAgreed(`answered OPTIONS with ${status}${redirect(status)}`)
  if (allowedOrigin === null || !isSuccess) {
    return mayAgree(`answered OPTIONS with ${status} and without WebHook-Allowed-Origin`)
  }
  if (allowedOrigin !== '*' && allowedOrigin.toLowerCase() !== origin.toLowerCase()) {
    return notAgreed(`allows the origin ${shown(allowedOrigin)}, and we are ${origin}`)
  }
  const granted = parseAllowedRate(allowedRate)
  if (granted.kind === 'bad') return notAgreed(granted.problem)
  if (granted.kind === 'absent' && rate !== null) {
    return notAgreed('answered without WebHook-Allowed-Rate, although a rate was asked for')
  }
  return { kind: 'agreed', allowedRate: granted.kind === 'rate' ? granted.perMinute : null }
}

export type AllowedRate =
  | { readonly kind: 'absent' }
  /** Null for any (`*`). */
  | { readonly kind: 'rate'; readonly perMinute: number | null }
  | { readonly kind: 'bad'; readonly problem: string }

/** `WebHook-Allowed-Rate` (4.2.2): requests per minute, a whole number above zero, or `*`. */
export function parseAllowedRate(text: string | null): AllowedRate {
  const value = text?.trim() ?? ''
  if (value === '') return { kind: 'absent' }
  if (value === '*') return { kind: 'rate', perMinute: null }
  const perMinute = /^\d{1,12}$/.test(value) ? Number(value) : 0
  if (perMinute > 0) return { kind: 'rate', perMinute }
  return { kind: 'bad', problem: `WebHook-Allowed-Rate: ${shown(text)} is neither a whole number above 0 nor *` }
}

const redirect = (status: number): string => (status >= 300 && status < 400 ? '; redirects are not followed' : '')
const notAgreed = (problem: string): HandshakeAnswer => ({ kind: 'not-agreed', problem })
const mayAgree = (without: string): HandshakeAnswer => ({ kind: 'may-agree', without })
