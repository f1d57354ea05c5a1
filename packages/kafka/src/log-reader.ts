/**
 * Follows a topic without a consumer group, all partitions, on one connection of its own. Per leader one loop of long
 * polls; a record arrives within some milliseconds of being written. Whatever fails ends the round; the next one
 * begins with fresh metadata at the places reached, so nothing is skipped and nothing comes twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterConnection } from './cluster-connection.ts'
import { toRecord } from './kafka-record.ts'
import { NotAuthorizedError, brokerErrorType, errorMessage, isNotAuthorized } from './kafka-error.ts'
import { EARLIEST, LATEST, READ_COMMITTED, filterAbortedMessages } from './kafkajs-internals.ts'
import type { FetchedPartition } from './kafkajs-internals.ts'
import type { LogReader, LogReaderOptions } from './port.ts'
import { sharedQuestion } from './shared-question.ts'

/** How long the broker holds a fetch open while there is nothing new. */
const LONG_POLL_MS = 500
const MAX_BYTES = 8 * 1024 * 1024
const MAX_BYTES_PER_PARTITION = 1024 * 1024
const RETRY_DELAY_MS = { first: 100, last: 1_000 }
/** So often in a row must the topic be missing before it counts as deleted and what is made anew is read from its start. */
const MISSING_TIMES = 3

interface Waiter {
  readonly ends: ReadonlyMap<number, number>
  readonly resolve: () => void
}

export function createLogReader(connection: ClusterConnection, options: LogReaderOptions): LogReader {
  const { topic } = options
  /** The next offset to hand over, by partition; empty until the first round. */
  const positions = new Map<number, number>()
  const waiters = new Set<Waiter>()
  const stopping = new AbortController()
  /** Rejected when the topic may not be read: whoever starts must not wait for that to change. */
  const refused = Promise.withResolvers<never>()
  refused.promise.catch(() => undefined)
  let running: Promise<void> | undefined
  let trouble: string | null = null
  let missingTimes = 0
  let from = options.from

  async function run(): Promise<void> {
    let delayMs = RETRY_DELAY_MS.first
    while (!stopping.signal.aborted) {
      try {
        await followOneRound(() => {
          delayMs = RETRY_DELAY_MS.first
        })
      } catch (error) {
        if (stopping.signal.aborted) return
        noticeTrouble(error)
        await pause(delayMs)
        delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS.last)
      }
      connection.forget(topic)
    }
  }

  /** Ends when the metadata is so old that there may be new partitions, and rejects when anything fails. */
  async function followOneRound(onProgress: () => void): Promise<void> {
    const partitions = await connection.partitions(topic)
    if (partitions.some(({ leader }) => leader < 0)) throw new Error(`topic ${topic} has a partition without a leader`)
    await findPositions()
    const round = { over: false }
    const isOver = (): boolean =>
      round.over || stopping.signal.aborted || connection.knownPartitions(topic) === undefined
    const byLeader = Map.groupBy(partitions, ({ leader }) => leader)
    const loops = [...byLeader].map(async ([leader, led]) => {
      const partitionIds = led.map(({ partitionId }) => partitionId)
      try {
        while (!isOver()) {
          await fetchOnce(leader, partitionIds)
          onProgress()
          report(null)
        }
      } finally {
        round.over = true
      }
    })
    const ended = await Promise.allSettled(loops)
    const failed = ended.find((loop) => loop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Gives each partition a place to start, and brings back into the log those whose offsets it does not have. */
  async function findPositions(): Promise<void> {
    const [low, high] = [await connection.listOffsets(topic, EARLIEST), await connection.listOffsets(topic, LATEST)]
    missingTimes = 0
    const isFirst = positions.size === 0
    for (const [partition, end] of high) {
      const start = low.get(partition) ?? 0
      // A partition that was added later is new as a whole.
      const position = positions.get(partition) ?? (isFirst ? startOf(partition, end) : start)
      // Above the end: the topic was made anew, or its tail was lost.
      positions.set(partition, position < start || position > end ? start : position)
    }
  }

  function startOf(partition: number, end: number): number {
    if (from === 'beginning') return 0
    if (from === 'end') return end
    return from(partition) ?? 0
  }

  async function fetchOnce(leader: number, partitions: readonly number[]): Promise<void> {
    const broker = await connection.broker(leader)
    const { responses } = await broker.fetch({
      maxWaitTime: LONG_POLL_MS,
      minBytes: 1,
      maxBytes: MAX_BYTES,
      isolationLevel: READ_COMMITTED,
      topics: [
        {
          topic,
          partitions: partitions.map((partition) => ({
            partition,
            fetchOffset: String(positions.get(partition) ?? 0),
            maxBytes: MAX_BYTES_PER_PARTITION,
          })),
        },
      ],
    })
    for (const { partitions: fetched } of responses) fetched.forEach(handOver)
    settleWaiters()
  }

  function handOver(fetched: FetchedPartition): void {
    const { partition, messages } = fetched
    const position = positions.get(partition) ?? 0
    for (const message of filterAbortedMessages(fetched)) {
      if (stopping.signal.aborted) return
      if (message.isControlRecord || Number(message.offset) < position) continue
      options.onRecord(toRecord({ topic, partition }, message))
    }
    // Behind the last batch and not behind its last record: compaction and control batches leave gaps at the end.
    const reached = Number(messages.nextOffset ?? position)
    if (reached > position) positions.set(partition, reached)
  }

  function settleWaiters(): void {
    for (const waiter of waiters) {
      if ([...waiter.ends].some(([partition, end]) => (positions.get(partition) ?? 0) < end)) continue
      waiters.delete(waiter)
      waiter.resolve()
    }
  }

  function noticeTrouble(error: unknown): void {
    const missing = brokerErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION'
    if (missing) missingTimes += 1
    if (missingTimes === MISSING_TIMES && positions.size > 0) {
      positions.clear()
      from = 'beginning'
    }
    const isRefused = isNotAuthorized(error)
    if (isRefused) refused.reject(new NotAuthorizedError(`read topic ${topic}`))
    // Leaders move and connections break in the course of things: the next round heals it.
    if (error instanceof Error && brokerErrorType(error) !== undefined && !missing && !isRefused && trouble === null)
      return
    report(missing ? `topic ${topic} does not exist` : `topic ${topic} cannot be read: ${errorMessage(error)}`)
  }

  /** Told when trouble begins and when it ends, not at every try. */
  function report(now: string | null): void {
    if ((now === null) === (trouble === null)) return
    trouble = now
    options.onTrouble?.(now)
  }

  async function pause(delayMs: number): Promise<void> {
    await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
  }

  async function reachPresentEnds(): Promise<void> {
    const ends = await presentEnds()
    await new Promise<void>((resolve, reject) => {
      if (stopping.signal.aborted) {
        reject(stopped(topic))
        return
      }
      const onAbort = () => reject(stopped(topic))
      stopping.signal.addEventListener('abort', onAbort, { once: true })
      function reached(): void {
        stopping.signal.removeEventListener('abort', onAbort)
        resolve()
      }
      waiters.add({ ends, resolve: reached })
      if (positions.size > 0) settleWaiters()
    })
  }

  async function presentEnds(): Promise<ReadonlyMap<number, number>> {
    for (;;) {
      if (stopping.signal.aborted) throw stopped(topic)
      try {
        return await connection.listOffsets(topic, LATEST)
      } catch {
        // The loop reports what is wrong; the ends are asked for until a broker tells them.
        await pause(RETRY_DELAY_MS.first)
      }
    }
  }

  const caughtUp = sharedQuestion(reachPresentEnds)

  return {
    async start() {
      running ??= run()
      await Promise.race([caughtUp(), refused.promise])
    },
    caughtUp,
    async stop() {
      stopping.abort()
      await connection.close() // Ends the long polls.
      await running
    },
  }
}

function stopped(topic: string): Error {
  return new Error(`the reader of topic ${topic} was stopped`)
}
