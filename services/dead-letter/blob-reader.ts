import { blobLimits, blobGroupTarget, blobTargetText, noGeneration, startPlaceWithoutLives } from '@barnabas/core'
import type { BlobTarget, DeadLetterShape, Names } from '@barnabas/core'
import { createTrackedConsumer } from '@barnabas/delivery'
import type { Logger } from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'
import { createBlobLanes } from './blob-lanes.ts'
import type { BlobLanes } from './blob-lanes.ts'
import type { BlobSink } from './blob-sink.ts'
import { createBlobWriter } from './blob-writer.ts'
import type { BlobCounts } from './blob-writer.ts'
import { createFollowedReader } from './followed-reader.ts'
import type { FollowedReader } from './followed-reader.ts'

export interface BlobReaderOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  readonly target: BlobTarget
  /** The topics that subscriptions with this target dead-letter into. */
  readonly topics: () => readonly string[]
  readonly shapeOf: (subscriptionId: string) => DeadLetterShape
  readonly openSink: (target: BlobTarget) => Promise<BlobSink>
  readonly onStopped: () => void
  readonly counts: BlobCounts
  readonly sessionTimeoutMs: number
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

/** Dead-letter topics → blobs of one container, by a consumer group of its own. */
export function createBlobReader(options: BlobReaderOptions): FollowedReader {
  const { kafka, target, logger, timeScale, now } = options
  const text = blobTargetText(target)
  let opening: Promise<BlobSink> | undefined
  let lanes: BlobLanes | undefined

  /** A library that could not be loaded is not asked for again; what failed otherwise is. */
  function sink(): Promise<BlobSink> {
    opening ??= options.openSink(target).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  const writer = createBlobWriter({ target: text, sink, timeScale, now, counts: options.counts, logger })
  const reader = createFollowedReader({
    topics: options.topics,
    onStopped: options.onStopped,
    logger,
    open(topics, onFailed) {
      const ownLanes = createBlobLanes({ target: text, writer, shapeOf: options.shapeOf, timeScale, now })
      lanes?.close()
      lanes = ownLanes
      const consumer = createTrackedConsumer({
        kafka,
        groupId: options.names.deadLetterGroup(blobGroupTarget(target)),
        topics,
        sessionTimeoutMs: options.sessionTimeoutMs,
        generation: noGeneration,
        keepsAllDone: false,
        watchesTopics: true,
        maxBytesPerPartition: blobLimits.bytesMax,
        startPlace: (_at, found) => startPlaceWithoutLives(found),
        onNoPlace: () => {},
        onRecords: (partition, records) => ownLanes.onRecords(partition, records),
        onLost: (partition) => ownLanes.onLost(partition),
        onPlaced: () => {},
        onFailed,
        logger,
      })
      return consumer
    },
  })
  return {
    follow: (existing) => reader.follow(existing),
    async close() {
      lanes?.close()
      await reader.close()
    },
  }
}
