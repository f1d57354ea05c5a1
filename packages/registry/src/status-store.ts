import { nextStatus } from '@barnabas/core'
import type { Names, StatusRecord, WantedStatus } from '@barnabas/core'
import type { KafkaClient, Producer } from '@barnabas/kafka'
import type { Logger } from './logger.ts'
import { createStatusLog } from './status-log.ts'

/** The status of every subscription, followed from the topic's beginning, and the way to write it. */
export interface StatusStore {
  /** Resolves when the topic was read to its end as it was at the call. */
  start(): Promise<void>
  get(id: string): StatusRecord | null
  all(): readonly StatusRecord[]
  caughtUp(): Promise<void>
  /**
   * Writes a status when something else stands there, and resolves when it stands. Writes of one id happen in the
   * order of the calls. While the broker cannot be reached it is tried again until `stop`; more than 20 waiting for
   * one id lose the oldest. Rejects when the broker refuses the record for good.
   */
  write(id: string, wanted: Omit<WantedStatus, 'now'>): Promise<void>
  /** Writes a tombstone when anything stands there: the subscription was deleted. */
  remove(id: string): Promise<void>
  /** What is not written yet is not written any more. */
  stop(): Promise<void>
}

export interface StatusStoreOptions {
  readonly kafka: Pick<KafkaClient, 'logReader' | 'producer'>
  readonly names: Names
  readonly now: () => number
  /** Called for each change after `start` has resolved, also for the own ones; null once removed. */
  readonly onChange?: (id: string, status: StatusRecord | null) => void
  readonly logger: Logger
}

interface Wish {
  /** null: a tombstone. */
  readonly wanted: Omit<WantedStatus, 'now'> | null
  dropped: boolean
}

const waitingMax = 20
const tryAgainMs = 500

export function openStatusStore(options: StatusStoreOptions): StatusStore {
  const { kafka, names, now, onChange, logger } = options
  const log = createStatusLog()
  const waiting = new Map<string, { readonly wishes: Wish[]; last: Promise<void> }>()
  const stopping = Promise.withResolvers<void>()
  let stopped = false
  let started = false
  let producer: Producer | null = null

  const reader = kafka.logReader({
    topic: names.status,
    from: 'beginning',
    onRecord: (record) => take(record),
    onTrouble(trouble) {
      if (trouble !== null) logger.warn({ topic: names.status, trouble }, 'statuses cannot be read')
    },
  })

  function take(record: { readonly key: Buffer | null; readonly value: Buffer | null; readonly offset: number }): void {
    const id = log.apply(record)
    if (id !== null && started) onChange?.(id, log.get(id))
  }

  function enqueue(id: string, wanted: Wish['wanted']): Promise<void> {
    const queue = waiting.get(id) ?? { wishes: [], last: Promise.resolve() }
    waiting.set(id, queue)
    const wish: Wish = { wanted, dropped: false }
    queue.wishes.push(wish)
    // The first is under way.
    if (queue.wishes.length > waitingMax) queue.wishes.splice(1, 1).forEach((oldest) => (oldest.dropped = true))
    const done = queue.last.then(() => fulfil(id, wish))
    const settled = done
      .catch(() => undefined)
      .then(() => {
        const index = queue.wishes.indexOf(wish)
        if (index >= 0) queue.wishes.splice(index, 1)
        if (queue.wishes.length === 0 && waiting.get(id) === queue) waiting.delete(id)
      })
    queue.last = settled
    return done
  }

  async function fulfil(id: string, wish: Wish): Promise<void> {
    // Looked at again before each try: what another process wrote meanwhile may be just that.
    while (!stopped && !wish.dropped) {
      const value = valueOf(id, wish)
      if (value === undefined) return
      producer ??= kafka.producer()
      const key = Buffer.from(id)
      const result = await producer.produce({ topic: names.status, key, value, headers: {} })
      switch (result.kind) {
        case 'acknowledged':
          take({ key, value, offset: result.offset })
          return
        case 'refused':
          throw new Error(`the status of ${id} is refused by the broker: ${result.message}`)
        case 'unavailable':
          logger.warn({ subscription: id, trouble: result.message }, 'the status cannot be written yet; trying again')
          await Promise.race([new Promise((resolve) => setTimeout(resolve, tryAgainMs).unref()), stopping.promise])
          break
        default:
          result satisfies never
      }
    }
  }

  /** What is to be written; undefined when it stands there already. */
  function valueOf(id: string, { wanted }: Wish): Buffer | null | undefined {
    if (wanted === null) return log.has(id) ? null : undefined
    const next = nextStatus(id, log.get(id), { ...wanted, now: now() })
    return next === null ? undefined : Buffer.from(JSON.stringify(next))
  }

  return {
    async start() {
      await reader.start()
      started = true
    },
    get: (id) => log.get(id),
    all: () => log.all(),
    caughtUp: () => reader.caughtUp(),
    write: (id, wanted) => enqueue(id, wanted),
    remove: (id) => enqueue(id, null),
    async stop() {
      stopped = true
      stopping.resolve()
      await Promise.all([...waiting.values()].map(({ last }) => last))
      await reader.stop()
      await producer?.close()
    },
  }
}
