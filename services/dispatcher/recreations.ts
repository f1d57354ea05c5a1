/** Which topics were deleted and made again since they were first seen: the same name, another id. */
export interface Recreations {
  /** Takes what the brokers say now (those that exist), and tells which topics are new ones under an old name. */
  idsAre(ids: ReadonlyMap<string, string>): readonly string[]
  /** Differs from what it was for the same topics when one of them was made again. */
  livesOf(topics: readonly string[]): string
}

export function createRecreations(): Recreations {
  /** Kept while a topic is missing too, to know it again. */
  const known = new Map<string, { readonly id: string; readonly life: number }>()

  return {
    idsAre(ids) {
      const anew: string[] = []
      for (const [topic, id] of ids) {
        const before = known.get(topic)
        if (before?.id === id) continue
        known.set(topic, { id, life: (before?.life ?? 0) + 1 })
        if (before !== undefined) anew.push(topic)
      }
      return anew
    },
    livesOf: (topics) =>
      topics
        .toSorted()
        .map((topic) => Math.max(known.get(topic)?.life ?? 1, 1))
        .join(),
  }
}
