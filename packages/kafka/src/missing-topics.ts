/** A broker that has just started may not know all topics yet. */
const MISSING_TIMES = 2
const WATCH_EVERY_MS = 1_000
/** Without a fetch for so long the watch asks whether the topics are still there. */
const STALLED_AFTER_MS = 3_000

interface MissingTopicsWatch {
  readonly topics: readonly string[]
  /** When something was last fetched, in milliseconds since the epoch. */
  readonly lastFetchAt: () => number
  /** Which of these topics do not exist; rejects when no broker answers. */
  readonly missingTopics: (topics: readonly string[]) => Promise<readonly string[]>
  readonly onMissing: (topics: readonly string[]) => void
}

/**
 * The client asks for a topic that is gone for ever and says nothing. This finds out while nothing is fetched.
 * Returns the function that ends it.
 */
export function watchMissingTopics({ topics, lastFetchAt, missingTopics, onMissing }: MissingTopicsWatch): () => void {
  let times = 0
  const look = async (): Promise<void> => {
    if (Date.now() - lastFetchAt() < STALLED_AFTER_MS) {
      times = 0
      return
    }
    try {
      const missing = await missingTopics(topics)
      times = missing.length > 0 ? times + 1 : 0
      if (times >= MISSING_TIMES) onMissing(missing)
    } catch {
      // No broker answers, so the topics are not what is wrong.
    }
  }
  const timer = setInterval(() => void look(), WATCH_EVERY_MS)
  return () => clearInterval(timer)
}
