/** What the client throws, as far as we look at it. */
interface ClientError {
  readonly name: string
  readonly message: string
  /** The broker's error by name, when it was the broker that refused. */
  readonly type?: string
  /** The broker's error by number, or the system's by name. */
  readonly code?: number | string
  readonly retriable?: boolean
  readonly cause?: unknown
  readonly originalError?: unknown
}

/** The innermost cause: the client wraps an error once per level that retried it. */
export function rootCause(error: unknown): ClientError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const cause = error.cause
  return cause instanceof Error ? rootCause(cause) : error
}

/** The broker's name for its refusal (`TOPIC_AUTHORIZATION_FAILED` …), or undefined when none answered. */
export function brokerErrorType(error: unknown): string | undefined {
  return rootCause(error).type
}

/** Whether trying again can help: everything but what a broker refused for good and what is wrong with us. */
export function isRetriable(error: unknown): boolean {
  const cause = rootCause(error)
  return cause.retriable !== false && !['TypeError', 'RangeError', 'ReferenceError'].includes(cause.name)
}

export function errorMessage(error: unknown): string {
  return rootCause(error).message
}

const AUTHORIZATION_ERRORS: readonly string[] = [
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
]

/** The broker does not let us do something that has a name; the client's own error names neither topic nor operation. */
export class NotAuthorizedError extends Error {
  override readonly name = 'NotAuthorizedError'
  readonly type = 'TOPIC_AUTHORIZATION_FAILED'
  readonly retriable = false

  /** `what`: "read topic orders". */
  constructor(what: string) {
    super(`not authorized to ${what}`)
  }
}

/** The broker does not let us: not this topic or group, or not with these credentials. */
export function isNotAuthorized(error: unknown): boolean {
  const { name, type } = rootCause(error)
  return name === 'KafkaJSSASLAuthenticationError' || (type !== undefined && AUTHORIZATION_ERRORS.includes(type))
}
