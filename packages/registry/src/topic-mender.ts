import type { Names } from '@barnabas/core'
import type { Logger } from './logger.ts'
import type { PreparedTopics } from './prepare-own-topics.ts'

export interface TopicMenderOptions {
  readonly names: Names
  /** Makes those of the own topics that are missing. */
  readonly prepare: () => Promise<PreparedTopics>
  readonly heldTopics: { find(subscriptionId: string): Promise<unknown>; forget(subscriptionId: string): void }
  readonly now: () => number
  readonly logger: Logger
}

/** Many records wait for one missing topic, and each of them tells of it. */
const mendEveryMs = 5_000

/**
 * Makes a topic of our own again that somebody has deleted while we run, so that what waits to be written to it goes on
 * without a restart. Other topics are their owners'.
 */
export function createTopicMender(options: TopicMenderOptions): (topic: string) => void {
  const { names, heldTopics, now, logger } = options
  const fixed = new Set([...names.retryTopics, names.deadLetter])
  const mendedAt = new Map<string, number>()

  function isDue(what: string): boolean {
    const last = mendedAt.get(what)
    if (last !== undefined && now() - last < mendEveryMs) return false
    mendedAt.set(what, now())
    return true
  }

  async function mendFixed(): Promise<void> {
    try {
      const prepared = await options.prepare()
      if (prepared.kind === 'ready') {
        if (prepared.created.length > 0) logger.warn({ topics: prepared.created }, 'missing topics were made again')
      } else logger.warn({ commands: prepared.commands }, prepared.message)
    } catch (error) {
      logger.warn({ error: String(error) }, 'missing topics cannot be made again yet')
    }
  }

  return (topic) => {
    if (fixed.has(topic)) {
      if (isDue('fixed')) void mendFixed()
      return
    }
    const subscriptionId = names.subscriptionOfHeldTopic(topic)
    if (subscriptionId === null || !isDue(topic)) return
    heldTopics.forget(subscriptionId)
    void heldTopics.find(subscriptionId)
  }
}
