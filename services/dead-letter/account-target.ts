import type { DeadLetterShape, KafkaRecord } from '@barnabas/core'
import type { AccountKind, FoundConnection } from '@barnabas/host'
import type { Poster } from '@barnabas/webhook'
import { createBusClient } from './bus-client.ts'
import { letterEvent } from './letter-event.ts'
import { createSmqClient } from './smq-client.ts'
import { inParts, inTurn, unavailable } from './target-write.ts'
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
        const parts = inParts(letters, messagesAtOnce)
        return inTurn(parts, (part) =>
          Promise.all(part.map((letter) => client.write(letterEvent(letter, shapeOf), letter, signal))),
        )
      }
      case 'eventbridge': {
        const client = createBusClient({ endpoint, bus: resource, credentials, poster, now, nonce })
        return client.put(
          letters.map((letter) => letterEvent(letter, shapeOf)),
          signal,
        )
      }
      default:
        return kind satisfies never
    }
  }

  return { write: tryAll, close: () => poster.close() }
}
