import type { CodecName } from './codecs.ts'
import { brokerErrorType, isNotAuthorized, rootCause } from './kafka-error.ts'
import type { ConsumerFailure } from './port.ts'

/** `start` rejects with it when the group cannot be joined at all. */
export class ConsumerStartError extends Error {
  override readonly name = 'ConsumerStartError'
  readonly failure: ConsumerFailure

  constructor(failure: ConsumerFailure, cause?: unknown) {
    super(failure.message, { cause })
    this.failure = failure
  }
}

/** What the patched client adds to an error that came up while a partition's records were decoded. */
interface Located {
  readonly topic?: string
  readonly partition?: number
  readonly codec?: CodecName
}

/** What ended a consumer, for a person. */
export function classifyFailure(error: unknown, topics: readonly string[], groupId: string): ConsumerFailure {
  const cause = rootCause(error) as ReturnType<typeof rootCause> & Located
  const place =
    cause.topic !== undefined && cause.partition !== undefined
      ? `partition ${cause.partition} of topic ${cause.topic}`
      : `topic ${topics.join(', ')}`
  if (cause.name === 'KafkaJSNotImplemented') {
    const codec = cause.codec ?? cause.message
    return {
      code: 'UNKNOWN_CODEC',
      message: `${place} holds records compressed with ${codec}, which is not known here`,
    }
  }
  if (cause.type === 'UNKNOWN_TOPIC_OR_PARTITION' || cause.type === 'INVALID_TOPIC_EXCEPTION') {
    return { code: 'UNKNOWN_TOPIC', message: `${place} does not exist` }
  }
  if (cause.type === 'GROUP_AUTHORIZATION_FAILED') {
    return { code: 'NOT_AUTHORIZED', message: `not authorized to use consumer group ${groupId}` }
  }
  if (isNotAuthorized(error)) {
    return { code: 'NOT_AUTHORIZED', message: `not authorized to read ${place}: ${cause.message}` }
  }
  return { code: 'OTHER', message: `${place} cannot be read: ${cause.message}` }
}

/** The client counts these as final, though a broker that restarts or is busy makes them. */
const PASSING_NAMES: readonly string[] = ['KafkaJSGroupCoordinatorNotFound', 'KafkaJSTimeout', 'KafkaJSLockTimeout']

/** The broker's, of the moment: it failed inside (`UNKNOWN`), or our place in the group is over. */
const PASSING_TYPES: readonly string[] = [
  'UNKNOWN',
  'BROKER_NOT_AVAILABLE',
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
]

/** Whether a consumer that ended with this error may join again: nothing is wrong with it, its topics or its rights. */
export function mayPass(error: unknown): boolean {
  const type = brokerErrorType(error)
  return type === undefined ? PASSING_NAMES.includes(rootCause(error).name) : PASSING_TYPES.includes(type)
}
