import { awaitsHandshake } from './handshake.ts'
import type { Handshake } from './handshake.ts'
import { rateFrom, unitsMs } from './rate.ts'
import type { Rate } from './rate.ts'
import type { Subscription } from './subscription.ts'

type Limited = Pick<Subscription, 'rate' | 'handshake' | 'revision' | 'generation' | 'retry'>

/**
 * What a subscription has to keep to: its own rate, or what the receiver has allowed this revision of it in the
 * handshake (4.2.2), whichever is lower. Null for any.
 */
export function rateToKeep(
  subscription: Limited,
  status: { readonly generation: number; readonly handshake: Handshake | null } | null,
): Rate | null {
  const { rate, handshake } = subscription
  if (handshake === 'none' || awaitsHandshake(subscription, status)) return rate
  const allowed = status?.handshake?.kind === 'succeeded' ? status.handshake.allowedRate : null
  if (allowed === null) return rate
  const granted = rateFrom({ requests: allowed, unitMs: unitsMs.min }, subscription.retry.timeScale)
  return rate === null || granted.tokensPerMs < rate.tokensPerMs ? granted : rate
}
