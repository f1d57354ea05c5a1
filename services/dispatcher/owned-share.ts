import type { OwnedPartitions } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { Assignment, KafkaClient } from '@barnabas/kafka'

/** Says which part of a subscription's topics this process reads, where its rate is limited and so has to be shared. */
export interface OwnedShare {
  /** All partitions of this assignment have their place. */
  placed(assignment: Assignment): void
  /** The rate may be limited by now. */
  look(): void
  stop(): void
}

export interface OwnedShareOptions {
  readonly admin: Pick<KafkaClient['admin'], 'describeTopics'>
  readonly topics: readonly string[]
  readonly isLimited: () => boolean
  /** Null: it reads them no more. */
  readonly owns: (owned: OwnedPartitions | null) => void
  readonly logger: Logger
}

const lookAgainMs = 1_000

export function createOwnedShare(options: OwnedShareOptions): OwnedShare {
  let present: Assignment | null = null
  /** The assignment of which was said, or is being asked, how large a part it is. */
  let asked: Assignment | null = null
  let said = false
  let stopped = false

  function look(): void {
    if (stopped || !options.isLimited()) return
    // Until it is known nothing is its own: what others have of the rate they shall not lose to a guess.
    if (!said) options.owns({ own: 0, all: 0 })
    said = true
    if (present === null || asked === present) return
    asked = present
    void ask(present)
  }

  async function ask(assignment: Assignment): Promise<void> {
    const own = assignment.gained.length + assignment.kept.length
    while (assignment === present && !stopped) {
      try {
        const descriptions = await options.admin.describeTopics(options.topics)
        const all = descriptions.reduce((sum, topic) => sum + topic.partitions, 0)
        if (assignment === present && !stopped) options.owns({ own, all })
        return
      } catch (error) {
        options.logger.debug({ error: String(error) }, 'cannot ask how many partitions share a rate; asking again')
      }
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
    }
  }

  return {
    placed(assignment) {
      present = assignment
      look()
    },
    look,
    stop() {
      stopped = true
      if (said) options.owns(null)
    },
  }
}
