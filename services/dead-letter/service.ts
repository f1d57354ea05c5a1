import { noGeneration, rfc3339, startPlaceWithoutLives } from '@barnabas/core'
import type { KafkaRecord, Names } from '@barnabas/core'
import { createTrackedConsumer } from '@barnabas/delivery'
import type { Logger, TrackedConsumer } from '@barnabas/delivery'
import type { KafkaClient } from '@barnabas/kafka'

export interface DeadLetterServiceOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  /** The topics that subscriptions dead-letter into, the default one included. */
  readonly topics: () => readonly string[]
  readonly onDeadLetter: (subscriptionId: string, reason: string) => void
  /** Subscriptions whose dead letters somebody else tells to people. */
  readonly isToldElsewhere: (subscriptionId: string) => boolean
  readonly sessionTimeoutMs: number
  readonly logger: Logger
}

export interface DeadLetterService {
  start(): Promise<void>
  /** A subscription was created, changed or deleted: the topics may be others now. */
  changed(): void
  close(): Promise<void>
}

/** For now: counts dead letters and shows each as one line. What reads on from here are the targets of later versions. */
const target = 'log'
const lookAgainMs = 5_000

export function createDeadLetterService(options: DeadLetterServiceOptions): DeadLetterService {
  const { kafka, names, logger } = options
  let consumer: TrackedConsumer | null = null
  let reading = ''
  let working: Promise<void> = Promise.resolve()
  let closed = false
  let timer: NodeJS.Timeout | undefined

  /** Reads exactly the dead-letter topics that exist; a consumer cannot change its topics, so another one takes over. */
  async function follow(): Promise<void> {
    clearTimeout(timer)
    if (closed) return
    try {
      const existing = await kafka.admin.topics()
      const topics = [...new Set(options.topics())].filter((topic) => existing.has(topic)).toSorted()
      if (topics.join() !== reading) {
        await consumer?.stop()
        // Nothing is read until the next one has joined, which may fail.
        consumer = null
        reading = ''
        consumer = topics.length === 0 ? null : await read(topics)
        reading = topics.join()
      }
    } catch (error) {
      logger.warn({ error: String(error) }, 'cannot read the dead-letter topics yet; trying again')
    }
    if (!closed) timer = setTimeout(enqueue, lookAgainMs)
  }

  async function read(topics: readonly string[]): Promise<TrackedConsumer> {
    const next = createTrackedConsumer({
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
      onFailed(failure) {
        logger.warn({ code: failure.code }, `reading dead letters has stopped: ${failure.message}; trying again`)
        reading = ''
        enqueue()
      },
      logger,
    })
    await next.start()
    return next
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

  function enqueue(): void {
    working = working.then(follow)
  }

  return {
    async start() {
      enqueue()
      await working
    },
    changed: enqueue,
    async close() {
      closed = true
      clearTimeout(timer)
      await working
      await consumer?.stop()
    },
  }
}

function textOf(record: KafkaRecord, name: string): string | undefined {
  const value = record.headers[name]
  return value instanceof Buffer ? value.toString('utf8') : undefined
}
