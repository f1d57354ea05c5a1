import { blobLimits, blobTargetText } from '@barnabas/core'
import type { BlobTarget } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { FollowedReader } from './followed-reader.ts'

/** A container, and the topics whose dead letters may belong into it. */
export interface WantedBlobs {
  readonly target: BlobTarget
  readonly topics: readonly string[]
}

/** The readers of all containers that subscriptions name, as they come and go. */
export interface BlobReaders {
  follow(existing: ReadonlySet<string>): Promise<void>
  close(): Promise<void>
}

export function createBlobReaders(options: {
  readonly wanted: () => readonly WantedBlobs[]
  readonly open: (target: BlobTarget, topics: () => readonly string[]) => FollowedReader
  readonly logger: Logger
}): BlobReaders {
  const readers = new Map<string, FollowedReader>()
  let topicsByTarget: ReadonlyMap<string, readonly string[]> = new Map()
  let told = ''

  async function follow(existing: ReadonlySet<string>): Promise<void> {
    const byTarget = Map.groupBy(options.wanted(), ({ target }) => blobTargetText(target))
    topicsByTarget = new Map(
      [...byTarget].map(([text, wanted]) => [text, [...new Set(wanted.flatMap(({ topics }) => topics))]]),
    )
    const gone = [...readers].filter(([text]) => !byTarget.has(text))
    for (const [text] of gone) readers.delete(text)
    const leftOut: string[] = []
    for (const [text, [wanted]] of byTarget) {
      if (readers.has(text) || wanted === undefined) continue
      if (readers.size >= blobLimits.containersMax) leftOut.push(text)
      else
        readers.set(
          text,
          options.open(wanted.target, () => topicsByTarget.get(text) ?? []),
        )
    }
    tellOf(leftOut)
    const closing = gone.map(([, reader]) => reader.close())
    await Promise.all([...closing, ...[...readers.values()].map((reader) => reader.follow(existing))])
  }

  /** Once for the same ones. */
  function tellOf(leftOut: readonly string[]): void {
    const text = leftOut.join(', ')
    if (text !== told && text !== '') {
      const sentence = `more than ${blobLimits.containersMax} containers are named; no dead letters are written into ${text}`
      options.logger.error({ leftOut }, sentence)
    }
    told = text
  }

  return {
    follow,
    async close() {
      await Promise.all([...readers.values()].map((reader) => reader.close()))
    },
  }
}
