import type { StoredSubscription } from '@barnabas/core'
import type { ShownSubscription } from './format/subscription.ts'
import { similarNames } from './similar-names.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'

/** Every subscription, ordered by id. */
export function allSubscriptions(store: Store): readonly ShownSubscription[] {
  const all = store.subscriptions.ids().map((id) => shownSubscription(store, id))
  return all.filter((each) => each !== null).toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** The subscription of this id; the `Refusal` names ids that are like it. */
export function findSubscription(store: Store, id: string): ShownSubscription {
  const found = shownSubscription(store, id)
  if (found !== null) return found
  const similar = similarNames(id, store.subscriptions.ids())
  const hint = similar.length === 0 ? '`barnabas get` lists what there is' : `did you mean ${similar.join(' or ')}?`
  throw new Refusal(`there is no subscription ${JSON.stringify(id)}; ${hint}`)
}

function shownSubscription({ subscriptions, statuses }: Store, id: string): ShownSubscription | null {
  const stored: StoredSubscription = subscriptions.stored(id)
  return stored.kind === 'absent' ? null : { id, stored, status: statuses.get(id) }
}
