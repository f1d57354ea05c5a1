import { afterAddress, forbiddenInARowMax, forbiddenText } from '@barnabas/core'
import type { AttemptResult, ForbiddenStreak, Subscription } from '@barnabas/core'

/** Counts, for each subscription, the attempts in a row that this process made at a forbidden address. */
export interface ForbiddenAddresses {
  observe(subscription: Subscription, result: AttemptResult): void
  /** It was changed or deleted. */
  forget(subscriptionId: string): void
}

/** `onTooMany` is called after ten, with why; and after another ten, for nobody may have heard. */
export function createForbiddenAddresses(
  onTooMany: (subscription: Subscription, reason: string) => void,
): ForbiddenAddresses {
  const streaks = new Map<string, ForbiddenStreak>()
  return {
    observe(subscription, result) {
      const before = streaks.get(subscription.id) ?? null
      if (before === null && result.forbiddenAddress !== true) return
      const streak = afterAddress(before, subscription, result)
      const isTooMany = streak !== null && streak.attempts >= forbiddenInARowMax
      if (streak === null || isTooMany) streaks.delete(subscription.id)
      else streaks.set(subscription.id, streak)
      if (isTooMany) onTooMany(subscription, forbiddenText(subscription, result.error ?? ''))
    },
    forget: (id) => void streaks.delete(id),
  }
}
