import { awaitsHandshake, isResting } from '@barnabas/core'
import type { StatusRecord, Subscription } from '@barnabas/core'
import type { Recipient } from './recipient.ts'

/** What a subscription id stands for right now; undefined when it was deleted or never made. */
export type KnownSubscription =
  | { readonly kind: 'valid'; readonly subscription: Subscription }
  | { readonly kind: 'invalid'; readonly generation: number }

export interface KnownSubscriptions {
  get(id: string): KnownSubscription | undefined
  /** Resolves when the subscriptions topic was read to its present end. */
  caughtUp(): Promise<void>
}

/**
 * Who a due retry is for, and whether it may be attempted: the one place that says so for every reason for which a
 * subscription may rest. What blocks it is known a little before its status says so. A promise only where the topic has to be read to its end first.
 */
export function createRecipients(
  subscriptions: KnownSubscriptions,
  statuses: { get(id: string): StatusRecord | null },
  isBlocked: (subscription: Subscription) => boolean,
): (id: string, generation: number) => Recipient | Promise<Recipient> {
  function recipientOf(id: string, entry: KnownSubscription): Recipient {
    if (entry.kind === 'invalid') return { kind: 'resting', subscription: null }
    const { subscription } = entry
    const status = statuses.get(id)
    const rests =
      isBlocked(subscription) || isResting(status, subscription.generation) || awaitsHandshake(subscription, status)
    return { kind: rests ? 'resting' : 'running', subscription }
  }

  /** Deleted, or not yet heard of? Only who has read the topic to its end may say. */
  async function askAgain(id: string, generation: number): Promise<Recipient> {
    try {
      await subscriptions.caughtUp()
    } catch {
      return { kind: 'unknown' } // What reads the topic was stopped.
    }
    const entry = subscriptions.get(id)
    return entry === undefined || !isOfLife(entry, generation) ? { kind: 'gone' } : recipientOf(id, entry)
  }

  return (id, generation) => {
    const entry = subscriptions.get(id)
    return entry !== undefined && isOfLife(entry, generation) ? recipientOf(id, entry) : askAgain(id, generation)
  }
}

/** A record that somebody wrote by hand names no life (0): whose events wait for it is not known, so none are given up. */
function isOfLife(entry: KnownSubscription, generation: number): boolean {
  if (entry.kind === 'valid') return entry.subscription.generation === generation
  return entry.generation === generation || entry.generation === 0
}
