import { inPlaceRecord, lateSuccessKeptMs, lateSuccessValue, parseLateSuccess, progressKey } from '@barnabas/core'
import type { DeliveryState, EventPosition, InPlaceEvent, KafkaRecord, LateSuccess, Names } from '@barnabas/core'
import type { KafkaClient, Producer } from '@barnabas/kafka'
import { createInPlaceLog } from './in-place-log.ts'
import type { Logger } from './logger.ts'

/**
 * `barnabas.progress`, followed from the topic's beginning. Late successes (row A7): best effort throughout, for what
 * cannot be written or was not read yet costs an attempt that was not needed, and no event. Events that stay where they
 * are (row B5): written before anything else happens to them.
 */
export interface ProgressLog {
  /** Resolves when the topic was read to its end as it was at the call. */
  start(): Promise<void>
  /** The same for its present end. */
  caughtUp(): Promise<void>
  /** Resolves with true once it is written, which is tried for as long as it is ours. */
  keepInPlace(event: InPlaceEvent, owner: InPlaceOwner): Promise<boolean>
  /** It is where it was no more. Tried until it is written, or `stop`. */
  removeInPlace(at: EventPosition): void
  /** Of one life of a subscription, by topic, partition and offset. */
  inPlaceOf(subscriptionId: string, generation: number): readonly InPlaceEvent[]
  /** The subscription was deleted: nothing of any life of it is of use. */
  forgetInPlace(subscriptionId: string): void
  /** Called for each change of a subscription's events that stay where they are, also for the own ones. */
  onInPlace(listener: (subscriptionId: string) => void): void
  /** Writes it, once; every process that retries knows of it some milliseconds later. */
  write(late: LateSuccess): Promise<void>
  /** What a receiver said of this event after a deadline, null for nothing. */
  lateSuccessOf(state: DeliveryState): LateSuccess | null
  /** The event has come to its end: what stands there for it is removed, once that is surely committed. */
  end(at: Pick<DeliveryState, 'subscriptionId' | 'generation' | 'source'>): void
  stop(): Promise<void>
}

/** Whose partition it is in. */
export interface InPlaceOwner {
  readonly lost: boolean
  readonly settled: Promise<void> | undefined
}

export interface ProgressLogOptions {
  readonly kafka: Pick<KafkaClient, 'logReader' | 'producer'>
  readonly names: Names
  readonly now: () => number
  /** Told after each try to write to the topic while it does not exist. */
  readonly onMissing: (topic: string) => void
  readonly logger: Logger
}

/** Beyond this many the oldest are forgotten, and their retries made. */
const entriesMax = 10_000
/** When what was used up is removed: long after the commit of the record that it was for. */
const removedAfterMs = 5_000
const sweepEveryMs = 1_000
const removedAtOnceMax = 500
const tryAgainMs = 500

interface Entry {
  readonly late: LateSuccess
  /** Since when it is of no use. */
  endedAt: number | null
}

export function openProgressLog({ kafka, names, now, onMissing, logger }: ProgressLogOptions): ProgressLog {
  const topic = names.progress
  /** By key, the oldest first. */
  const entries = new Map<string, Entry>()
  let producer: Producer | null = null
  let sweeping: NodeJS.Timeout | undefined
  let stopped = false
  const inPlace = createInPlaceLog()
  const inPlaceListeners: ((subscriptionId: string) => void)[] = []

  const reader = kafka.logReader({
    topic,
    from: 'beginning',
    onRecord(record) {
      const { key, value } = record
      if (key === null) return
      takeInPlace(record)
      const text = key.toString('utf8')
      entries.delete(text)
      if (value === null) return
      const late = parseLateSuccess(text, value)
      // Something else of a later version, or of anybody: not ours to remove.
      if (late !== null) take(text, late)
    },
    onTrouble(trouble) {
      if (trouble !== null)
        logger.warn(
          { topic, trouble },
          'it cannot be read: late successes are not heard, nor what others know of blocks',
        )
    },
  })

  function take(key: string, late: LateSuccess): void {
    entries.set(key, { late, endedAt: null })
    if (entries.size > entriesMax) for (const oldest of entries.keys()) return void entries.delete(oldest)
    sweeping ??= setInterval(sweep, sweepEveryMs).unref()
  }

  function takeInPlace(record: Pick<KafkaRecord, 'key' | 'value' | 'offset'>): void {
    const change = inPlace.apply(record)
    if (change === null) return
    if (!change.isDamaged) return inPlaceListeners.forEach((listener) => listener(change.id))
    const { offset } = record
    logger.warn(
      { topic, offset, subscription: change.id },
      'a record of the progress topic cannot be read and is passed over; where it alone knew of an event, that begins at attempt 1',
    )
  }

  /** False once `isMoot`. */
  async function produceInPlace(key: Buffer, value: Buffer | null, isMoot: () => boolean): Promise<boolean> {
    for (;;) {
      if (isMoot()) return false
      producer ??= kafka.producer()
      const written = await producer.produce({ topic, key, value, headers: {} })
      if (written.kind === 'acknowledged') {
        takeInPlace({ key, value, offset: written.offset })
        return true
      }
      if (written.kind === 'unavailable' && written.isMissing === true) onMissing(topic)
      logger.warn({ topic, trouble: written.message }, 'what is retried in place cannot be written down; trying again')
      await new Promise((resolve) => setTimeout(resolve, tryAgainMs))
    }
  }

  function removeInPlace(at: EventPosition): void {
    void produceInPlace(Buffer.from(progressKey(at)), null, () => stopped)
  }

  function sweep(): void {
    const isOver = ({ late, endedAt }: Entry): boolean =>
      (endedAt !== null && now() - endedAt > removedAfterMs) || now() - late.at > lateSuccessKeptMs
    let removed = 0
    for (const [key, entry] of entries) {
      if (!isOver(entry)) continue
      entries.delete(key)
      void produce(key, null)
      removed += 1
      if (removed === removedAtOnceMax) return
    }
    if (entries.size > 0) return
    clearInterval(sweeping)
    sweeping = undefined
  }

  async function produce(key: string, value: Buffer | null): Promise<void> {
    producer ??= kafka.producer()
    const written = await producer.produce({ topic, key: Buffer.from(key), value, headers: {} })
    if (written.kind === 'acknowledged') return
    logger.warn({ topic, trouble: written.message }, 'a late success cannot be written; its retry is made')
  }

  return {
    start: () => reader.start(),
    caughtUp: () => reader.caughtUp(),
    async keepInPlace(event, owner) {
      if (owner.settled !== undefined) await owner.settled
      const { key, value } = inPlaceRecord(event)
      return produceInPlace(key, value, () => owner.lost || stopped)
    },
    removeInPlace,
    inPlaceOf: (subscriptionId, generation) => inPlace.of(subscriptionId, generation),
    forgetInPlace: (subscriptionId) => inPlace.positionsOf(subscriptionId).forEach(removeInPlace),
    onInPlace: (listener) => void inPlaceListeners.push(listener),
    write: (late) => produce(progressKey(late), lateSuccessValue(late)),
    lateSuccessOf(state) {
      if (entries.size === 0) return null
      const entry = entries.get(progressKey(state))
      return entry?.late.redrives === state.redrives ? entry.late : null
    },
    end(at) {
      if (entries.size === 0) return
      const entry = entries.get(progressKey(at))
      if (entry !== undefined) entry.endedAt ??= now()
    },
    async stop() {
      stopped = true
      clearInterval(sweeping)
      await reader.stop()
      await producer?.close()
    },
  }
}
