import type { OffsetRange } from './offset-ranges.ts'
import { decodeRanges, encodeRanges } from './offset-ranges.ts'

/** What a commit says of its partition beside the offset. */
export interface CommitLabel {
  /** Which life of the subscription it belongs to; 0 where there are no lives (the shared tiers). */
  readonly generation: number
  /** The topic that the offset is of: one that is deleted and made again has another id. Null when it is not known. */
  readonly topicId: string | null
  /** The subscription's start offset that counts no more, because the topic was made anew or an operator set a place. */
  readonly voidStart: number | null
  /** Whether the topic was made anew while this life read it. */
  readonly isAnew: boolean
  /** How many offsets of this life were gone before anybody read them. */
  readonly skippedOffsets: number
}

/** What stands beside a committed offset. */
export interface CommitMetadata extends CommitLabel {
  /** What is done beyond the committed offset. */
  readonly done: readonly OffsetRange[]
  /** Whether what is done could be read; if not, it is delivered once more. */
  readonly isWhole: boolean
}

/** Kafka's limit for the metadata of one offset, in bytes; ours is ASCII. */
export const commitMetadataBytesMax = 4_096

/** What the label needs at most: 22 characters of topic id, three numbers of 16 digits, and the words. */
const labelCharactersMax = 160

/** The characters that are left for what is done, behind the label. */
export const commitMetadataRoom = commitMetadataBytesMax - labelCharactersMax

/** A label that says nothing but whose it is. */
export function plainLabel(generation: number): CommitLabel {
  return { generation, topicId: null, voidStart: null, isAnew: false, skippedOffsets: 0 }
}

/**
 * The metadata of a commit: the version of this format, the life of the subscription (one that was deleted and made
 * again must not go on where its namesake stood), what else there is to say of the partition, and what is done beyond the
 * committed offset, as far as it fits.
 *
 *     barnabas/1 generation=1772366400000 topic=Xq0pLJ5sTgqbZ2lMmHk1Vw done=1.2.1.4
 *     barnabas/1 generation=1772366400000 topic=Xq0pLJ5sTgqbZ2lMmHk1Vw void-start=500 anew=1 skipped=12
 */
export function encodeCommitMetadata(label: CommitLabel, committed: number, done: readonly OffsetRange[] = []): string {
  const { generation, topicId, voidStart, isAnew, skippedOffsets } = label
  let text = `barnabas/1 generation=${generation}`
  if (topicId !== null) text += ` topic=${topicId}`
  if (voidStart !== null) text += ` void-start=${voidStart}`
  if (isAnew) text += ' anew=1'
  if (skippedOffsets > 0) text += ` skipped=${skippedOffsets}`
  if (done.length > 0) text += ` done=${encodeRanges(committed, done, commitMetadataRoom)}`
  return text
}

const format =
  /^barnabas\/1 generation=(\d{1,16})(?: topic=([\w-]{22}))?(?: void-start=(\d{1,16}))?( anew=1)?(?: skipped=(\d{1,16}))?(?: done=(.*))?$/s

/** Reads what `encodeCommitMetadata` wrote; null for what some other tool wrote (`kafka-consumer-groups --reset-offsets`). */
export function decodeCommitMetadata(metadata: string, committed: number): CommitMetadata | null {
  const match = format.exec(metadata)
  if (match === null) return null
  const [, generation, topicId, voidStart, anew, skipped, runs] = match
  const done = decodeRanges(committed, runs ?? '')
  return {
    generation: Number(generation),
    topicId: topicId ?? null,
    voidStart: voidStart === undefined ? null : Number(voidStart),
    isAnew: anew !== undefined,
    skippedOffsets: Number(skipped ?? 0),
    done: done ?? [],
    isWhole: done !== null,
  }
}
