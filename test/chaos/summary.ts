import { splitStatus } from './ledger.ts'
import type { Attempt, Ledger } from './ledger.ts'

export interface ChaosSummary {
  readonly events: number
  /** Of them, those of subscriptions that deliver in an order. */
  readonly orderedEvents: number
  readonly delivered: number
  readonly deadLetters: number
  readonly attempts: number
  /** Of them, those that shared their request with others. */
  readonly sharedAttempts: number
  /** Attempts whose number had reached the receiver before: what was in flight at a fault. */
  readonly repeatedAttempts: number
  /** The same by the kind of the fault that they followed. */
  readonly repeatedAfter: Readonly<Record<string, number>>
  readonly faults: number
  readonly seconds: number
}

export function summaryOf(ledger: Ledger, faults: number, seconds: number): ChaosSummary {
  const attempts = ledger.attempts.filter(({ status }) => status !== splitStatus)
  const delivered = new Set(attempts.filter(({ status }) => status === 200).map(({ id }) => id))
  const repeated = repeatedAttempts(attempts)
  return {
    events: ledger.sent.size,
    orderedEvents: [...ledger.sent.values()].filter(({ turn }) => turn !== undefined).length,
    delivered: delivered.size,
    deadLetters: ledger.letters.length,
    attempts: attempts.length,
    sharedAttempts: attempts.filter(({ together }) => together > 1).length,
    repeatedAttempts: repeated.length,
    repeatedAfter: countBy(
      repeated.map(
        ({ at }) => ledger.windows.findLast(({ kind, from }) => kind !== 'slow-write' && from <= at)?.kind ?? 'none',
      ),
    ),
    faults,
    seconds: Math.round(seconds),
  }
}

function repeatedAttempts(attempts: readonly Attempt[]): readonly Attempt[] {
  const seen = new Set<string>()
  return attempts.filter(({ id, number }) => {
    const isRepeated = seen.has(`${id} ${number}`)
    seen.add(`${id} ${number}`)
    return isRepeated
  })
}

function countBy(kinds: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]))
}
