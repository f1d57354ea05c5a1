import { rateToKeep, requestsPerMinute } from '@barnabas/core'
import type { StatusRecord, Subscription } from '@barnabas/core'

type Limited = Parameters<typeof rateToKeep>[0]

/** In requests per minute, of all processes together; null for any. */
export interface ShownRate {
  /** What the subscription says. */
  readonly own: number | null
  /** What the receiver has allowed this revision in the handshake. */
  readonly allowed: number | null
  /** What is kept to: the lower one. */
  readonly inForce: number | null
}

export function shownRate(subscription: Limited, status: StatusRecord | null): ShownRate {
  const perMinute = (rate: Subscription['rate']) =>
    rate === null ? null : requestsPerMinute(rate, subscription.retry.timeScale)
  return {
    own: perMinute(subscription.rate),
    allowed: perMinute(rateToKeep({ ...subscription, rate: null }, status)),
    inForce: perMinute(rateToKeep(subscription, status)),
  }
}

/** `written`: the subscription's own, as it was written. */
export function rateText({ own, allowed, inForce }: ShownRate, written: string | undefined): string {
  if (inForce === null) return 'not limited'
  const together = 'of all processes together'
  if (allowed === null) return `${written ?? `${own}/min`}, ${together}`
  if (own === null) return `${allowed}/min, which the receiver allows, ${together}`
  return `${inForce}/min, ${together}: the receiver allows ${allowed}/min, the subscription ${written ?? `${own}/min`}`
}
