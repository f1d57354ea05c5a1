import { decodeCommitMetadata } from '@barnabas/core'
import type { CommitLabel, FoundPartition, KnownPlace, StartPlace, TopicPartition } from '@barnabas/core'
import type { CommittedOffset, KafkaClient } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

/** Where a gained partition is read from, and what every commit of it says. */
export interface LookedUpPlace {
  readonly at: TopicPartition
  readonly place: KnownPlace
  readonly label: CommitLabel
  /** What stands at the broker. */
  readonly standing: CommittedOffset | undefined
  /** How many offsets were gone before anybody read them, of which no commit speaks yet. */
  readonly skippedOffsets: number
}

export type PlaceLookup =
  | { readonly kind: 'places'; readonly places: readonly LookedUpPlace[] }
  | { readonly kind: 'unknown'; readonly at: TopicPartition }

export interface PlaceLookupOptions {
  readonly kafka: Pick<KafkaClient, 'admin'>
  readonly groupId: string
  readonly generation: number
  readonly startPlace: (at: TopicPartition, found: FoundPartition) => StartPlace
  readonly logger: Logger
}

/** Looks up the place of each partition: what the group committed, the logs' beginnings, and whether a topic is a new one. */
export async function lookUpPlaces(
  options: PlaceLookupOptions,
  partitions: readonly TopicPartition[],
): Promise<PlaceLookup> {
  const { groupId, generation, logger } = options
  const { admin } = options.kafka
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const [committed, ends, topicIds] = await Promise.all([
    admin.committed(groupId, topics),
    admin.offsets(topics),
    admin.topicIds(topics),
  ])
  const places: LookedUpPlace[] = []
  for (const at of partitions) {
    const isHere = (each: TopicPartition) => each.topic === at.topic && each.partition === at.partition
    const standing = committed.find(isHere)
    const topicId = topicIds.get(at.topic)
    const place = options.startPlace(at, { committed: standing, low: ends.find(isHere)?.low ?? 0, topicId })
    if (place.kind === 'unknown') return { kind: 'unknown', at }
    const before = standing === undefined ? null : decodeCommitMetadata(standing.metadata, standing.offset)
    const fields = { group: groupId, ...at }
    if (standing !== undefined && isDamaged(standing)) {
      const { metadata } = standing
      logger.warn(
        { ...fields, metadata },
        'the metadata of the commit is damaged: what was done beyond it is delivered once more',
      )
    }
    const told = before?.generation === generation ? before : null
    if (place.isAnew && told?.isAnew !== true) {
      logger.warn(fields, 'the topic was deleted and made again: it is read from its beginning')
    }
    const skippedOffsets = place.skippedOffsets - (told?.skippedOffsets ?? 0)
    if (skippedOffsets > 0) {
      logger.warn({ ...fields, skippedOffsets, offset: place.offset }, 'records were deleted before they were read')
    }
    const { voidStart, isAnew } = place
    const label = { generation, topicId: topicId ?? null, voidStart, isAnew, skippedOffsets: place.skippedOffsets }
    places.push({ at, place, label, standing, skippedOffsets })
  }
  return { kind: 'places', places }
}

/** Ours and not to be read, or another tool's; what sets offsets by hand leaves it empty. */
function isDamaged({ metadata, offset }: CommittedOffset): boolean {
  return metadata !== '' && decodeCommitMetadata(metadata, offset)?.isWhole !== true
}
