import type { Logger } from './logger.ts'

/** Tells of writes that do not succeed, so that many records that wait for one topic do not flood the log. */
export interface WriteTrouble {
  /** A try has failed; it is told at once when it is news for the topic, otherwise every `tellAgainAfterMs`. */
  failed(topic: string, error: string): void
}

const tellAgainAfterMs = 30_000

/** `now` is in ms and need not be a time of day; topics are as few as tiers and dead-letter topics are. */
export function createWriteTrouble(logger: Logger, now: () => number): WriteTrouble {
  const told = new Map<string, { readonly error: string; readonly at: number }>()
  return {
    failed(topic, error) {
      const last = told.get(topic)
      if (last?.error === error && now() - last.at < tellAgainAfterMs) return
      told.set(topic, { error, at: now() })
      logger.warn(
        { topic, error },
        `a record cannot be written to ${topic}; its event stays where it is, and the write is tried again until it succeeds`,
      )
    },
  }
}
