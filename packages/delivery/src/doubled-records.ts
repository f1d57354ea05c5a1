import type { DeliveryState, TopicPartition } from '@barnabas/core'

/**
 * Remembers what was read, to tell a doubled record from a legal re-parking: a crash between a write and its commit,
 * or a producer's retry after a lost acknowledgement, puts the same write of the same event into its tier partition
 * twice, at two offsets. The second is dropped, for one event must not become two streams of retries
 * (design, "Counting").
 */
export interface DoubledRecords {
  /** Whether the same write was seen at another place. Remembers it otherwise. */
  isDoubled(state: DeliveryState, place: TopicPartition & { readonly offset: number }, now: number): boolean
}

const rememberMs = 600_000
/** About 20 MB at the most; beyond it the oldest are forgotten, which only costs a duplicate. */
const rememberedMax = 100_000

export function createDoubledRecords(max = rememberedMax): DoubledRecords {
  /** In the order in which they were seen, so the oldest come first. */
  const seen = new Map<string, { readonly place: string; readonly at: number }>()

  return {
    isDoubled(state, { topic, partition, offset }, now) {
      for (const [oldest, { at }] of seen) {
        if (seen.size <= max && now - at < rememberMs) break
        seen.delete(oldest)
      }
      const write = writeOf(state)
      const place = `${topic}/${partition}/${offset}`
      const before = seen.get(write)
      if (before === undefined) seen.set(write, { place, at: now })
      return before !== undefined && before.place !== place
    },
  }
}

/**
 * What names one write of one event: no two legal writes share all of it, because each raises `hops`. The time of
 * publication tells an event from the one that stood at the same offset before its topic was deleted and made again.
 */
function writeOf({ subscriptionId, generation, source, publishTime, redrives, attempts, hops }: DeliveryState): string {
  return `${source.topic}/${source.partition}/${source.offset}@${publishTime} ${subscriptionId}/${generation} ${redrives}/${attempts}/${hops}`
}
