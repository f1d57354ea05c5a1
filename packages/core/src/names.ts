import type { TierName } from './tiers.ts'
import { tiers } from './tiers.ts'

/** The names of everything that Barnabas owns in Kafka. `BARNABAS_PREFIX` changes their first part. */
export interface Names {
  readonly prefix: string
  /** key = subscription id, value = the subscription. */
  readonly subscriptions: string
  /** key = subscription id, value = its status. */
  readonly status: string
  /** What is said to the services; key = subscription id. */
  readonly commands: string
  /** What is known of single events besides their records: late successes. Key: subscription, generation, position. */
  readonly progress: string
  /** What each process says of how a subscription's endpoint does; key = subscription id/process. */
  readonly health: string
  /** Which dead letters were sent again; key = dead-letter topic/partition/offset. */
  readonly redrives: string
  /** Which dead letters a target refuses for good; key = target and dead-letter topic/partition/offset. */
  readonly refusals: string
  /** The transactional id of whoever sends dead letters again: the second one fences the first. */
  readonly redriver: string
  /** Dead letters of every subscription that names no topic of its own. */
  readonly deadLetter: string
  retryTopic(tier: TierName): string
  /** Every tier's topic, in order of their delays. */
  readonly retryTopics: readonly string[]
  /** The consumer group of a subscription's first attempts. */
  subscriptionGroup(subscriptionId: string): string
  readonly retrierGroup: string
  /** Due retries of a subscription that may not attempt them now, made on first need. */
  heldTopic(subscriptionId: string): string
  /** The consumer group of a subscription's held retries. */
  heldGroup(subscriptionId: string): string
  /** The id of the subscription whose held topic it is, null for any other topic. */
  subscriptionOfHeldTopic(topic: string): string | null
  deadLetterGroup(target: string): string
  /** Whether the topic is (or will be, in a later version) one that only Barnabas writes, the dead-letter topic excluded. */
  isInternal(topic: string): boolean
}

const internalTopics = new Set(['subscriptions', 'status', 'commands', 'progress', 'health', 'redrives', 'refusals'])

export function names(prefix: string): Names {
  const retryTopic = (tier: TierName) => `${prefix}.retry.${tier}`
  const heldTopic = (subscriptionId: string) => `${prefix}.held.${subscriptionId}`
  return {
    prefix,
    subscriptions: `${prefix}.subscriptions`,
    status: `${prefix}.status`,
    commands: `${prefix}.commands`,
    progress: `${prefix}.progress`,
    health: `${prefix}.health`,
    redrives: `${prefix}.redrives`,
    refusals: `${prefix}.refusals`,
    redriver: `${prefix}.redrive`,
    deadLetter: `${prefix}.dead-letter`,
    retryTopic,
    retryTopics: tiers.map(({ name }) => retryTopic(name)),
    subscriptionGroup: (subscriptionId) => `${prefix}.subscription.${subscriptionId}`,
    retrierGroup: `${prefix}.retrier`,
    heldTopic,
    heldGroup: heldTopic,
    subscriptionOfHeldTopic: (topic) => (topic.startsWith(heldTopic('')) ? topic.slice(heldTopic('').length) : null),
    deadLetterGroup: (target) => `${prefix}.dead-letter.${target}`,
    isInternal(topic) {
      if (!topic.startsWith(`${prefix}.`)) return false
      const rest = topic.slice(prefix.length + 1)
      return internalTopics.has(rest) || rest.startsWith('retry.') || rest.startsWith('held.')
    },
  }
}

/** What is wrong with a Kafka topic name, null when nothing is. The broker's own rules. */
export function topicNameProblem(topic: string): string | null {
  if (topic === '') return 'is empty'
  if (topic === '.' || topic === '..') return 'is not allowed by Kafka'
  if (topic.length > 249) return 'is longer than 249 characters'
  if (!/^[a-zA-Z0-9._-]+$/.test(topic)) return 'may only contain letters, digits, ".", "_" and "-"'
  return null
}
