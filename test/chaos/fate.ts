import { splitStatus } from './ledger.ts'
import type { ChaosPolicy, Fate } from './ledger.ts'
import { seededRandom } from './random.ts'

/** What the receiver will do with an event: it follows from the seed and the event's index. */
export function fateOf(seed: number, index: number, policy: ChaosPolicy): Fate {
  const random = seededRandom(seed ^ Math.imul(index + 1, 0x9e3779b1))
  const kind = random()
  const times = 1 + Math.floor(random() * (policy.maxAttempts - 1))
  if (kind < 0.7) return { kind: 'ok' }
  if (kind < 0.92) return { kind: 'fails', times }
  if (kind < 0.98) return { kind: 'always-fails' }
  return { kind: 'hangs', times: 1 }
}

/** The status of the answer to an attempt, null for none. */
export function answerOf(fate: Fate, attempt: number): number | null {
  switch (fate.kind) {
    case 'ok':
      return 200
    case 'fails':
      return attempt <= fate.times ? 503 : 200
    case 'hangs':
      return attempt <= fate.times ? null : 200
    case 'always-fails':
      return 503
    default:
      return fate satisfies never
  }
}

/** The status of the answer to a request with these events, null for none. */
export type AnswerTo = (ids: readonly string[], attempt: number) => number | null

/**
 * A request of several is told one number, the lowest, and gets one answer. So it is taken only where all of its events
 * are at that number, by what came before, and would all be answered alike. Any other is to be split, down to single
 * events if need be, whose number is told: then every attempt in the ledger has the number that it had.
 */
export function answersBy(fate: (id: string) => Fate): AnswerTo {
  const lastNumbers = new Map<string, number>()
  return (ids, attempt) => {
    const statuses = new Set(ids.map((id) => answerOf(fate(id), attempt)))
    const areAlike = statuses.size === 1 && ids.every((id) => (lastNumbers.get(id) ?? 0) === attempt - 1)
    if (ids.length > 1 && !areAlike) return splitStatus
    for (const id of ids) lastNumbers.set(id, attempt)
    const [status = null] = statuses
    return status
  }
}
