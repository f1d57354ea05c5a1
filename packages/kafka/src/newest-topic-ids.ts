/** A broker whose metadata is behind tells an id that another one's answer has replaced. Asking again can help. */
class OutdatedMetadataError extends Error {
  override readonly name = 'OutdatedMetadataError'
  readonly retriable = true

  constructor(topic: string) {
    super(`a broker knows topic ${topic} as it was before it was deleted and made again`)
  }
}

/**
 * Ids are never used again, so one that was replaced is of a topic that is gone. A reader that believed it would go on in
 * the middle of the new topic. Gives what was told, and throws when it was told before that it is over.
 */
export function createNewestTopicIds(): (told: ReadonlyMap<string, string>) => ReadonlyMap<string, string> {
  const newest = new Map<string, string>()
  const replaced = new Set<string>()

  return (told) => {
    for (const [topic, id] of told) if (replaced.has(id)) throw new OutdatedMetadataError(topic)
    for (const [topic, id] of told) {
      const before = newest.get(topic)
      if (before !== undefined && before !== id) replaced.add(before)
      newest.set(topic, id)
    }
    return told
  }
}
