import { noGeneration, rfc3339, startPlaceWithoutLives } from '@barnabas/core'
import type { KafkaRecord, Names } from '@barnabas/core'
import { createTrackedConsumer } from '@barnabas/delivery'
import type { Logger, TrackedConsumer } from '@barnabas/delivery'
import type { ConsumerFailure, KafkaClient } from '@barnabas/kafka'
import { createFollowedReader } from './followed-reader.ts'

/** Something that reads dead-letter topics, and is told now and then which ones exist. */
export interface Reader {
  follow(existing: ReadonlySet<string>): Promise<void>
  close(): Promise<void>
}

export interface DeadLetterServiceOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  /** The topics that subscriptions dead-letter into, the default one included. */
  readonly topics: () => readonly string[]
  readonly onDeadLetter: (subscriptionId: string, reason: string) => void
  /** Subscriptions whose dead letters somebody else tells to people. */
  readonly isToldElsewhere: (subscriptionId: string) => boolean
  /** What reads on from there, beside the log; each has a consumer group of its own and waits for no other. */
  readonly targets?: (lookAgain: () => void) => readonly Reader[]
  readonly sessionTimeoutMs: number
  readonly logger: Logger
}

export interface DeadLetterService {
  start(): Promise<void>
  /** A subscription was created, changed or deleted: the topics may be others now. */
  changed(): void
  close(): Promise<void>
}

/** Counts dead letters and shows each as one line. */
const target = 'log'
const lookAgainMs = 5_000

export function createDeadLetterService(options: DeadLetterServiceOptions): DeadLetterService {
  const { kafka, names, logger } = options
  let looking: Promise<void> = Promise.resolve()
  let closed = false
  let timer: NodeJS.Timeout | undefined
  const log = createFollowedReader({ topics: options.topics, open: read, onStopped: lookAgain, logger })
  const readers: readonly Reader[] = [log, ...(options.targets?.(lookAgain) ?? [])]

  /** None waits for another: the last promise is of all that follow. */
  async function look(): Promise<{ readonly following: Promise<unknown> }> {
    clearTimeout(timer)
    let following: Promise<unknown> = Promise.resolve()
    if (closed) return { following }
    try {
      const existing = await kafka.admin.topics()
      following = Promise.all(readers.map((reader) => reader.follow(existing)))
    } catch (error) {
      logger.warn({ error: String(error) }, 'cannot look for dead-letter topics yet; trying again')
    }
    if (!closed) timer = setTimeout(lookAgain, lookAgainMs)
    return { following }
  }

  function read(topics: readonly string[], onFailed: (failure: ConsumerFailure) => void): TrackedConsumer {
    return createTrackedConsumer({
      kafka,
      groupId: names.deadLetterGroup(target),
      topics,
      sessionTimeoutMs: options.sessionTimeoutMs,
      generation: noGeneration,
      keepsAllDone: false,
      startPlace: (_at, found) => startPlaceWithoutLives(found),
      onNoPlace: () => {},
      onRecords(partition, records) {
        for (const record of records) {
          const open = partition.take(record.offset)
          if (open === null) continue
          show(record)
          partition.finish(open, false)
        }
      },
      onPlaced: () => {},
      onFailed,
      logger,
    })
  }

  function show(record: KafkaRecord): void {
    const text = (name: string) => textOf(record, name)
    const subscription = text('barnabas-subscription') ?? '(unknown)'
    const reason = text('barnabas-dead-letter-reason') ?? '(unknown)'
    options.onDeadLetter(subscription, reason)
    if (options.isToldElsewhere(subscription)) return
    const position = `${record.topic}/${record.partition}/${record.offset}`
    logger.info(
      {
        subscription,
        reason,
        position,
        time: rfc3339(record.timestamp),
        attempts: text('barnabas-attempts'),
        lastOutcome: text('barnabas-last-outcome'),
        lastError: text('barnabas-last-error'),
        eventId: text('ce_id'),
        eventType: text('ce_type'),
      },
      `dead letter of ${subscription}: ${reason}; barnabas dead-letters show ${position}`,
    )
  }

  function lookAgain(): void {
    looking = looking.then(look).then(() => {})
  }

  return {
    async start() {
      const { following } = await look()
      await following
    },
    changed: lookAgain,
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
      await Promise.all(readers.map((reader) => reader.close()))
    },
  }
}

function textOf(record: KafkaRecord, name: string): string | undefined {
  const value = record.headers[name]
  return value instanceof Buffer ? value.toString('utf8') : undefined
}
