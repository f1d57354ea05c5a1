import { seededRandom } from './random.ts'

/** What is done to the running system, one after the other. */
export const faultKinds = [
  'kill-dispatcher',
  'kill-retrier',
  'kill-dead-letter',
  'kill-broker',
  'stop-dispatcher',
  'stop-retrier',
  'freeze-dispatcher',
  'freeze-retrier',
  'receiver-gone',
  'rebalance-storm',
] as const

/** Faults of the network between the services and what they talk to: they take toxiproxy. */
export const networkFaultKinds = [
  'cut-broker',
  'delay-broker',
  'black-hole-broker',
  'cut-receiver',
  'delay-receiver',
  'black-hole-receiver',
] as const

export type NetworkFaultKind = (typeof networkFaultKinds)[number]
export type FaultKind = (typeof faultKinds)[number] | NetworkFaultKind

export function isNetworkFault(kind: FaultKind): kind is NetworkFaultKind {
  return networkFaultKinds.some((each) => each === kind)
}

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
    pauseMs: Math.round(2_000 + random() * 3_000),
  }))
}
