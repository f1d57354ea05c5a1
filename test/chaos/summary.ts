import type { Ledger } from './ledger.ts'

export interface ChaosSummary {
  readonly events: number
  readonly delivered: number
  readonly deadLetters: number
  readonly attempts: number
  /** Attempts whose number had reached the receiver before: what was in flight at a fault. */
  readonly repeatedAttempts: number
  readonly faults: number
  readonly seconds: number
}

export function summaryOf(ledger: Ledger, faults: number, seconds: number): ChaosSummary {
  const delivered = new Set(ledger.attempts.filter(({ status }) => status === 200).map(({ id }) => id))
  const distinct = new Set(ledger.attempts.map(({ id, number }) => `${id} ${number}`))
  return {
    events: ledger.sent.size,
    delivered: delivered.size,
    deadLetters: ledger.letters.length,
    attempts: ledger.attempts.length,
    repeatedAttempts: ledger.attempts.length - distinct.size,
    faults,
    seconds: Math.round(seconds),
  }
}
