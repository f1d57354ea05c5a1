import type { Names } from '@barnabas/core'
import { writeBeforeExitMs, writeBeforeLeavingMs } from '@barnabas/delivery'
import type { DrainLimits, Logger } from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'
import type { HeldReader } from './held-reader.ts'

/** What is to be done with a subscription's held topic, where there is one. */
export type HeldWish =
  /** Its subscription runs. */
  | 'read'
  /** Its subscription rests: what is held waits. */
  | 'rest'
  /** Its subscription was deleted: what is held becomes dead letters, then the topic goes too. */
  | 'clear'

export interface HeldReadersOptions {
  readonly names: Names
  readonly admin: Pick<KafkaClient['admin'], 'offsets' | 'committed' | 'deleteTopics' | 'deleteGroup'>
  readonly wishOf: (subscriptionId: string) => HeldWish
  readonly read: (subscriptionId: string, onFailed: (message: string) => void) => Promise<HeldReader>
  /** Resolves when the subscriptions topic was read to its present end. */
  readonly caughtUp: () => Promise<void>
  readonly drainTimeoutMs: number
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

/**
 * One reader for each held topic that there is and whose subscription runs. Topics come into being at any time, so
 * whoever knows of them says so with `topicsAre`; it is also the beat at which what has failed is tried again.
 */
export interface HeldReaders {
  /** All topics of the cluster, every two seconds or so. */
  topicsAre(topics: ReadonlySet<string>): void
  /** What is wished for this subscription may have changed. */
  changed(subscriptionId: string): void
  close(drainTimeoutMs: number): Promise<void>
  /** The oldest of its readers' last heartbeats. */
  readonly lastHeartbeatAt: number
}

/** A retrier may not have heard yet that a subscription was deleted: so long a cleared topic must have been empty. */
const emptyForMs = 60_000

interface Held {
  isThere: boolean
  reader: HeldReader | null
  working: Promise<void> | null
  emptySince: number | null
}

export function createHeldReaders(options: HeldReadersOptions): HeldReaders {
  const { names, admin, wishOf, now, logger } = options
  const known = new Map<string, Held>()
  const closing = Promise.withResolvers<null>()
  let closed = false

  /** One step at a time, towards what is wished by then. */
  function steer(id: string): void {
    const held = known.get(id)
    if (held === undefined || held.working !== null || closed) return
    held.working = step(id, held)
      .catch((error: unknown) => {
        logger.warn({ subscription: id, error: messageOf(error) }, 'held retries cannot be read yet; trying again')
      })
      .finally(() => {
        held.working = null
        if (!held.isThere && held.reader === null) known.delete(id)
      })
  }

  async function step(id: string, held: Held): Promise<void> {
    const wish = wishOf(id)
    if (!held.isThere || wish === 'rest') return stop(held, leaving)
    if (held.reader === null) {
      held.emptySince = null
      const reading = options.read(id, (message) => failed(id, held, message))
      // While no broker answers a join takes for ever, and whoever closes has no use for it.
      held.reader = await Promise.race([reading, closing.promise])
      if (held.reader === null) {
        reading.then((late) => late.stop({ drainMs: 0, writeMs: writeBeforeExitMs })).catch(() => undefined)
        return
      }
      // What was wished meanwhile must not wait for the next beat.
      if (wishOf(id) !== wish) await step(id, held)
      return
    }
    if (wish === 'clear') await clear(id, held)
  }

  const leaving: DrainLimits = { drainMs: options.drainTimeoutMs, writeMs: writeBeforeLeavingMs }

  async function stop(held: Held, limits: DrainLimits): Promise<void> {
    const { reader } = held
    held.reader = null
    await reader?.stop(limits)
  }

  function failed(id: string, held: Held, message: string): void {
    const { reader } = held
    held.reader = null
    void reader?.stop({ drainMs: 0, writeMs: writeBeforeLeavingMs })
    // Another dispatcher has cleared it.
    if (wishOf(id) === 'clear') return void admin.deleteGroup(names.heldGroup(id)).catch(() => undefined)
    logger.warn({ subscription: id, error: message }, 'held retries are not read any more; trying again')
  }

  /** Deletes the topic and the group of a subscription that was deleted, once nothing has been in it for a while. */
  async function clear(id: string, held: Held): Promise<void> {
    if (!(await isEmpty(id))) {
      held.emptySince = null
      return
    }
    held.emptySince ??= now()
    if (now() - held.emptySince < emptyForMs * options.timeScale) return
    await options.caughtUp()
    if (wishOf(id) !== 'clear') return
    await stop(held, leaving)
    await admin.deleteTopics([names.heldTopic(id)])
    held.isThere = false
    await admin.deleteGroup(names.heldGroup(id))
    logger.info(
      { subscription: id, topic: names.heldTopic(id) },
      'the held topic of a deleted subscription was deleted',
    )
  }

  async function isEmpty(id: string): Promise<boolean> {
    const topic = names.heldTopic(id)
    const [ends, committed] = await Promise.all([admin.offsets([topic]), admin.committed(names.heldGroup(id), [topic])])
    const done = new Map(committed.map(({ partition, offset }) => [partition, offset]))
    return ends.every(({ partition, high }) => (done.get(partition) ?? 0) >= high)
  }

  return {
    topicsAre(topics) {
      for (const topic of topics) {
        const id = names.subscriptionOfHeldTopic(topic)
        if (id === null || known.has(id)) continue
        known.set(id, { isThere: true, reader: null, working: null, emptySince: null })
      }
      for (const [id, held] of known) {
        held.isThere = topics.has(names.heldTopic(id))
        steer(id)
      }
    },
    changed(id) {
      known.get(id)?.reader?.changed()
      steer(id)
    },
    async close(drainTimeoutMs) {
      closed = true
      closing.resolve(null)
      const limits = { drainMs: drainTimeoutMs, writeMs: writeBeforeExitMs }
      await Promise.all(
        [...known.values()].map(async (held) => {
          await held.working
          await stop(held, limits)
        }),
      )
    },
    get lastHeartbeatAt() {
      return Math.min(...[...known.values()].map(({ reader }) => reader?.lastHeartbeatAt ?? Infinity))
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
