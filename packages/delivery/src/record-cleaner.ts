import type { TopicPartition } from '@barnabas/core'
import type { Logger } from './logger.ts'

type Position = TopicPartition & { readonly offset: number }

/** Tiers and held topics have no age limit: what lies below the committed offset is deleted by whoever committed it, this often. */
const cleanEveryMs = 60_000

/** Deletes the records of tiers and held topics that are done, so that these do not grow without bound. */
export function createRecordCleaner(options: {
  readonly deleteRecords: (below: readonly Position[]) => Promise<void>
  readonly logger: Logger
}) {
  const due = new Map<string, Position>()

  async function clean(): Promise<void> {
    const below = [...due.values()]
    due.clear()
    if (below.length === 0) return
    try {
      await options.deleteRecords(below)
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
    committed(positions: readonly Position[]): void {
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
