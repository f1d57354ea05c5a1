import type { Subscription } from '@barnabas/core'

/** What stands under a subscription id. */
export type Recipient =
  | { readonly kind: 'running'; readonly subscription: Subscription }
  /** It exists and rests (`Start Failed` …), or what stands in the topic does not validate. */
  | { readonly kind: 'resting'; readonly subscription: Subscription | null }
  /** Deleted, or the id lives another life: certain, because the subscriptions topic was read to its end. */
  | { readonly kind: 'gone' }
  /** Nobody can say, or the process ends before anybody could: the record stays where it is. */
  | { readonly kind: 'unknown' }
