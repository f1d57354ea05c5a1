import { ConsumerStartError } from './consumer-failure.ts'
import { isNotAuthorized, rootCause } from './kafka-error.ts'

/** Why a broker could not be reached or asked. Closed: whoever explains it can switch over it. */
export type ConnectionProblemCode =
  /** The broker does not know the user, the password or the mechanism. */
  | 'AUTHENTICATION'
  /** The user may not do what was asked for. */
  | 'NOT_AUTHORIZED'
  /** Nobody whom we trust has signed the broker's certificate. */
  | 'UNTRUSTED_CERTIFICATE'
  /** The broker's certificate has ended, or has not begun. */
  | 'CERTIFICATE_NOT_VALID_NOW'
  /** The broker's certificate does not name the host that was connected to. */
  | 'CERTIFICATE_OF_OTHER_HOST'
  /** The broker asks for a certificate of ours, or does not take the one it got. */
  | 'OWN_CERTIFICATE_REFUSED'
  /** The listener knows no users. */
  | 'NO_SASL'
  /** What answers does not speak TLS. */
  | 'NOT_TLS'
  /** The connection was made, and closed without an answer. */
  | 'CLOSED'
  | 'OTHER'

export interface ConnectionProblem {
  readonly code: ConnectionProblemCode
  /** What the client says of it. */
  readonly message: string
}

export function connectionProblemOf(error: unknown): ConnectionProblem {
  if (error instanceof ConsumerStartError && error.failure.code === 'NOT_AUTHORIZED') {
    return { code: 'NOT_AUTHORIZED', message: error.message }
  }
  const cause = rootCause(error)
  const message = cause.message
    .replace(/^Connection error: /, '')
    // Node's hint at the end of its own sentence is not the way here.
    .replace(/; if the root CA is installed.*/s, '')
    // Where in OpenSSL it came up.
    .replace(/^.*:(ssl\/tls alert [\w ]+):.*$/s, '$1')
  return { code: codeOf(cause), message }
}

/** Asking again cannot help: the certificate stays what it is. */
export function isCertificateProblem(error: unknown): boolean {
  return codeOf(rootCause(error)).includes('CERTIFICATE')
}

function codeOf(cause: ReturnType<typeof rootCause>): ConnectionProblemCode {
  const { name, type, code, message } = cause
  if (name === 'KafkaJSSASLAuthenticationError') return 'AUTHENTICATION'
  if (type !== undefined && isNotAuthorized(cause)) return 'NOT_AUTHORIZED'
  if (type === 'ILLEGAL_SASL_STATE') return 'NO_SASL'
  if (name === 'KafkaJSConnectionClosedError') return 'CLOSED'
  if (name !== 'KafkaJSConnectionError' || typeof code !== 'string') return 'OTHER'
  if (UNTRUSTED.includes(code)) return 'UNTRUSTED_CERTIFICATE'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'CERTIFICATE_NOT_VALID_NOW'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'CERTIFICATE_OF_OTHER_HOST'
  if (/^ERR_SSL_.*_ALERT_/.test(code)) return 'OWN_CERTIFICATE_REFUSED'
  // A broker takes the greeting of TLS for a request of absurd length and closes.
  if (code.startsWith('ERR_SSL_') || message.includes('before secure TLS connection')) return 'NOT_TLS'
  return 'OTHER'
}

/** OpenSSL's verdicts on a chain that ends nowhere we know (X509_verify_cert_error_string, in Node's spelling). */
const UNTRUSTED: readonly string[] = [
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'INVALID_CA',
  'CERT_SIGNATURE_FAILURE',
]
