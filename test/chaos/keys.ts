import { seededRandom } from './random.ts'

export interface Keys {
  readonly seed: number
  readonly events: number
  /** Partitions of all topics together; an event stands in the one of its index, by turns. */
  readonly places: number
  readonly subscriptions: number
}

/** Enough that some wait for the retries of others, and so few that most go on. */
const eventsPerKey = 20

/** The key of an event: all events of a key are one subscription's and stand in one partition. */
export function keyOf(index: number, { seed, events, places, subscriptions }: Keys): string {
  const groups = places * subscriptions
  const keys = Math.ceil(events / groups / eventsPerKey)
  const random = seededRandom(seed ^ Math.imul(index + 1, 0x85ebca6b))
  return `${index % groups}-${Math.floor(random() * keys)}`
}
