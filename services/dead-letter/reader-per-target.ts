import type { Logger } from '@barnabas/delivery'
import type { FollowedReader } from './followed-reader.ts'
import type { Reader } from './service.ts'

/** A target, and the topics whose dead letters may belong to it. */
export interface Wanted<Target> {
  readonly target: Target
  readonly topics: readonly string[]
}

export interface ReaderPerTargetOptions<Target> {
  readonly wanted: () => readonly Wanted<Target>[]
  /** The same for the same target, and for no other. */
  readonly textOf: (target: Target) => string
  readonly open: (target: Target, topics: () => readonly string[]) => FollowedReader
  /** So many at most. */
  readonly readersMax: number
  /** What is said of those beyond: `leftOut` are their texts. */
  readonly tooMany: (leftOut: string) => string
  readonly logger: Logger
}

/** A reader for each of the targets that subscriptions name, as these come and go: containers of blobs, or others. */
export function createReaderPerTarget<Target>(options: ReaderPerTargetOptions<Target>): Reader {
  const readers = new Map<string, FollowedReader>()
  let topicsByTarget: ReadonlyMap<string, readonly string[]> = new Map()
  let told = ''

  async function follow(existing: ReadonlySet<string>): Promise<void> {
    const byTarget = Map.groupBy(options.wanted(), ({ target }) => options.textOf(target))
    topicsByTarget = new Map(
      [...byTarget].map(([text, wanted]) => [text, [...new Set(wanted.flatMap(({ topics }) => topics))]]),
    )
    const gone = [...readers].filter(([text]) => !byTarget.has(text))
    for (const [text] of gone) readers.delete(text)
    const leftOut: string[] = []
    for (const [text, [wanted]] of byTarget) {
      if (readers.has(text) || wanted === undefined) continue
      if (readers.size >= options.readersMax) leftOut.push(text)
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
    if (text !== told && text !== '') options.logger.error({ leftOut }, options.tooMany(text))
    told = text
  }

  return {
    follow,
    async close() {
      await Promise.all([...readers.values()].map((reader) => reader.close()))
    },
  }
}
