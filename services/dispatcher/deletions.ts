import { randomUUID } from 'node:crypto'
import { deletionRequest, handshakeTimes } from '@barnabas/core'
import type { Subscription } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { Asker } from './handshakes.ts'

/** Tells receivers that a subscription of theirs is gone: Event Grid's `SubscriptionDeletion`. */
export interface Deletions {
  /** One request, once, by whoever led the subscription's group. Nothing waits for it, and nothing follows from its answer. */
  tell(subscription: Subscription): void
  /** Cuts off what is under way. */
  close(): Promise<void>
}

export interface DeletionsOptions {
  readonly asker: Asker
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

/** So many are under way at a time; who deletes more at once has receivers that are not told. */
const underWayMax = 64

export function createDeletions({ asker, timeScale, now, logger }: DeletionsOptions): Deletions {
  const { answerMs } = handshakeTimes(timeScale)
  const underWay = new Set<Promise<void>>()
  const stop = new AbortController()

  async function ask(subscription: Subscription): Promise<void> {
    const { id, sink, headers } = subscription
    const request = deletionRequest(subscription, { eventId: randomUUID(), now: now() })
    const reply = await asker.ask(request, { url: sink, headers, timeoutMs: answerMs, signal: stop.signal })
    if (reply.kind === 'answered') {
      logger.debug({ subscription: id, status: reply.status }, 'the receiver was told that the subscription is deleted')
    } else {
      logger.info(
        { subscription: id, problem: reply.problem },
        'the receiver could not be told that the subscription is deleted',
      )
    }
  }

  return {
    tell(subscription) {
      if (stop.signal.aborted) return
      if (underWay.size >= underWayMax) {
        const { id } = subscription
        return logger.info({ subscription: id }, 'too many are deleted at once: the receiver is not told of this one')
      }
      const asking = ask(subscription).finally(() => underWay.delete(asking))
      underWay.add(asking)
    },
    async close() {
      stop.abort()
      await Promise.all(underWay)
    },
  }
}
