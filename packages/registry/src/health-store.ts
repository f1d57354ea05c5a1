import { healthKey, healthValue, presenceKey } from '@barnabas/core'
import type { HealthRecord, Names } from '@barnabas/core'
import type { KafkaClient, Producer, ProduceResult } from '@barnabas/kafka'
import { healthRemains } from './health-cleaning.ts'
import { createHealthLog } from './health-log.ts'
import type { HealthChange } from './health-log.ts'
import type { Logger } from './logger.ts'

/**
 * What every process says of every subscription's endpoint (`barnabas.health`), followed from the topic's beginning, and
 * what this one says: one record for each subscription, at most one write a second besides what is news at once. A process that lives says so from
 * time to time; one that has not been heard for four times as long is gone. What is left of those that are gone and belongs
 * to no subscription is removed now and then, by whoever finds it first.
 */
export interface HealthStore {
  /** Resolves when the topic was read to its end as it was at the call. */
  start(): Promise<void>
  /** What the other processes say, and what this one did before it was started again under its name. */
  of(subscription: string): readonly HealthRecord[]
  subscriptions(): readonly string[]
  /** Called for each change after `start` has resolved: by another process, and when what this one says stands or was taken away. */
  onChange(listener: (change: HealthChange) => void): void
  /** What this process says has changed: it is asked for (`recordOf`) and written within so many milliseconds, 0 for at once. */
  changed(subscription: string, withinMs: number): void
  /** Writes what this process says now; whether it stands. */
  flush(subscription: string): Promise<boolean>
  /** Takes the record of a process away that is gone, or of a subscription that was deleted. One try. */
  remove(subscription: string, process: string): Promise<void>
  isGone(process: string): boolean
  /** Writes what is not written yet, one try, and says that this process has left. */
  stop(): Promise<void>
}

export interface HealthStoreOptions {
  readonly kafka: Pick<KafkaClient, 'logReader' | 'producer'>
  readonly names: Names
  /** Names this process. */
  readonly process: string
  /** What this process says of a subscription now, null for nothing. */
  readonly recordOf: (subscription: string) => HealthRecord | null
  /** Which subscriptions there are, deleted ones being known as such once it has caught up. */
  readonly subscriptions: { caughtUp(): Promise<void>; get(subscription: string): unknown }
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

const writeEveryMs = 1_000
const presenceEveryMs = 30_000
const lastWriteMs = 2_000
/** Signs of life between two looks at what is left behind. */
const cleanEvery = 4

export function openHealthStore(options: HealthStoreOptions): HealthStore {
  const { kafka, names, process, recordOf, now, logger } = options
  const topic = names.health
  const log = createHealthLog()
  const listeners: ((change: HealthChange) => void)[] = []
  const waiting = new Map<string, { readonly dueAt: number; readonly timer: NodeJS.Timeout }>()
  const writtenAt = new Map<string, number>()
  /** What stands in the topic, so that what has come and gone within a second is not written. */
  const written = new Map<string, string>()
  const presenceMs = Math.max(writeEveryMs, presenceEveryMs * options.timeScale)
  let presenceTimer: NodeJS.Timeout | undefined
  let signsOfLife = 0
  let cleaning: Promise<void> | null = null
  let producer: Producer | null = null
  let startedAt = 0
  let started = false
  let stopped = false

  const reader = kafka.logReader({
    topic,
    from: 'beginning',
    onRecord(record) {
      const change = log.apply(record, now())
      if (change === null || !started) return
      if (change.process === process) written.delete(change.subscription)
      if (change.process !== process || !change.isThere) for (const listener of listeners) listener(change)
    },
    onTrouble(trouble) {
      if (trouble !== null) logger.warn({ topic, trouble }, 'what other processes see of endpoints cannot be read')
    },
  })

  function changed(subscription: string, withinMs: number): void {
    if (stopped) return
    const time = now()
    // The rare news that is to be known at once, a probation for one, waits for no other: this process may be killed next.
    const dueAt = withinMs === 0 ? time : Math.max(time + withinMs, (writtenAt.get(subscription) ?? 0) + writeEveryMs)
    const present = waiting.get(subscription)
    if (present !== undefined && present.dueAt <= dueAt) return
    clearTimeout(present?.timer)
    const timer = setTimeout(() => void flush(subscription), dueAt - time).unref()
    waiting.set(subscription, { dueAt, timer })
  }

  async function flush(subscription: string): Promise<boolean> {
    clearTimeout(waiting.get(subscription)?.timer)
    waiting.delete(subscription)
    const record = recordOf(subscription)
    if (record === null) return false
    const value = healthValue(record)
    const text = value.toString('utf8')
    if (text === written.get(subscription)) return true
    writtenAt.set(subscription, now())
    const { kind } = await write(healthKey(subscription, process), value)
    if (kind === 'acknowledged') {
      written.set(subscription, text)
      for (const listener of listeners) listener({ subscription, process, isThere: true })
    }
    // The reader of the topic tells what is the matter.
    if (kind === 'unavailable') changed(subscription, writeEveryMs)
    return kind === 'acknowledged'
  }

  function forget(subscription: string): void {
    clearTimeout(waiting.get(subscription)?.timer)
    for (const map of [waiting, writtenAt, written]) map.delete(subscription)
  }

  async function write(key: Buffer, value: Buffer | null): Promise<ProduceResult> {
    producer ??= kafka.producer()
    const result = await producer.produce({ topic, key, value, headers: {} })
    if (result.kind === 'acknowledged') log.apply({ key, value, offset: result.offset }, now())
    if (result.kind === 'refused') logger.warn({ topic, trouble: result.message }, 'what this process sees is refused')
    return result
  }

  function sayPresent(): void {
    void write(presenceKey(process), Buffer.from(JSON.stringify({ process, at: now() })))
    presenceTimer = setTimeout(sayPresent, presenceMs).unref()
    signsOfLife += 1
    if (signsOfLife % cleanEvery !== 0) return
    // It may have to wait for long; one at a time.
    cleaning ??= clean()
      .catch(() => undefined)
      .finally(() => (cleaning = null))
  }

  /** One try for each; what could not be removed is found again. */
  async function clean(): Promise<void> {
    await options.subscriptions.caughtUp()
    const exists = (subscription: string) => options.subscriptions.get(subscription) !== undefined
    const { records, processes } = healthRemains(log, { process, exists, isGone })
    for (const { subscription, process: of } of records) {
      if (stopped) return
      await remove(subscription, of)
    }
    for (const gone of processes) if (!stopped) await write(presenceKey(gone), null)
  }

  async function remove(subscription: string, ofProcess: string): Promise<void> {
    if (ofProcess === process) forget(subscription)
    await write(healthKey(subscription, ofProcess), null)
  }

  function isGone(other: string): boolean {
    if (other === process) return false
    const at = log.presentAt(other)
    // What stood there at the start may be old: it is given the time that one of now is given.
    return at === null || now() - Math.max(at, startedAt) > 4 * presenceMs
  }

  return {
    async start() {
      await reader.start()
      startedAt = now()
      started = true
      sayPresent()
    },
    of: (subscription) => log.of(subscription),
    subscriptions: () => log.subscriptions(),
    onChange: (listener) => void listeners.push(listener),
    changed,
    flush,
    remove,
    isGone,
    async stop() {
      clearTimeout(presenceTimer)
      const unwritten = [...waiting.keys()]
      const last = Promise.all(unwritten.map((subscription) => flush(subscription)))
        .then(() => (started ? write(presenceKey(process), null) : null))
        .catch(() => null)
      await Promise.race([last, new Promise((resolve) => setTimeout(resolve, lastWriteMs).unref())])
      stopped = true
      for (const { timer } of waiting.values()) clearTimeout(timer)
      await reader.stop()
      await producer?.close()
    },
  }
}
