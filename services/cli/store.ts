import type { StatusRecord } from '@barnabas/core'
import { openStatusStore, openSubscriptionRegistry } from '@barnabas/registry'
import type { StatusStore, SubscriptionChange, SubscriptionRegistry } from '@barnabas/registry'
import type { Cluster } from './cluster.ts'
import { createPatience } from './patience.ts'

/** Subscriptions and statuses, read to their ends, and followed from then on while the cluster is open. */
export interface Store {
  /** Whether there are topics to read: where Barnabas never ran there are none. */
  readonly isThere: boolean
  readonly subscriptions: Pick<SubscriptionRegistry, 'ids' | 'get' | 'stored' | 'caughtUp'>
  readonly statuses: Pick<StatusStore, 'get' | 'caughtUp'>
}

export interface StoreOptions {
  readonly onSubscription?: (change: SubscriptionChange) => void
  readonly onStatus?: (id: string, status: StatusRecord | null) => void
  /** What keeps the topics from being followed any further; null when they are followed again. */
  readonly onTrouble?: (trouble: string | null) => void
}

/** Topics that are not there are not made: there is just nothing in them. */
export async function openStore({ kafka, names, config }: Cluster, options: StoreOptions = {}): Promise<Store> {
  const existing = await kafka.admin.topics()
  const patience = createPatience()
  const logger = troubleLogger((trouble) => {
    patience.onTrouble(trouble)
    options.onTrouble?.(trouble)
  })
  const subscriptions = openSubscriptionRegistry({
    kafka,
    names,
    timeScale: config.timeScale,
    eventGrid: config.eventGrid,
    logger,
    ...(options.onSubscription === undefined ? {} : { onChange: options.onSubscription }),
  })
  const statuses = openStatusStore({
    kafka,
    names,
    now: Date.now,
    logger,
    ...(options.onStatus === undefined ? {} : { onChange: options.onStatus }),
  })
  await patience.while(
    Promise.all([
      existing.has(names.subscriptions) ? subscriptions.start() : undefined,
      existing.has(names.status) ? statuses.start() : undefined,
    ]),
  )
  return {
    isThere: existing.has(names.subscriptions) && existing.has(names.status),
    subscriptions: existing.has(names.subscriptions) ? subscriptions : { ...subscriptions, caughtUp: nothing },
    statuses: existing.has(names.status) ? statuses : { ...statuses, caughtUp: nothing },
  }
}

/** Of what the stores log only their trouble matters here: a command says itself what it found. */
function troubleLogger(onTrouble: (trouble: string | null) => void) {
  return {
    info: () => onTrouble(null),
    warn(fields: object, _message: string) {
      if ('trouble' in fields) onTrouble(String(fields.trouble))
    },
  }
}

async function nothing(): Promise<void> {
  // There is no topic whose end could be waited for.
}
