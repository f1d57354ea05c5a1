import { seededRandom } from './random.ts'

/** What is done to the running system, one after the other. */
export const faultKinds = [
  'kill-dispatcher',
  'kill-retrier',
  'kill-broker',
  'stop-dispatcher',
  'stop-retrier',
  'freeze-dispatcher',
  'freeze-retrier',
  'receiver-gone',
  'rebalance-storm',
] as const

export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  readonly kind: FaultKind
  /** Which process of its kind, as a share of their number: in [0, 1). */
  readonly which: number
  /** How long it lasts: until what was killed is started again, frozen goes on, gone is back. */
  readonly lastsMs: number
  /** How long the system is left alone before it. */
  readonly pauseMs: number
}

/** The faults of a run in their order. It follows from the seed; how the processes interleave does not. */
export function planOf(seed: number, count: number, kinds: readonly FaultKind[] = faultKinds): readonly Fault[] {
  const random = seededRandom(seed)
  const shuffled = (): FaultKind[] => {
    const left = [...kinds]
    return kinds.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!)
  }
  const order = Array.from({ length: Math.ceil(count / kinds.length) }, shuffled).flat()
  return order.slice(0, count).map((kind) => ({
    kind,
    which: random(),
    lastsMs: Math.round(200 + random() * 3_000),
    pauseMs: Math.round(500 + random() * 2_500),
  }))
}
