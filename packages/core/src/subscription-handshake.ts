import type { HandshakeForm } from './handshake-form.ts'
import type { Notation } from './schemas.ts'
import { problemAt } from './subscription-field.ts'
import type { SubscriptionProblem } from './subscription-field.ts'

interface WrittenHandshake {
  readonly handshake?: HandshakeForm | undefined
  readonly notation?: Notation | undefined
}

/** Event Grid on Kubernetes has neither handshake (spec page §1.5, §2.3): no receiver written for it would agree. */
export function problemsOfHandshake({ handshake = 'none', notation }: WrittenHandshake): SubscriptionProblem[] {
  if (handshake === 'none' || notation !== 'event-grid-kubernetes') return []
  const mend = 'leave it out, or write the subscription in another notation'
  return [
    problemAt(['handshake'], `${handshake} is not possible with notation: ${notation}, which asks nobody; ${mend}`),
  ]
}
