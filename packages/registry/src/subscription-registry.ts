import type { EventGridDefaults, Names, StoredSubscription } from '@barnabas/core'
import type { KafkaClient } from '@barnabas/kafka'
import type { Logger } from './logger.ts'
import { createSubscriptionLog } from './subscription-log.ts'
import type { SubscriptionChange, SubscriptionEntry } from './subscription-log.ts'

/** Every subscription that there is, followed from the topic's beginning. */
export interface SubscriptionRegistry {
  /** Resolves when the topic was read to its end as it was at the call; before that nothing here is complete. */
  start(): Promise<void>
  get(id: string): SubscriptionEntry | undefined
  ids(): readonly string[]
  all(): readonly SubscriptionEntry[]
  /** The record as `planApply` needs it. */
  stored(id: string): StoredSubscription
  /** Asks for the topic's end and resolves when everything below it was taken up: who wants to say "gone" asks first. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

export interface SubscriptionRegistryOptions {
  readonly kafka: Pick<KafkaClient, 'logReader'>
  readonly names: Names
  readonly timeScale: number
  readonly eventGrid?: EventGridDefaults
  /** Called for each change after `start` has resolved. */
  readonly onChange?: (change: SubscriptionChange) => void
  readonly logger: Logger
}

export function openSubscriptionRegistry(options: SubscriptionRegistryOptions): SubscriptionRegistry {
  const { kafka, names, timeScale, eventGrid, onChange, logger } = options
  const log = createSubscriptionLog({
    prefix: names.prefix,
    timeScale,
    ...(eventGrid === undefined ? {} : { eventGrid }),
  })
  let started = false

  const reader = kafka.logReader({
    topic: names.subscriptions,
    from: 'beginning',
    onRecord(record) {
      const change = log.apply(record)
      if (change === null) return
      // The first reading passes over what was overwritten since; only what stands at its end is worth a line.
      if (!started) return
      warnAbout(change)
      onChange?.(change)
    },
    onTrouble(trouble) {
      if (trouble === null) logger.info({ topic: names.subscriptions }, 'subscriptions are being read again')
      else
        logger.warn({ topic: names.subscriptions, trouble }, 'subscriptions cannot be read; going on with those known')
    },
  })

  function warnAbout(change: SubscriptionChange): void {
    if (change.kind === 'invalid') {
      logger.warn({ subscription: change.id, reason: change.reason }, 'the subscription does not validate')
    } else if (change.kind === 'valid') {
      for (const warning of change.warnings) logger.warn({ subscription: change.id }, warning)
    }
  }

  return {
    async start() {
      await reader.start()
      started = true
      log.all().forEach(warnAbout)
    },
    get: (id) => log.get(id),
    ids: () => log.all().map(({ id }) => id),
    all: () => log.all(),
    stored: (id) => log.stored(id),
    caughtUp: () => reader.caughtUp(),
    stop: () => reader.stop(),
  }
}
