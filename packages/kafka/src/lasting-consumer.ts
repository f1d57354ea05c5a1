/**
 * A consumer that outlives its client. After an outage the client's loop sometimes waits for ever for something that
 * never comes, and says nothing; or it goes on fetching as a member of no group, without a heartbeat (its rejoin failed
 * after it had forgotten its member id). So whoever fetches nothing any more, or has no heartbeat acknowledged, though a
 * broker answers, is replaced by a new member: like after a crash all partitions are lost at its first assignment, and the old member's are given away when
 * its session ends.
 */
import type { TopicPartition } from '@barnabas/core'
import { ConsumerStartError } from './consumer-failure.ts'
import type { KafkaLogger } from './log-creator.ts'
import type { Assignment, Consumer, ConsumerFailure, ConsumerOptions } from './port.ts'

/** Longer than a rebalance takes, for which nothing is fetched either, and than a request may. */
const SILENT_FOR_MS = 15_000
const LOOK_EVERY_MS = 2_500
/** So many looks in a row at which a broker answered, so that a client that is just coming back has time. */
const ANSWERS = 3

/** A consumer on one client. */
export interface LoopConsumer extends Consumer {
  /** Since when nothing was fetched, or one broker has not answered a fetch; in ms since the epoch. */
  readonly silentSince: number
}

export interface LastingSettings {
  readonly create: (options: ConsumerOptions) => LoopConsumer
  readonly sessionTimeoutMs: number
  readonly logger: KafkaLogger
  /** Rejects when no broker answers. */
  readonly askBroker: () => Promise<unknown>
}

export function createLastingConsumer(options: ConsumerOptions, settings: LastingSettings): Consumer {
  const { groupId, topics } = options
  const silentForMs = Math.max(SILENT_FOR_MS, settings.sessionTimeoutMs * 1.5)
  let assigned: readonly TopicPartition[] = []
  /** What the member before the present one had. */
  let inherited: readonly TopicPartition[] = []
  let life = 0
  let isEnded = false
  let answers = 0
  let isAsking = false
  let timer: NodeJS.Timeout | undefined
  let present = begin()

  /** What a member that was replaced still says is heard no more. */
  function begin(): LoopConsumer {
    const own = ++life
    const ifPresent =
      <Args extends unknown[]>(tell: ((...args: Args) => void) | undefined) =>
      (...args: Args): void =>
        void (own === life && tell?.(...args))
    return settings.create({
      ...options,
      onRecords: ifPresent(options.onRecords),
      onAssigned: ifPresent(onAssigned),
      onUnsettled: ifPresent(options.onUnsettled),
      onFailed: ifPresent(onFailed),
      onRejoining: async () => void (own === life && (await options.onRejoining?.())),
    })
  }

  function onAssigned(assignment: Assignment): void {
    const lost = [...inherited, ...assignment.lost]
    inherited = []
    assigned = [...assignment.gained, ...assignment.kept]
    options.onAssigned({ ...assignment, lost })
  }

  function onFailed(failure: ConsumerFailure): void {
    end()
    options.onFailed(failure)
  }

  function end(): void {
    isEnded = true
    clearInterval(timer)
  }

  async function look(): Promise<void> {
    if (Date.now() - silentSince(present) < silentForMs) {
      answers = 0
      return
    }
    // What is asked while no broker answers is answered all at once when one comes back.
    if (isAsking) return
    isAsking = true
    const looked = life
    try {
      await settings.askBroker()
      answers += 1
    } catch {
      answers = 0
    } finally {
      isAsking = false
    }
    if (answers < ANSWERS || isEnded || looked !== life) return
    answers = 0
    settings.logger.warn(
      { groupId, topics },
      'consumer fetches nothing or has no heartbeat acknowledged though a broker answers: a new member takes over',
    )
    replace()
  }

  function replace(): void {
    const former = present
    inherited = [...inherited, ...assigned]
    assigned = []
    present = begin()
    options.onUnsettled?.()
    void former.stop()
    present.start().catch((error: unknown) => {
      if (isEnded) return
      // What no new member can mend is said; whatever else it is, the next look finds that nothing is fetched.
      if (error instanceof ConsumerStartError && error.failure.code !== 'OTHER') onFailed(error.failure)
    })
  }

  return {
    get lastHeartbeatAt() {
      return present.lastHeartbeatAt
    },
    async start() {
      await present.start()
      if (!isEnded) timer = setInterval(() => void look(), LOOK_EVERY_MS)
    },
    async stop() {
      end()
      await present.stop()
    },
    pause: (partitions) => present.pause(partitions),
    resume: (partitions) => present.resume(partitions),
    seek: (partition, offset) => present.seek(partition, offset),
    commit: (positions) => present.commit(positions),
  }
}

/** Before a consumer has joined there are no heartbeats to wait for. */
function silentSince({ silentSince: unfetched, lastHeartbeatAt }: LoopConsumer): number {
  return lastHeartbeatAt === 0 ? unfetched : Math.min(unfetched, lastHeartbeatAt)
}
