import { factsOfLife } from '@barnabas/core'
import type { PauseFacts } from '@barnabas/core'
import type { ShownSubscription } from './format/subscription.ts'
import type { Store } from './store.ts'

/** Which life of its id it is; 0 where the record that stands there does not tell. */
export function generationOf({ stored }: Pick<ShownSubscription, 'stored'>): number {
  return stored.life?.generation ?? 0
}

/** Whether this life is paused, as far as it was created so or its status says it. */
export function knownFacts(
  { subscriptions, statuses }: Pick<Store, 'subscriptions' | 'statuses'>,
  id: string,
  generation: number,
): PauseFacts {
  const stored = subscriptions.stored(id)
  const createdPausedBy = stored.kind === 'absent' ? undefined : stored.life?.createdPausedBy
  return factsOfLife(generation, createdPausedBy, statuses.get(id))
}
