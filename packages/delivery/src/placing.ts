import type { TopicPartition } from '@barnabas/core'
import type { Consumer } from '@barnabas/kafka'
import { lookUpPlaces } from './place-lookup.ts'
import type { LookedUpPlace, PlaceLookupOptions } from './place-lookup.ts'
import type { OwnPartition } from './tracked-partition.ts'

const troubleDelayMs = 500

export interface PlacingOptions extends PlaceLookupOptions {
  readonly consumer: Pick<Consumer, 'commit'>
  readonly track: (found: LookedUpPlace) => OwnPartition
  /** Where one starts is not known, and nobody is to guess. */
  readonly onNoPlace: (at: TopicPartition) => void
  readonly onSkipped: ((at: TopicPartition, offsets: number) => void) | undefined
  /** What must be known before anything of them is handed over; on trouble it is asked again. */
  readonly beforePlaced?: (() => Promise<void>) | undefined
}

/**
 * Looks up and commits the place of each partition; on trouble again, until it is done, or `isMoot`. Null when they
 * have no place: it is moot, one is not known, or their generation is over and the next join tells.
 */
export async function placePartitions(
  options: PlacingOptions,
  unplaced: readonly TopicPartition[],
  isMoot: () => boolean,
): Promise<readonly OwnPartition[] | null> {
  while (!isMoot()) {
    try {
      return await place(options, unplaced, isMoot)
    } catch (error) {
      const fields = { group: options.groupId, error: error instanceof Error ? error.message : String(error) }
      options.logger.warn(fields, 'cannot look up where to start reading; trying again')
      await new Promise((resolve) => setTimeout(resolve, troubleDelayMs))
    }
  }
  return null
}

async function place(
  options: PlacingOptions,
  unplaced: readonly TopicPartition[],
  isMoot: () => boolean,
): Promise<readonly OwnPartition[] | null> {
  if (unplaced.length === 0) return []
  const [found] = await Promise.all([lookUpPlaces(options, unplaced), options.beforePlaced?.()])
  if (isMoot()) return null
  if (found.kind === 'unknown') {
    options.onNoPlace(found.at)
    return null
  }
  const placed = found.places.map((each) => {
    const own = options.track(each)
    const position = own.position()
    const { standing } = each
    if (standing?.offset === position.offset && standing.metadata === position.metadata) own.committed = position
    return own
  })
  const positions = placed.filter((each) => each.committed === null).map((each) => each.position())
  if (positions.length > 0 && !(await options.consumer.commit(positions))) return null
  if (isMoot()) return null
  for (const each of placed) each.committed ??= each.position()
  for (const { at, skippedOffsets } of found.places) if (skippedOffsets > 0) options.onSkipped?.(at, skippedOffsets)
  return placed
}
