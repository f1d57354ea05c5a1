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
