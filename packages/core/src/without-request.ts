import type { Subscription } from './subscription.ts'
import { exhausted } from './verdict.ts'
import type { Handling, Verdict } from './verdict.ts'

/**
 * What becomes of an event that no request can be built for: a mistake in the configuration, which no retry can mend. In
 * Event Grid's notation of the cloud the event is given up at once (row A3). Null everywhere else: the subscription stops,
 * and the event stays where it is (row B3).
 */
export function verdictWithoutRequest(
  subscription: Pick<Subscription, 'notation'>,
  handling: Handling,
): Verdict | null {
  return stopsWithoutRequest(subscription) ? null : exhausted('DestinationInvalid', handling)
}

export function stopsWithoutRequest({ notation }: Pick<Subscription, 'notation'>): boolean {
  return notation !== 'event-grid'
}
