import type { StatusRecord, SubscriptionStatus } from './status.ts'

const restingStatuses: ReadonlySet<SubscriptionStatus> = new Set(['Ready', 'Paused', 'Start Failed'])

/**
 * Whether a subscription rests: nothing of it may be attempted now, because it is blocked, paused or could not start.
 * What falls due meanwhile is held. A status of another generation says nothing.
 */
export function isResting(status: Pick<StatusRecord, 'status' | 'generation'> | null, generation: number): boolean {
  return status !== null && status.generation === generation && restingStatuses.has(status.status)
}

/**
 * How long the subscription rested between two moments (ms since the epoch), as far as its history tells: by so much
 * the time to live of what was held then moves on (interface, `barnabas-expiry-time`).
 */
export function restedMs(
  status: Pick<StatusRecord, 'history' | 'generation'> | null,
  generation: number,
  from: number,
  to: number,
): number {
  if (status === null || status.generation !== generation) return 0
  const [first] = status.history
  // What was held before the first status of this life ran into a subscription that was nothing then.
  const beforeFirst = first?.from === null ? Math.max(0, Math.min(to, Date.parse(first.time)) - from) : 0
  return status.history.reduce((sum, change, index) => {
    if (!restingStatuses.has(change.to)) return sum
    const next = status.history[index + 1]
    const begin = Math.max(from, Date.parse(change.time))
    const end = Math.min(to, next === undefined ? to : Date.parse(next.time))
    return sum + Math.max(0, end - begin)
  }, beforeFirst)
}
