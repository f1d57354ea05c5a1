/** How much is done: the same scenarios, with other counts. */
export interface Size {
  /** How often each system is measured, in turns with the others. */
  rounds: number
  /** Measured per run, after the warm-up. */
  events: number
  /** Not measured: compilation, connections, joining a group. */
  readonly warmUp: number
  /** S5: how long events are produced, at `pacedPerSecond`. */
  readonly pacedSeconds: number
  readonly pacedPerSecond: number
  /** S6: how many are parked, over how long they fall due. */
  parked: number
  readonly parkedPerSecond: number
  /** S7 */
  backlog: number
  /** S14: dead letters sent again. */
  readonly redriven: number
  /** S8, S9: many subscriptions in one process, and how many more of which only the idle cost is looked at. */
  readonly subscriptions: number
  readonly idleSubscriptions: number
  readonly idleSeconds: number
  /** S10: how long processes work undisturbed around each movement, the wait of each retry, the session time-out. */
  readonly quietSeconds: number
  readonly retryDelaySeconds: number
  readonly sessionSeconds: number
  /** S10: also retriers come and go, not dispatchers alone. */
  readonly retriersMove: boolean
}

export const sizes = {
  full: {
    rounds: 3,
    events: 100_000,
    warmUp: 40_000,
    pacedSeconds: 30,
    pacedPerSecond: 1_000,
    parked: 100_000,
    parkedPerSecond: 1_667,
    backlog: 1_000_000,
    redriven: 100_000,
    subscriptions: 100,
    idleSubscriptions: 1_000,
    idleSeconds: 20,
    quietSeconds: 2,
    retryDelaySeconds: 5,
    sessionSeconds: 10,
    retriersMove: true,
  },
  quick: {
    rounds: 1,
    events: 10_000,
    warmUp: 4_000,
    pacedSeconds: 5,
    pacedPerSecond: 1_000,
    parked: 8_000,
    parkedPerSecond: 1_667,
    backlog: 50_000,
    redriven: 10_000,
    subscriptions: 20,
    idleSubscriptions: 100,
    idleSeconds: 3,
    quietSeconds: 2,
    retryDelaySeconds: 5,
    sessionSeconds: 10,
    retriersMove: true,
  },
  smoke: {
    rounds: 1,
    events: 200,
    warmUp: 100,
    pacedSeconds: 1,
    pacedPerSecond: 200,
    parked: 300,
    parkedPerSecond: 300,
    backlog: 1_000,
    redriven: 1_500,
    subscriptions: 5,
    idleSubscriptions: 10,
    idleSeconds: 1,
    quietSeconds: 0.5,
    retryDelaySeconds: 1,
    sessionSeconds: 6,
    retriersMove: false,
  },
} as const satisfies Record<string, Size>

export type SizeName = keyof typeof sizes
