import type { StatusRecord } from '@barnabas/core'
import { openStatusStore, openSubscriptionRegistry } from '@barnabas/registry'
import type { StatusStore, SubscriptionChange, SubscriptionRegistry } from '@barnabas/registry'
import type { Cluster } from './cluster.ts'

/** Subscriptions and statuses, read to their ends, and followed from then on while the cluster is open. */
export interface Store {
  readonly subscriptions: Pick<SubscriptionRegistry, 'ids' | 'get' | 'stored' | 'caughtUp'>
  readonly statuses: Pick<StatusStore, 'get' | 'caughtUp'>
}

export interface StoreOptions {
  readonly onSubscription?: (change: SubscriptionChange) => void
  readonly onStatus?: (id: string, status: StatusRecord | null) => void
}

/** Where Barnabas never ran there are no topics to read, and none is made: there is just nothing. */
export async function openStore({ kafka, names, config }: Cluster, options: StoreOptions = {}): Promise<Store> {
  const existing = await kafka.admin.topics()
  const subscriptions = openSubscriptionRegistry({
    kafka,
    names,
    timeScale: config.timeScale,
    logger: silent,
    ...(options.onSubscription === undefined ? {} : { onChange: options.onSubscription }),
  })
  const statuses = openStatusStore({
    kafka,
    names,
    now: Date.now,
    logger: silent,
    ...(options.onStatus === undefined ? {} : { onChange: options.onStatus }),
  })
  await Promise.all([
    existing.has(names.subscriptions) ? subscriptions.start() : undefined,
    existing.has(names.status) ? statuses.start() : undefined,
  ])
  return {
    subscriptions: existing.has(names.subscriptions) ? subscriptions : { ...subscriptions, caughtUp: nothing },
    statuses: existing.has(names.status) ? statuses : { ...statuses, caughtUp: nothing },
  }
}

const silent = { info: ignore, warn: ignore }
function ignore(): void {
  // A command says itself what it found.
}

async function nothing(): Promise<void> {
  // There is no topic whose end could be waited for.
}
