import { median } from './statistics.ts'

/** One line of the bench's table: what was measured, beside its baseline and its target. */
export interface Figure {
  readonly scenario: string
  readonly what: string
  readonly unit: 'µs' | 'events/s' | 'ms' | 'MB' | 'MB/min' | '% of a core' | 'attempts' | 'events'
  /** One value per round. */
  readonly rounds: readonly number[]
  /** Measured in the same rounds, in turns. */
  readonly baseline?: { readonly name: string; readonly rounds: readonly number[] }
  /** Of the value itself; of its ratio to the baseline; of what it is above the baseline. */
  readonly of: 'value' | 'ratio' | 'difference'
  readonly target?: Target
}

export type Target =
  | { readonly kind: 'at most'; readonly limit: number; readonly goal?: number }
  | { readonly kind: 'at least'; readonly limit: number }

/** Medians; a comparison is made round by round, because rounds differ more than what is compared. */
export interface Judged {
  readonly value: number
  readonly baseline: number | null
  /** What the target is about. */
  readonly compared: number
  readonly isMet: boolean | null
}

export function judge({ rounds, baseline, of, target }: Figure): Judged {
  const value = median(rounds)
  const pairs =
    baseline === undefined ? [] : rounds.map((each, round) => [each, baseline.rounds[round] ?? NaN] as const)
  const compared =
    of === 'value' ? value : median(pairs.map(([mine, other]) => (of === 'ratio' ? mine / other : mine - other)))
  return {
    value,
    baseline: baseline === undefined ? null : median(baseline.rounds),
    compared,
    isMet: target === undefined ? null : meets(compared, target),
  }
}

function meets(compared: number, { kind, limit }: Target): boolean {
  switch (kind) {
    case 'at most':
      return compared <= limit
    case 'at least':
      return compared >= limit
    default:
      return kind satisfies never
  }
}
