import type { TopicPartition } from '@barnabas/core'

/** What a member of the group tells the leader when it joins. */
export interface GroupMember {
  readonly memberId: string
  readonly topics: readonly string[]
  /** The partitions it held when it joined, and in which generation it got them; -1 and none for a new member. */
  readonly ownedGeneration: number
  readonly owned: readonly TopicPartition[]
}

/**
 * Divides all partitions of all topics that any member subscribed to. Promises:
 * - a partition goes only to a member that subscribed to its topic, and every partition of a topic that exists and
 *   has a subscriber goes to exactly one (the client's stock assignor spreads the leader's topics over everybody,
 *   and members silently drop what they did not subscribe to);
 * - sticky: a member keeps what it held, as far as balance allows; of two that claim the same partition the one of
 *   the later generation is believed;
 * - balanced: no move of one partition can bring two members closer together;
 * - deterministic: the order of the members does not matter.
 */
export function assignPartitions(
  members: readonly GroupMember[],
  partitionCounts: ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly TopicPartition[]> {
  const shares = members
    .toSorted((a, b) => compare(a.memberId, b.memberId))
    .map((member): Share => ({ member, topics: new Set(member.topics), held: new Map(), size: 0 }))

  const free = keepClaims(shares, partitionCounts)
  for (const partition of free) {
    const taker = shares.filter((share) => share.topics.has(partition.topic)).toSorted(byLoad(partition.topic))[0]
    if (taker !== undefined) give(taker, partition.topic, partition.partition)
  }
  while (moveOne(shares)) {
    // Each move brings two members closer together, so this ends.
  }
  return new Map(shares.map((share) => [share.member.memberId, list(share)]))
}

interface Share {
  readonly member: GroupMember
  readonly topics: ReadonlySet<string>
  /** Partitions by topic. */
  readonly held: Map<string, Set<number>>
  size: number
}

/** Gives the partitions to whoever rightly claims them, and answers those that nobody does. */
function keepClaims(shares: readonly Share[], partitionCounts: ReadonlyMap<string, number>): TopicPartition[] {
  const taken = new Map<string, Set<number>>()
  for (const share of shares.toSorted((a, b) => b.member.ownedGeneration - a.member.ownedGeneration)) {
    for (const { topic, partition } of share.member.owned) {
      const exists = partition < (partitionCounts.get(topic) ?? 0)
      const takenOfTopic = taken.get(topic) ?? new Set()
      if (!exists || !share.topics.has(topic) || takenOfTopic.has(partition)) continue
      taken.set(topic, takenOfTopic.add(partition))
      give(share, topic, partition)
    }
  }
  const topics = [...partitionCounts.keys()].toSorted(compare)
  return topics.flatMap((topic) =>
    Array.from({ length: partitionCounts.get(topic) ?? 0 }, (_, partition) => ({ topic, partition })).filter(
      ({ partition }) => taken.get(topic)?.has(partition) !== true,
    ),
  )
}

/** Moves one partition from a member that has at least two more than another which may hold it. */
function moveOne(shares: readonly Share[]): boolean {
  const rising = shares.toSorted((a, b) => a.size - b.size)
  for (const from of rising.toReversed()) {
    for (const to of rising) {
      if (from.size - to.size < 2) break
      const topic = topicToMove(from, to)
      if (topic === undefined) continue
      const partitions = from.held.get(topic) ?? new Set()
      const partition = Math.max(...partitions)
      partitions.delete(partition)
      from.size -= 1
      give(to, topic, partition)
      return true
    }
  }
  return false
}

/** The topic in which `from` is furthest ahead of `to`, so that each topic is spread and not only their sum. */
function topicToMove(from: Share, to: Share): string | undefined {
  const lead = (topic: string): number => (from.held.get(topic)?.size ?? 0) - (to.held.get(topic)?.size ?? 0)
  return [...from.held]
    .filter(([topic, partitions]) => partitions.size > 0 && to.topics.has(topic))
    .map(([topic]) => topic)
    .toSorted((a, b) => lead(b) - lead(a) || compare(a, b))[0]
}

function give(share: Share, topic: string, partition: number): void {
  share.held.set(topic, (share.held.get(topic) ?? new Set()).add(partition))
  share.size += 1
}

function byLoad(topic: string): (a: Share, b: Share) => number {
  return (a, b) =>
    a.size - b.size ||
    (a.held.get(topic)?.size ?? 0) - (b.held.get(topic)?.size ?? 0) ||
    compare(a.member.memberId, b.member.memberId)
}

function list(share: Share): TopicPartition[] {
  return [...share.held.keys()]
    .toSorted(compare)
    .flatMap((topic) =>
      [...(share.held.get(topic) ?? [])].toSorted((a, b) => a - b).map((partition) => ({ topic, partition })),
    )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
