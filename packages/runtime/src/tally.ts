/** Counts by subscription and kind. */
export interface Tally {
  add(subscription: string, kind: string): void
  /** Hands over what was counted since the last time. */
  flush(into: (subscription: string, kind: string, count: number) => void): void
}

/**
 * Counts in plain maps. prom-client checks and hashes the labels at every increment, for every event; here it hears
 * of a count when somebody reads it.
 */
export function createTally(): Tally {
  const bySubscription = new Map<string, Map<string, number>>()
  return {
    add(subscription, kind) {
      let byKind = bySubscription.get(subscription)
      if (byKind === undefined) bySubscription.set(subscription, (byKind = new Map<string, number>()))
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
    },
    flush(into) {
      for (const [subscription, byKind] of bySubscription) {
        for (const [kind, count] of byKind) into(subscription, kind, count)
      }
      bySubscription.clear()
    },
  }
}
