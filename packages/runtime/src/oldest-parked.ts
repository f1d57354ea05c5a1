/** Which events of each subscription wait for their due time, as far as one process knows: the oldest of them. */
export interface OldestParked {
  /** An event waits from now on until `dueAt`. Times are ms since the epoch. */
  add(subscription: string, publishTime: number, dueAt: number, now: number): void
  /** By subscription, how old its oldest event that still waits is; null for those that had one and have none now. */
  ages(now: number): Iterable<readonly [subscription: string, ageMs: number | null]>
  forget(subscription: string): void
}

interface Parked {
  readonly publishTime: number
  readonly dueAt: number
}

/** Of each subscription so many, the oldest: of more only those count that outlast all of these. */
const keptMax = 8

export function createOldestParked(): OldestParked {
  const bySubscription = new Map<string, Parked[]>()

  return {
    add(subscription, publishTime, dueAt, now) {
      const parked = (bySubscription.get(subscription) ?? []).filter((each) => each.dueAt > now)
      const place = parked.findIndex((each) => each.publishTime > publishTime)
      parked.splice(place < 0 ? parked.length : place, 0, { publishTime, dueAt })
      bySubscription.set(subscription, parked.slice(0, keptMax))
    },
    *ages(now) {
      for (const [subscription, parked] of bySubscription) {
        const oldest = parked.find(({ dueAt }) => dueAt > now)
        yield [subscription, oldest === undefined ? null : Math.max(0, now - oldest.publishTime)]
        if (oldest === undefined) bySubscription.delete(subscription)
      }
    },
    forget: (subscription) => void bySubscription.delete(subscription),
  }
}
