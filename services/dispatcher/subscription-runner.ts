import type { Subscription } from '@barnabas/core'
import { writeBeforeExitMs, writeBeforeLeavingMs } from '@barnabas/delivery'
import type { Logger } from '@barnabas/delivery'
import type { RunningSubscription } from './running-subscription.ts'

/** What should be true of one subscription id. */
export type Desired =
  /** `topicLives` is another when one of its topics was deleted and made again: then its places are looked up anew. */
  | { readonly kind: 'run'; readonly subscription: Subscription; readonly topicLives: string }
  /** It cannot be run, for a reason that depends on the subscription and the topics alone. */
  | {
      readonly kind: 'fail'
      readonly reason: string
      readonly generation: number
      readonly revision: number
      readonly missing: readonly string[]
    }
  | { readonly kind: 'delete' }

/**
 * Brings one subscription from what is to what should be, one step at a time, always towards the newest wish:
 *
 *     delete, fail ── run ──► joining ──► running ── run, same topics ──► running (replaced in place)
 *                                └────────── anything else ──► stopped ──► …
 */
export interface SubscriptionRunner {
  update(desired: Desired): void
  /** Its status is another. */
  statusChanged(): void
  /** What is known of its events that stay where they are is another. */
  inPlaceChanged(): void
  /** An operator has said something of a block. */
  resolved(): void
  /** Resolves when what is, is what was last asked for. */
  settled(): Promise<void>
  /** Ends it for good. */
  close(drainTimeoutMs: number): Promise<void>
  /** Of its consumer; `Infinity` while it has none. */
  readonly lastHeartbeatAt: number
}

export interface SubscriptionRunnerOptions {
  readonly id: string
  /** What no retry can mend of where it delivers to; null for nothing. Asked before each revision is taken up. */
  readonly problemOf: (subscription: Subscription) => Promise<string | null>
  /** It is not taken up: whoever is told wishes for something else. */
  readonly onProblem: (subscription: Subscription, problem: string) => void
  readonly join: (subscription: Subscription) => Promise<RunningSubscription>
  readonly onFailed: (wish: Extract<Desired, { kind: 'fail' }>) => Promise<void>
  readonly onStarting: (subscription: Subscription) => void
  readonly onDeleted: () => Promise<void>
  /** A life of it is over while this process led its group. Must not wait. */
  readonly onLifeOver: (subscription: Subscription) => void
  readonly drainTimeoutMs: number
  readonly logger: Logger
}

const joinAgainMs = 2_000

export function createSubscriptionRunner(options: SubscriptionRunnerOptions): SubscriptionRunner {
  let wish: Desired | null = null
  let reached: Desired | null = null
  let running: {
    readonly subscription: Subscription
    readonly topicLives: string
    readonly handle: RunningSubscription
  } | null = null
  let working: Promise<void> = Promise.resolve()
  let closed = false
  const closing = Promise.withResolvers<null>()

  async function work(): Promise<void> {
    while (!closed && wish !== null && wish !== reached) {
      const next = wish
      try {
        await reach(next)
        reached = next
      } catch (error) {
        options.logger.warn(
          { subscription: options.id, error: error instanceof Error ? error.message : String(error) },
          'the subscription cannot be taken up yet; trying again',
        )
        await pause(joinAgainMs)
      }
    }
  }

  async function reach(next: Desired): Promise<void> {
    if (next.kind === 'run') {
      const problem = await Promise.race([options.problemOf(next.subscription), closing.promise])
      if (closed) return
      if (problem !== null) return options.onProblem(next.subscription, problem)
    }
    if (next.kind === 'run' && running !== null && readsTheSame(running, next)) {
      running = { ...running, subscription: next.subscription }
      running.handle.replace(next.subscription)
      return
    }
    if (running !== null) {
      const { handle, subscription } = running
      running = null
      if (handle.isLeader && lifeOf(next) !== subscription.generation) options.onLifeOver(subscription)
      await handle.stop({ drainMs: options.drainTimeoutMs, writeMs: writeBeforeLeavingMs })
    }
    switch (next.kind) {
      case 'run': {
        options.onStarting(next.subscription)
        const joining = options.join(next.subscription)
        // While no broker answers a join takes for ever, and whoever closes has no use for it.
        const handle = await Promise.race([joining, closing.promise])
        if (handle !== null) {
          running = { ...next, handle }
          // Nobody could tell it what was said while it joined.
          handle.statusChanged()
          handle.inPlaceChanged()
          handle.resolved()
        } else joining.then((late) => late.stop({ drainMs: 0, writeMs: writeBeforeExitMs })).catch(() => undefined)
        return
      }
      case 'fail':
        return options.onFailed(next)
      case 'delete':
        await Promise.race([options.onDeleted(), closing.promise])
        return
      default:
        return next satisfies never
    }
  }

  async function pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([over, closing.promise])
    clearTimeout(timer)
  }

  return {
    update(desired) {
      wish = desired
      working = working.then(work)
    },
    statusChanged: () => running?.handle.statusChanged(),
    inPlaceChanged: () => running?.handle.inPlaceChanged(),
    resolved: () => running?.handle.resolved(),
    settled: () => working,
    async close(drainTimeoutMs) {
      closed = true
      closing.resolve(null)
      await working
      await running?.handle.stop({ drainMs: drainTimeoutMs, writeMs: writeBeforeExitMs })
      running = null
    },
    get lastHeartbeatAt() {
      return running?.handle.lastHeartbeatAt ?? Infinity
    },
  }
}

/** Which life of the id is wished for; null for none. */
function lifeOf(wish: Desired): number | null {
  if (wish.kind === 'delete') return null
  return wish.kind === 'run' ? wish.subscription.generation : wish.generation
}

interface Reading {
  readonly subscription: Subscription
  readonly topicLives: string
}

function readsTheSame(before: Reading, now: Reading): boolean {
  const [one, other] = [before.subscription, now.subscription]
  return (
    before.topicLives === now.topicLives &&
    one.generation === other.generation &&
    // What waits by one order would not know the other.
    one.order === other.order &&
    one.topics.length === other.topics.length &&
    one.topics.every((topic) => other.topics.includes(topic))
  )
}
