import { oneLine } from '@barnabas/core'
import type { Outcome } from '@barnabas/core'
import { ForbiddenAddressError } from './connector.ts'

export interface TransportFailure {
  readonly outcome: Extract<Outcome, 'TimedOut' | 'ResolutionError' | 'SocketError' | 'GenericError'>
  /** One line for people, without the URL's path and query. */
  readonly error: string
  /** The address may not be gone to. */
  readonly forbiddenAddress?: true
}

const resolutionCodes = /^(ENOTFOUND|ENODATA|ESERVFAIL|EAI_\w+)$/
const tlsCodes = /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/
const parserCodes = /^HPE_/

/**
 * What an error of the HTTP client, the TLS layer, the socket or the resolver means (interface, "Outcomes"; row A16).
 * Errors are told apart by `code` and `name`: several copies of undici may be loaded, and each has classes of its own.
 *
 * `authority` is the sink's host and port, for errors that do not say where they happened.
 */
export function transportFailure(thrown: unknown, authority: string): TransportFailure {
  const cause = rootCause(thrown)
  const code = textOf(cause, 'code')
  const message = textOf(cause, 'message')
  const where = addressOf(cause) ?? authority

  if (cause instanceof ForbiddenAddressError) {
    return { outcome: 'ResolutionError', error: oneLine(message), forbiddenAddress: true }
  }
  if (resolutionCodes.test(code)) {
    const name = textOf(cause, 'hostname') || authority
    return { outcome: 'ResolutionError', error: oneLine(`the name ${name} does not resolve (${code})`) }
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return { outcome: 'TimedOut', error: oneLine(`no connection to ${where} in time (${code})`) }
  }
  // The request itself is at fault, and no connection was tried.
  if (code === 'UND_ERR_INVALID_ARG')
    return { outcome: 'GenericError', error: oneLine(`no request can be built: ${message}`) }
  return { outcome: 'SocketError', error: oneLine(socketErrorText(cause, code, message, where)) }
}

function socketErrorText(cause: unknown, code: string, message: string, where: string): string {
  if (code === 'ECONNREFUSED') return `connection refused by ${where}`
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return `connection reset by ${where} before a complete answer (${code})`
  if (code === 'UND_ERR_SOCKET') return `connection closed by ${where} before a complete answer (${message})`
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return `no route to ${where} (${code})`
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return `the head of the answer of ${where} is larger than 16 KiB`
  if (parserCodes.test(code) || textOf(cause, 'name') === 'HTTPParserError') {
    return `the answer of ${where} is not HTTP/1.1 (${code || message})`
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${where} does not speak TLS; is it an http:// address? (${code})`
  }
  // OpenSSL's messages begin with a page of numbers, `reason` is the part for people; Node's own end with advice about
  // its command line.
  if (tlsCodes.test(code)) {
    const reason = textOf(cause, 'reason') || message.replace(/; if the root CA .*/, '')
    return `TLS with ${where} failed: ${reason} (${code})`
  }
  return code === '' ? message : `${message} (${code})`
}

/** Of several addresses tried in turn the first failure counts; wrappers hide the error that matters in `cause`. */
function rootCause(thrown: unknown): unknown {
  let error = thrown
  for (let depth = 0; depth < 5; depth++) {
    if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0]
    else if (error instanceof Error && error.cause !== undefined && textOf(error, 'code') === '') error = error.cause
    else break
  }
  return error
}

function textOf(value: unknown, key: string): string {
  if (typeof value !== 'object' || value === null) return key === 'message' ? String(value) : ''
  const text: unknown = Reflect.get(value, key)
  return typeof text === 'string' ? text : ''
}

function addressOf(cause: unknown): string | undefined {
  const address = textOf(cause, 'address')
  if (address === '' || typeof cause !== 'object' || cause === null) return undefined
  const port: unknown = Reflect.get(cause, 'port')
  const host = address.includes(':') ? `[${address}]` : address
  return typeof port === 'number' ? `${host}:${port}` : host
}
