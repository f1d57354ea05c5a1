import { deadLetterJson, withMembers } from '@barnabas/core'
import type { DeadLetterShape, JsonText, KafkaRecord } from '@barnabas/core'
import type { AccountKind, FoundConnection } from '@barnabas/host'
import type { Poster } from '@barnabas/webhook'
import { createBusClient } from './bus-client.ts'
import { createSmqClient } from './smq-client.ts'
import { inTurn, unavailable } from './target-write.ts'
import type { Target, TargetWrite } from './target.ts'

export interface AccountTargetOptions {
  readonly kind: AccountKind
  /** The queue or the bus. */
  readonly resource: string
  /** The account as it is known now; its secrets may be others the next time. */
  readonly connection: () => FoundConnection
  readonly shapeOf: (subscriptionId: string) => DeadLetterShape
  /** Its own: `close` closes it. */
  readonly poster: Poster
  /** ms since the epoch. */
  readonly now: () => number
  /** Another text each time. */
  readonly nonce: () => string
}

/** Messages that are on their way to a queue at once: its API takes one per request. */
const messagesAtOnce = 8

/**
 * A queue or a bus of an account (row B7). What an operator mends (credentials, an account that no file names) is tried
 * again; what the service refuses because of the dead letter itself is refused for good.
 */
export function createAccountTarget(options: AccountTargetOptions): Target {
  const { kind, resource, connection, shapeOf, poster, now, nonce } = options

  function tryAll(letters: readonly KafkaRecord[], signal: AbortSignal): Promise<readonly TargetWrite[]> {
    const found = connection()
    if (found.kind === 'unknown') return Promise.resolve(letters.map(() => unavailable(found.message)))
    const { endpoint, credentials } = found
    switch (kind) {
      case 'mns': {
        const client = createSmqClient({ endpoint, queue: resource, credentials, poster, now })
        const parts = letters.flatMap((_, index) =>
          index % messagesAtOnce === 0 ? [letters.slice(index, index + messagesAtOnce)] : [],
        )
        return inTurn(parts, (part) =>
          Promise.all(part.map((letter) => client.write(cloudEventOf(letter, shapeOf), letter, signal))),
        )
      }
      case 'eventbridge': {
        const client = createBusClient({ endpoint, bus: resource, credentials, poster, now, nonce })
        return client.put(
          letters.map((letter) => cloudEventOf(letter, shapeOf)),
          signal,
        )
      }
      default:
        return kind satisfies never
    }
  }

  return { write: tryAll, close: () => poster.close() }
}

/** The event as a CloudEvent, what is known of its delivery, and whose it is, for several may share a queue (row B6). */
function cloudEventOf(letter: KafkaRecord, shapeOf: (subscriptionId: string) => DeadLetterShape): JsonText {
  const id = letter.headers['barnabas-subscription']
  const subscription = Buffer.isBuffer(id) ? id.toString('utf8') : ''
  const event = deadLetterJson(letter, { ...shapeOf(subscription), schema: 'CloudEventSchemaV1_0' })
  return withMembers(event, [['barnabassubscription', Buffer.from(JSON.stringify(subscription))]])
}
