import type { AttemptResult } from './outcome.ts'
import type { Subscription } from './subscription.ts'

/** So many attempts in a row at an address that is forbidden end a subscription: by then nobody's mend is on its way. */
export const forbiddenInARowMax = 10

/** Attempts of one revision of a subscription, in one process, that met nothing but a forbidden address. */
export interface ForbiddenStreak {
  readonly generation: number
  readonly revision: number
  readonly attempts: number
}

/** After one more attempt. What we cut off ourselves says nothing of the address. */
export function afterAddress(
  streak: ForbiddenStreak | null,
  { generation, revision }: Pick<Subscription, 'generation' | 'revision'>,
  result: Pick<AttemptResult, 'outcome' | 'forbiddenAddress'>,
): ForbiddenStreak | null {
  const isSame = streak?.generation === generation && streak.revision === revision
  const before = isSame ? streak : null
  if (result.outcome === 'Canceled') return before
  if (result.forbiddenAddress !== true) return null
  return { generation, revision, attempts: (before?.attempts ?? 0) + 1 }
}

/** Why it is `Start Failed`: with the field as it is called in its notation, the address, and what allows it (`error`). */
export function forbiddenText({ id, notation }: Pick<Subscription, 'id' | 'notation'>, error: string): string {
  const field = notation.startsWith('event-grid') ? 'endpointUrl' : 'sink'
  return `${field}: ${error}; so ${forbiddenInARowMax} attempts in a row have failed. Mend it, then say \`barnabas start ${id}\``
}
