import type { OffsetRange } from './offset-ranges.ts'
import { decodeRanges, encodeRanges } from './offset-ranges.ts'

/** What stands beside a committed offset. */
export interface CommitMetadata {
  /** Which life of the subscription it belongs to; 0 where there are no lives (the shared tiers). */
  readonly generation: number
  /** What is done beyond the committed offset. */
  readonly done: readonly OffsetRange[]
  /** Whether what is done could be read; if not, it is delivered once more. */
  readonly isWhole: boolean
}

/** Kafka's limit for the metadata of one offset, in bytes; ours is ASCII. */
export const commitMetadataBytesMax = 4_096

/** The characters that are left for what is done, behind the head of the metadata. */
export function commitMetadataRoom(generation: number): number {
  return commitMetadataBytesMax - headOf(generation).length - donePrefix.length
}

const donePrefix = ' done='

function headOf(generation: number): string {
  return `barnabas/1 generation=${generation}`
}

/**
 * The metadata of a commit: the version of this format, the life of the subscription (one that was deleted and made
 * again must not go on where its namesake stood), and what is done beyond the committed offset, as far as it fits.
 *
 *     barnabas/1 generation=1772366400000 done=1.2.1.4
 */
export function encodeCommitMetadata(generation: number, committed: number, done: readonly OffsetRange[] = []): string {
  const head = headOf(generation)
  if (done.length === 0) return head
  return `${head}${donePrefix}${encodeRanges(committed, done, commitMetadataRoom(generation))}`
}

/** Reads what `encodeCommitMetadata` wrote; null for what some other tool wrote (`kafka-consumer-groups --reset-offsets`). */
export function decodeCommitMetadata(metadata: string, committed: number): CommitMetadata | null {
  const match = /^barnabas\/1 generation=(\d{1,16})(?: done=(.*))?$/s.exec(metadata)
  if (match === null) return null
  const done = decodeRanges(committed, match[2] ?? '')
  return { generation: Number(match[1]), done: done ?? [], isWhole: done !== null }
}
