/** What a run wrote down, by the one clock of the machine: all times are ms since the epoch. */
export interface Ledger {
  readonly policy: ChaosPolicy
  /** What the producer was asked to write, by event id. */
  readonly sent: ReadonlyMap<string, Sent>
  /** Every request that reached the receiver, in the order of arrival. */
  readonly attempts: readonly Attempt[]
  readonly letters: readonly Letter[]
  readonly windows: readonly FaultWindow[]
  readonly endings: readonly Ending[]
}

/** The retry policy of every subscription of the run. */
export interface ChaosPolicy {
  /** `delaysMs[n - 1]` is the least wait between the end of attempt n and the next. */
  readonly delaysMs: readonly number[]
  readonly maxAttempts: number
  readonly timeoutMs: number
}

export interface Sent {
  /** How often the event stands on its source topic: a producer that tries again may write it twice. */
  readonly copies: number
  readonly fate: Fate
  /** Absent where its subscription delivers in no order. */
  readonly turn?: Turn
}

/** When an event may come at last: after all that stand before it in its lane. */
export interface Turn {
  /** The subscription and the partition, with `order: key` the key too. */
  readonly lane: string
  /** Of its first copy. */
  readonly offset: number
}

/** How the receiver answers an event, by the number of the attempt. */
export type Fate =
  | { readonly kind: 'ok' }
  /** 503 to the first `times` attempts. */
  | { readonly kind: 'fails'; readonly times: number }
  /** No answer to the first `times` attempts. */
  | { readonly kind: 'hangs'; readonly times: number }
  | { readonly kind: 'always-fails' }

/** The status of a request of several events that is to be split: heard, it is no attempt of any of them. */
export const splitStatus = 413

/** One event of a request. */
export interface Attempt {
  readonly id: string
  /** `Barnabas-Attempt`. */
  readonly number: number
  /** How many events shared the request. */
  readonly together: number
  readonly at: number
  /** Its arrival is after this: the receiver looked last at this time before it saw the request. */
  readonly notBefore: number
  /** When the answer was written, null when there was none. */
  readonly answeredAt: number | null
  /** When its connection ended, null when it lived on or took another request. Soon after an answer: nobody heard it. */
  readonly closedAt: number | null
  readonly status: number | null
}

export interface Letter {
  readonly id: string
  /** `barnabas-attempts`. */
  readonly attempts: number
  readonly reason: string
  readonly at: number
}

/** While it lasts, commit interval and session time-out included, an event may be attempted once more than it should be. */
export interface FaultWindow {
  readonly kind: string
  /**
   * Some of several brokers are away: events go on through the others while what belongs to them cannot be committed, so
   * each attempt made then may be made once more. A single broker takes everything with it, and nothing goes on.
   */
  readonly isPartialOutage?: boolean
  /** A process stood still, and nobody could call back what it had under way: no order is promised. */
  readonly leavesZombie?: boolean
  readonly from: number
  readonly to: number
}

/** A process of ours that ended although nobody killed or stopped it. */
export interface Ending {
  readonly service: string
  readonly pid: number | undefined
  /** Of its exit; the name of the signal when one ended it. */
  readonly status: number | string | null
  readonly at: number
  /** When another in its place was ready, null when none was. */
  readonly backAt: number | null
  /** What it said last. */
  readonly lastLine: string
}
