import { newBucket, refilled, shareOf, shareOfRate, untilTokenMs, withoutToken } from '@barnabas/core'
import type { OwnedPartitions, Rate, TokenBucket } from '@barnabas/core'

/** Whoever waits in a window for the right to make one request. */
export interface Lane {
  /** Whether a request may be made now, which is then counted. If not, `onTurn` of the lane is called once one may. */
  take(): boolean
  close(): void
}

/**
 * How many requests this process makes for each subscription whose rate is limited: one bucket of tokens for each, and
 * those who wait for one take turns, so that source events and held retries get the same where both wait. One timer for
 * each subscription of which something waits, and nothing for each event.
 */
export interface Rates {
  /** `onTurn` must not wait: it may call `take`, and what it does not take the next one gets. */
  lane(subscriptionId: string, onTurn: () => void): Lane
  /** The right to make one more request, for what has its place already; false when the signal ends the wait. */
  turn(subscriptionId: string, signal: AbortSignal): Promise<boolean>
  /** A right that was taken, and no request was made. */
  giveBack(subscriptionId: string): void
  isLimited(subscriptionId: string): boolean
  /** What of it this process reads; null when it reads it no more. A process that reads nothing of it has the whole rate. */
  owns(subscriptionId: string, what: 'source' | 'held', owned: OwnedPartitions | null): void
  /** Its rate, or what its receiver allows, may be another, or it was deleted. */
  changed(subscriptionId: string): void
  close(): void
}

export interface RatesOptions {
  /** What the subscription has to keep to at present, over all processes; null for any. */
  readonly rateOf: (subscriptionId: string) => Rate | null
  /** In ms of a clock that is not put back. */
  readonly now: () => number
}

/** Timers fire at once when they are set for longer than 2^31 ms. */
const longestTimerMs = 3_600_000

interface Entry {
  readonly id: string
  bucket: TokenBucket
  /** Those who wait, in the order of their turns; each stands here once. */
  readonly waiting: Set<() => void>
  /** Whose turn it is, while it is asked. */
  turnOf: (() => void) | null
  isServing: boolean
  source: OwnedPartitions | null
  held: OwnedPartitions | null
  timer: NodeJS.Timeout | undefined
}

export function createRates({ rateOf, now }: RatesOptions): Rates {
  const entries = new Map<string, Entry>()
  let closed = false

  function entryOf(id: string): Entry {
    const present = entries.get(id)
    if (present !== undefined) return present
    const bucket = newBucket(now())
    const entry: Entry = {
      id,
      bucket,
      waiting: new Set(),
      turnOf: null,
      isServing: false,
      source: null,
      held: null,
      timer: undefined,
    }
    entries.set(id, entry)
    return entry
  }

  /** This process's part of the rate, with the bucket filled by it. Null for no limit. */
  function refill(entry: Entry): Rate | null {
    const whole = rateOf(entry.id)
    if (whole === null) return null
    const readsNothing = entry.source === null && entry.held === null
    const rate = readsNothing ? whole : shareOfRate(whole, shareOf(entry))
    entry.bucket = refilled(entry.bucket, rate, now())
    return rate
  }

  function take(entry: Entry, onTurn: () => void): boolean {
    if (refill(entry) === null) return true
    const isItsTurn = entry.turnOf === onTurn || (entry.turnOf === null && entry.waiting.size === 0)
    const without = isItsTurn ? withoutToken(entry.bucket) : null
    if (without === null) {
      entry.waiting.add(onTurn)
      if (!entry.isServing) arm(entry)
      return false
    }
    entry.turnOf = null
    entry.bucket = without
    return true
  }

  /** Gives each token that is there to the next who waits. */
  function serve(entry: Entry): void {
    clearTimeout(entry.timer)
    entry.timer = undefined
    entry.isServing = true
    // Who has taken one and waits for another stands at the end again, and is met there: once for each token.
    for (const onTurn of entry.waiting) {
      const rate = refill(entry)
      if (rate !== null && withoutToken(entry.bucket) === null) break
      entry.waiting.delete(onTurn)
      entry.turnOf = onTurn
      onTurn()
      entry.turnOf = null
    }
    entry.isServing = false
    if (entry.waiting.size > 0) arm(entry)
  }

  function arm(entry: Entry): void {
    if (entry.timer !== undefined || closed) return
    const rate = refill(entry)
    const ms = rate === null ? 0 : untilTokenMs(entry.bucket, rate)
    entry.timer = setTimeout(() => serve(entry), Math.min(Math.ceil(ms), longestTimerMs))
  }

  /** What they wait for may come earlier or later now. */
  function armAgain(id: string): void {
    const entry = entries.get(id)
    if (entry === undefined || entry.waiting.size === 0 || entry.isServing) return
    clearTimeout(entry.timer)
    entry.timer = undefined
    arm(entry)
  }

  /** Nobody waits and nothing is read: what is left of its bucket says nothing that a new one does not. */
  function forgetIfIdle(entry: Entry): void {
    if (entry.waiting.size === 0 && entry.source === null && entry.held === null && rateOf(entry.id) === null) {
      clearTimeout(entry.timer)
      entries.delete(entry.id)
    }
  }

  return {
    lane(id, onTurn) {
      return {
        take: () => rateOf(id) === null || take(entryOf(id), onTurn),
        close() {
          const entry = entries.get(id)
          entry?.waiting.delete(onTurn)
          if (entry !== undefined) forgetIfIdle(entry)
        },
      }
    },
    turn(id, signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve(false)
        if (rateOf(id) === null) return resolve(true)
        const entry = entryOf(id)
        const end = (gets: boolean) => {
          entry.waiting.delete(onTurn)
          signal.removeEventListener('abort', onAbort)
          resolve(gets)
        }
        const onTurn = () => {
          if (take(entry, onTurn)) end(true)
        }
        const onAbort = () => end(false)
        signal.addEventListener('abort', onAbort, { once: true })
        onTurn()
      })
    },
    giveBack(id) {
      const entry = entries.get(id)
      if (entry === undefined || rateOf(id) === null) return
      entry.bucket = { ...entry.bucket, tokens: entry.bucket.tokens + 1 }
      armAgain(id)
    },
    isLimited: (id) => rateOf(id) !== null,
    owns(id, what, owned) {
      const entry = entryOf(id)
      // What has come by until now came by the share of until now.
      refill(entry)
      entry[what] = owned
      armAgain(id)
      if (owned === null) forgetIfIdle(entry)
    },
    changed: armAgain,
    close() {
      closed = true
      for (const { timer } of entries.values()) clearTimeout(timer)
    },
  }
}
