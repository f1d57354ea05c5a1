import type { KafkaClient } from '@barnabas/kafka'
import type { Logger } from './logger.ts'
import type { OwnPartition } from './tracked-partition.ts'

const lookEveryMs = 2_000

/**
 * Looks every two seconds whether one of the topics was deleted and made again: once it has grown beyond what was read of
 * the former one, nothing else tells.
 */
export interface RecreatedTopics {
  start(): void
  stop(): void
}

export function watchRecreatedTopics(options: {
  readonly kafka: Pick<KafkaClient, 'admin'>
  readonly topics: readonly string[]
  readonly partitions: () => readonly OwnPartition[]
  /** These are of a former topic. The next look is after it has resolved. */
  readonly onRecreated: (partitions: readonly OwnPartition[]) => Promise<void>
  readonly groupId: string
  readonly logger: Logger
}): RecreatedTopics {
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    const asked = options.partitions()
    try {
      const ids = await options.kafka.admin.topicIds(options.topics)
      const present = new Set(options.partitions())
      const isAnew = ({ topic, label }: OwnPartition) =>
        label.topicId !== null && (ids.get(topic) ?? label.topicId) !== label.topicId
      const anew = asked.filter((each) => present.has(each) && isAnew(each))
      if (anew.length > 0 && !stopped) await options.onRecreated(anew)
    } catch (error) {
      options.logger.debug(
        { group: options.groupId, error: String(error) },
        'cannot ask for the ids of topics; asking again',
      )
    }
    start()
  }

  function start(): void {
    if (!stopped) timer = setTimeout(() => void look(), lookEveryMs)
  }

  return {
    start,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
