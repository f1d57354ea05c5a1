import type { TopicPartition } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { Admin } from '@barnabas/kafka'

export interface TargetRetentionOptions {
  readonly admin: Pick<Admin, 'topicConfig' | 'offsetsSince'>
  /** As `targetText` writes it. */
  readonly target: string
  /** ms since the epoch. */
  readonly now: () => number
  readonly logger: Logger
}

/** Where a target's group stands in a partition that it has not read to its end. */
export interface BehindPosition extends TopicPartition {
  readonly offset: number
}

/** Beyond this part of a topic's retention its oldest dead letter that a target has not got is warned of. */
const nearPart = 0.8
const lookEveryMs = 60_000

/**
 * Warns when retention comes near what a target has not got yet (row B7): once for each topic, and again only after it
 * was well meanwhile. `retention.bytes` is not foreseen: how fast a topic grows is not known.
 */
export function createTargetRetention({ admin, target, now, logger }: TargetRetentionOptions) {
  const told = new Set<string>()
  let lookedAt = -Infinity

  async function isNear(topic: string, retentionMs: number, behind: readonly BehindPosition[]): Promise<boolean> {
    const since = await admin.offsetsSince([topic], Math.floor(now() - retentionMs * nearPart))
    return behind.some(({ partition, offset }) => {
      const young = since.find((each) => each.partition === partition)
      return young !== undefined && (young.offset === null || young.offset > offset)
    })
  }

  return {
    /** Asks Kafka at most once a minute. Rejects when it cannot be asked. */
    async look(behind: readonly BehindPosition[]): Promise<void> {
      if (now() - lookedAt < lookEveryMs) return
      lookedAt = now()
      const byTopic = Map.groupBy(behind, ({ topic }) => topic)
      for (const topic of told) if (!byTopic.has(topic)) told.delete(topic)
      const configs = await admin.topicConfig([...byTopic.keys()])
      for (const [topic, positions] of byTopic) {
        const retentionMs = Number(configs.get(topic)?.['retention.ms'])
        if (!(retentionMs > 0) || !(await isNear(topic, retentionMs, positions))) {
          told.delete(topic)
          continue
        }
        if (told.has(topic)) continue
        told.add(topic)
        logger.warn(
          { target, topic, retentionMs },
          `${topic} holds dead letters that ${target} has not got and that its retention.ms (${retentionMs}) takes away soon; raise it, or mend the target`,
        )
      }
    },
  }
}
