import { noGeneration, startPlaceWithoutLives, targetGroup, targetText } from '@barnabas/core'
import type { DeadLetterTarget, Names } from '@barnabas/core'
import { createTrackedConsumer } from '@barnabas/delivery'
import type { Logger } from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'
import { createFollowedReader } from './followed-reader.ts'
import type { FollowedReader } from './followed-reader.ts'
import { openRefusalLog } from './refusal-log.ts'
import { createTargetLag } from './target-lag.ts'
import type { LagCounts } from './target-lag.ts'
import { createTargetLanes } from './target-lanes.ts'
import type { TargetLanes } from './target-lanes.ts'
import { createTargetRetention } from './target-retention.ts'
import { createTargetWriter } from './target-writer.ts'
import type { TargetCounts } from './target-writer.ts'
import type { Target } from './target.ts'

export interface TargetReaderOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  readonly target: DeadLetterTarget
  readonly to: Target
  /** The topics that subscriptions with this target dead-letter into. */
  readonly topics: () => readonly string[]
  readonly onStopped: () => void
  readonly counts: TargetCounts & LagCounts
  readonly sessionTimeoutMs: number
  readonly logger: Logger
}

/** Dead-letter topics → one target, by a consumer group of its own: it waits for no other target (row B7). */
export function createTargetReader(options: TargetReaderOptions): FollowedReader {
  const { kafka, target, to, counts, logger } = options
  const text = targetText(target)
  const groupId = options.names.deadLetterGroup(targetGroup(target))
  const refusals = openRefusalLog({ kafka, names: options.names, logger })
  const writer = createTargetWriter({ target: text, to, counts, refusals, now: Date.now, logger })
  const retention = createTargetRetention({ admin: kafka.admin, target: text, now: Date.now, logger })
  const lag = createTargetLag({
    admin: kafka.admin,
    target: text,
    groupId,
    topics: options.topics,
    counts,
    retention,
    logger,
  })
  let lanes: TargetLanes | undefined
  const reader = createFollowedReader({
    topics: options.topics,
    onStopped: options.onStopped,
    logger,
    open(topics, onFailed) {
      lanes?.close()
      const ownLanes = createTargetLanes({ target: text, writer })
      lanes = ownLanes
      return createTrackedConsumer({
        kafka,
        groupId,
        topics,
        sessionTimeoutMs: options.sessionTimeoutMs,
        generation: noGeneration,
        keepsAllDone: false,
        watchesTopics: true,
        startPlace: (_at, found) => startPlaceWithoutLives(found),
        onNoPlace: () => {},
        onRecords: (partition, records) => ownLanes.onRecords(partition, records),
        onLost: (partition) => ownLanes.onLost(partition),
        onSkipped({ topic, partition }, offsets) {
          const message = `${offsets} records of ${topic}/${partition} were deleted before they could be carried to ${text}`
          logger.error({ target: text, topic, partition, offsets }, message)
        },
        onPlaced: () => {},
        onFailed,
        logger,
      })
    },
  })
  return {
    async follow(existing) {
      await reader.follow(existing)
      lag.look()
    },
    async close() {
      lanes?.close()
      await reader.close()
      await to.close()
      await refusals.close()
      await lag.close()
    },
  }
}
