import { decodeCommitMetadata } from '@barnabas/core'
import type { TopicPartition } from '@barnabas/core'
import type { CommitPosition, KafkaClient } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

/** Tiers and held topics have no age limit: what lies below the committed offset is deleted by whoever committed it, this often. */
const cleanEveryMs = 60_000

/**
 * Deletes the records of tiers and held topics that are done, so that these do not grow without bound. A topic that was
 * deleted and made again holds others below that offset, which nobody has read: of it nothing is deleted.
 */
export function createRecordCleaner(options: {
  readonly admin: Pick<KafkaClient['admin'], 'deleteRecords' | 'topicIds'>
  readonly logger: Logger
}) {
  const { admin } = options
  const due = new Map<string, CommitPosition>()

  async function clean(): Promise<void> {
    const below = [...due.values()]
    due.clear()
    if (below.length === 0) return
    try {
      const ids = await admin.topicIds([...new Set(below.map(({ topic }) => topic))])
      const ofPresent = below.filter(({ topic, offset, metadata }) => {
        const topicId = decodeCommitMetadata(metadata, offset)?.topicId ?? null
        return topicId === null || ids.get(topic) === topicId
      })
      if (ofPresent.length > 0) await admin.deleteRecords(ofPresent)
    } catch (error) {
      options.logger.warn(
        { error: String(error) },
        'done retry records cannot be deleted; they are with the next round',
      )
      for (const each of below) if (!due.has(keyOf(each))) due.set(keyOf(each), each)
    }
  }

  const timer = setInterval(() => void clean(), cleanEveryMs)
  return {
    committed(positions: readonly CommitPosition[]): void {
      for (const each of positions) due.set(keyOf(each), each)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await clean()
    },
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
