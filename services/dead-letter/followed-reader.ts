import type { Logger, TrackedConsumer } from '@barnabas/delivery'
import type { ConsumerFailure } from '@barnabas/kafka'

/**
 * A consumer group that reads exactly those of its topics that exist: a consumer cannot change its topics, so another
 * one takes over when they change, and after a failure.
 */
export interface FollowedReader {
  /** Resolves when the topics that exist are being read, or cannot be read yet. Never rejects. */
  follow(existing: ReadonlySet<string>): Promise<void>
  close(): Promise<void>
}

export interface FollowedReaderOptions {
  /** All that it should read, whether they exist or not; asked at each look. */
  readonly topics: () => readonly string[]
  readonly open: (topics: readonly string[], onFailed: (failure: ConsumerFailure) => void) => TrackedConsumer
  /** It reads no more, and should be told of the topics anew. */
  readonly onStopped: () => void
  readonly logger: Logger
}

export function createFollowedReader(options: FollowedReaderOptions): FollowedReader {
  const { logger } = options
  let consumer: TrackedConsumer | null = null
  let reading = ''
  let working: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let existing: ReadonlySet<string> = new Set()
  let closed = false

  async function follow(): Promise<void> {
    waiting = undefined
    if (closed) return
    const topics = [...new Set(options.topics())].filter((topic) => existing.has(topic)).toSorted()
    if (topics.join() === reading) return
    try {
      await consumer?.stop()
      // Nothing is read until the next one has joined, which may fail.
      consumer = null
      reading = ''
      if (topics.length > 0) {
        const next = options.open(topics, onFailed)
        await next.start()
        consumer = next
      }
      reading = topics.join()
    } catch (error) {
      logger.warn({ error: String(error) }, 'cannot read the dead-letter topics yet; trying again')
    }
  }

  function onFailed(failure: ConsumerFailure): void {
    logger.warn({ code: failure.code }, `reading dead letters has stopped: ${failure.message}; trying again`)
    reading = ''
    options.onStopped()
  }

  return {
    follow(nowExisting) {
      existing = nowExisting
      // While one joins its group, which may take long, all that come later are one.
      waiting ??= working = working.then(follow)
      return waiting
    },
    async close() {
      closed = true
      await working
      await consumer?.stop()
    },
  }
}
