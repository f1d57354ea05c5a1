import { fnv1a } from './fnv1a.ts'
import type { TierName } from './tiers.ts'

export interface Tier {
  readonly name: TierName
  readonly delayMs: number
}

/** A wait that remains this much shorter than a tier's delay still uses that tier: nothing leaves it late for that. */
const slackMs = 250
/** What a process waits out in memory instead of writing the event to one more tier. */
export const inMemoryRestMs = 5_000

/**
 * The tier for a wait: the longest whose delay is at most what remains plus 250 ms, so that the rest is waited out
 * in shorter tiers and, at last, in memory (design, "Tiers"). `tiers` are sorted by delay, beginning with `now`;
 * their delays and both constants are multiplied by `timeScale`.
 */
export function tierFor(remainingMs: number, tiers: readonly Tier[], timeScale: number): Tier {
  let chosen = tiers[0]
  if (chosen === undefined) throw new RangeError('there are no tiers')
  for (const tier of tiers) {
    if (tier.delayMs * timeScale <= remainingMs + slackMs * timeScale) chosen = tier
  }
  return chosen
}

/** When a record leaves its tier: at its due time, or when the tier's delay is over, whichever is earlier. */
export function leavesTierAt(dueAt: number, appendedAt: number, tier: Tier, timeScale: number): number {
  return Math.min(dueAt, appendedAt + tier.delayMs * timeScale)
}

/**
 * The partition of a tier that an event waits in: a hash (FNV-1a, 32 bits) of subscription and source position,
 * so that every write of one event to one tier meets the same retrier, which can then tell a doubled record.
 */
export function tierPartition(
  subscriptionId: string,
  source: { readonly topic: string; readonly partition: number; readonly offset: number },
  partitions: number,
): number {
  const text = `${subscriptionId}\n${source.topic}\n${source.partition}\n${source.offset}`
  return fnv1a(text) % partitions
}
