import { lateSuccessKeptMs, lateSuccessValue, parseLateSuccess, progressKey } from '@barnabas/core'
import type { DeliveryState, LateSuccess, Names } from '@barnabas/core'
import type { KafkaClient, Producer } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

/**
 * `barnabas.progress`: late successes (row A7), followed from the topic's beginning. Best effort throughout: what
 * cannot be written or was not read yet costs an attempt that was not needed, and no event.
 */
export interface ProgressLog {
  /** Resolves when the topic was read to its end as it was at the call. */
  start(): Promise<void>
  /** Writes it, once; every process that retries knows of it some milliseconds later. */
  write(late: LateSuccess): Promise<void>
  /** What a receiver said of this event after a deadline, null for nothing. */
  lateSuccessOf(state: DeliveryState): LateSuccess | null
  /** The event has come to its end: what stands there for it is removed, once that is surely committed. */
  end(at: Pick<DeliveryState, 'subscriptionId' | 'generation' | 'source'>): void
  stop(): Promise<void>
}

export interface ProgressLogOptions {
  readonly kafka: Pick<KafkaClient, 'logReader' | 'producer'>
  readonly names: Names
  readonly now: () => number
  readonly logger: Logger
}

/** Beyond this many the oldest are forgotten, and their retries made. */
const entriesMax = 10_000
/** When what was used up is removed: long after the commit of the record that it was for. */
const removedAfterMs = 5_000
const sweepEveryMs = 1_000
const removedAtOnceMax = 500

interface Entry {
  readonly late: LateSuccess
  /** Since when it is of no use. */
  endedAt: number | null
}

export function openProgressLog({ kafka, names, now, logger }: ProgressLogOptions): ProgressLog {
  const topic = names.progress
  /** By key, the oldest first. */
  const entries = new Map<string, Entry>()
  let producer: Producer | null = null
  let sweeping: NodeJS.Timeout | undefined

  const reader = kafka.logReader({
    topic,
    from: 'beginning',
    onRecord({ key, value }) {
      if (key === null) return
      const text = key.toString('utf8')
      entries.delete(text)
      if (value === null) return
      const late = parseLateSuccess(text, value)
      // Something else of a later version, or of anybody: not ours to remove.
      if (late !== null) take(text, late)
    },
    onTrouble(trouble) {
      if (trouble !== null) logger.warn({ topic, trouble }, 'late successes cannot be read; their retries are made')
    },
  })

  function take(key: string, late: LateSuccess): void {
    entries.set(key, { late, endedAt: null })
    if (entries.size > entriesMax) for (const oldest of entries.keys()) return void entries.delete(oldest)
    sweeping ??= setInterval(sweep, sweepEveryMs).unref()
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
      clearInterval(sweeping)
      await reader.stop()
      await producer?.close()
    },
  }
}
