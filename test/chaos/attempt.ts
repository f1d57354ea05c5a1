import { splitStatus } from './ledger.ts'
import type { Attempt, ChaosPolicy, FaultWindow } from './ledger.ts'

/** A connection that ends so soon after an answer may have been given up by its sender before. */
const hearingMs = 1_000
/** Between a request and the writes and commits that belong to it. */
const writesWithinMs = 2_000

/**
 * An answer that was cut off is a fault of its own, whoever cut it: its sender had to try again. So is one of a receiver
 * that stood still for so long that its sender may have run out of time.
 */
export function wasHeard({ answeredAt, closedAt, notBefore }: Attempt, { timeoutMs }: ChaosPolicy): boolean {
  if (answeredAt === null || answeredAt - notBefore >= timeoutMs) return false
  return closedAt === null || closedAt - answeredAt > hearingMs
}

export function isSplit({ status }: Attempt): boolean {
  return status === splitStatus
}

export function isSuccess({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status <= 204
}

/** Whether it overlaps what lasted so long, or the writes that belong to that. */
export function touches(window: FaultWindow, from: number, to: number): boolean {
  return from - writesWithinMs <= window.to && to + writesWithinMs >= window.from
}
