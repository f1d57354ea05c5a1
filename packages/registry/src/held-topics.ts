import { compareTopic, createCommand, describeDifference, heldTopic } from '@barnabas/core'
import type { OwnTopic } from '@barnabas/core'
import type { Admin } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

export interface HeldTopicsOptions {
  readonly admin: Pick<Admin, 'brokerCount' | 'describeTopics' | 'topicConfig' | 'createTopics'>
  readonly prefix: string
  readonly tierPartitions: number
  /** null: the smaller of 3 and the number of brokers. */
  readonly replication: number | null
  /** For the commands that are shown to people. */
  readonly bootstrapServer: string
  readonly now: () => number
  readonly logger: Logger
}

type Found =
  | { readonly kind: 'there'; readonly topic: string; readonly partitions: number }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unavailable' }

/** After a refusal it is asked for again this much later: somebody may have made the topic, or allowed it. */
const askAgainMs = 30_000

/** The held topics of subscriptions, each made when it is first needed. Any number of processes may do so at a time. */
export function createHeldTopics(options: HeldTopicsOptions) {
  const { admin, bootstrapServer, logger, now } = options
  const known = new Map<string, { readonly found: Promise<Found>; readonly until: number }>()

  async function make(subscriptionId: string): Promise<Found> {
    const replication = options.replication ?? Math.min(3, await admin.brokerCount())
    const wanted = heldTopic({ ...options, replication }, subscriptionId)
    const { topic } = wanted
    const { refused } = await admin.createTopics([wanted])
    const [refusal] = refused
    if (refusal !== undefined) {
      const { code, message } = refusal
      logger.warn(
        { topic, code, message, command: createCommand(wanted, bootstrapServer) },
        'the held topic of a subscription may not be made; its due retries that cannot be attempted now are parked again and again instead',
      )
      return { kind: 'refused' }
    }
    const [description] = await admin.describeTopics([topic])
    if (description === undefined) return { kind: 'unavailable' }
    await compare(wanted, description).catch((error: unknown) => {
      logger.warn({ topic, error: String(error) }, 'the held topic cannot be compared with what is wanted')
    })
    return { kind: 'there', topic, partitions: description.partitions }
  }

  /** Somebody else may have made it: it serves all the same, and somebody should know. */
  async function compare(wanted: OwnTopic, found: { readonly partitions: number; readonly replication: number }) {
    const config = (await admin.topicConfig([wanted.topic])).get(wanted.topic) ?? {}
    // Its partitions are as many as there are.
    const expected: OwnTopic = { ...wanted, partitions: 1 }
    for (const difference of compareTopic(expected, { ...found, config }, bootstrapServer)) {
      logger.warn({ command: difference.command }, describeDifference(difference))
    }
  }

  return {
    /** Where the subscription's retries are held; the topic is there then. Never rejects. */
    find(subscriptionId: string): Promise<Found> {
      const before = known.get(subscriptionId)
      if (before !== undefined && now() < before.until) return before.found
      const found = make(subscriptionId).catch((error: unknown): Found => {
        logger.warn(
          { subscription: subscriptionId, error: String(error) },
          'the held topic cannot be made; trying again',
        )
        return { kind: 'unavailable' }
      })
      known.set(subscriptionId, { found, until: Infinity })
      void found.then(({ kind }) => {
        if (kind === 'unavailable') known.delete(subscriptionId)
        if (kind === 'refused') known.set(subscriptionId, { found, until: now() + askAgainMs })
      })
      return found
    },
    /** It may be gone: the next who needs it makes it. */
    forget: (subscriptionId: string) => void known.delete(subscriptionId),
  }
}
