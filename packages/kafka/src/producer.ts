import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingRecord } from '@barnabas/core'
import type { ClusterConnection } from './cluster-connection.ts'
import { brokerErrorType, errorMessage, isNotAuthorized, isRetriable, rootCause } from './kafka-error.ts'
import { murmur2 } from './kafkajs-internals.ts'
import type { Producer, ProduceResult } from './port.ts'
import { BATCH_RECORDS_MAX, batchLength } from './produce-batch.ts'

/** A record is tried again for so long after `produce` was called; the last try may take a request's time-out more. */
const TRY_FOR_MS = 10_000
/** A topic that the cluster does not know is given up earlier: it is rarely there a moment later. */
const TRY_MISSING_TOPIC_FOR_MS = 3_000
/** How long the broker may wait for the in-sync replicas. */
const ACKNOWLEDGE_TIMEOUT_MS = 8_000
const RETRY_DELAY_MS = { first: 50, last: 1_000 }

/** The broker says that the batch, or a record, is larger than the topic allows. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']

interface Pending {
  readonly record: OutgoingRecord
  readonly since: number
  /** When it is given up, unless it is on its way just then. */
  readonly until: number
  /** Somebody has named that time: after it nothing of the record is sent any more. */
  readonly isStrict: boolean
  readonly settle: (result: ProduceResult) => void
}

interface PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly waiting: Pending[]
}

/**
 * Writes with `acks=all`, one partition per request, not idempotent: at least once, with duplicates when an
 * acknowledgement is lost. It does not use the client's own producer, which resolves although a partition was never
 * written when a request spans brokers and one of them moved, and in which a deleted topic fails the sends to all
 * others.
 */
export function createProducer(connection: ClusterConnection): Producer {
  const queues = new Map<string, PartitionQueue>()
  const unplaced = new Map<string, Pending[]>()
  /** Records that are not settled, and what waits until there are none. */
  let unsettled = 0
  const closing = Promise.withResolvers<void>()
  let closed = false

  function produce(record: OutgoingRecord, tryForMs?: number): Promise<ProduceResult> {
    if (closed) return Promise.resolve({ kind: 'unavailable', message: 'the producer is closed' })
    unsettled += 1
    return new Promise((resolve) => {
      const settle = (result: ProduceResult): void => {
        unsettled -= 1
        resolve(result)
        if (closed && unsettled === 0) closing.resolve()
      }
      const since = Date.now()
      const until = since + Math.min(tryForMs ?? TRY_FOR_MS, TRY_FOR_MS)
      const pending = { record, since, until, isStrict: tryForMs !== undefined, settle }
      const waiting = unplaced.get(record.topic)
      const known = connection.knownPartitions(record.topic)
      if (waiting !== undefined) waiting.push(pending)
      else if (known !== undefined) enqueue(pending, partitionOf(record, known.length))
      else void place(record.topic, pending)
    })
  }

  /** While a topic's partitions are not known its records wait for them together, in the order of the calls. */
  async function place(topic: string, first: Pending): Promise<void> {
    const waiting = [first]
    unplaced.set(topic, waiting)
    while (waiting.length > 0) {
      const partitions = await tryUntilLate(waiting, topic, () => connection.partitions(topic))
      const placed = waiting.splice(0)
      if (partitions.kind === 'failed') waiting.push(...givenUp(placed, partitions.result))
      else for (const pending of placed) enqueue(pending, partitionOf(pending.record, partitions.value.length))
    }
    unplaced.delete(topic)
  }

  function enqueue(pending: Pending, partition: number): void {
    const { topic } = pending.record
    const key = queueKey(topic, partition)
    const queue = queues.get(key)
    if (queue !== undefined) {
      queue.waiting.push(pending)
      return
    }
    const created = { topic, partition, waiting: [pending] }
    queues.set(key, created)
    void drain(key, created)
  }

  async function drain(key: string, queue: PartitionQueue): Promise<void> {
    await Promise.resolve() // Lets the calls of this turn travel together.
    while (queue.waiting.length > 0) {
      const batch = queue.waiting.splice(
        0,
        batchLength(queue.waiting.slice(0, BATCH_RECORDS_MAX).map(({ record }) => record)),
      )
      const inTime = batch.filter(isInTime)
      if (inTime.length > 0) await sendBatch(queue, inTime)
    }
    queues.delete(key)
  }

  async function sendBatch(queue: PartitionQueue, batch: readonly Pending[]): Promise<void> {
    const sent = await tryUntilLate(batch, queue.topic, () => send(queue, batch))
    if (sent.kind === 'done') {
      batch.forEach(({ settle }, index) =>
        settle({ kind: 'acknowledged', partition: queue.partition, offset: sent.value + index }),
      )
    } else if (sent.result.kind === 'refused' && sent.result.code !== 'NOT_AUTHORIZED' && batch.length > 1) {
      // One record may be to blame for the refusal of all.
      for (const one of batch) await sendBatch(queue, [one])
    } else {
      const others = givenUp(batch, sent.result)
      if (others.length > 0) await sendBatch(queue, others)
    }
  }

  /** Answers the offset of the batch's first record. */
  async function send({ topic, partition }: PartitionQueue, batch: readonly Pending[]): Promise<number> {
    const leader = await connection.leader({ topic, partition })
    if (leader === undefined) throw new Error(`topic ${topic} has no leader for partition ${partition} now`)
    const messages = batch.map(({ record: { key, value, headers } }) => ({ key, value, headers }))
    const { topics } = await leader.produce({
      acks: -1,
      timeout: ACKNOWLEDGE_TIMEOUT_MS,
      topicData: [{ topic, partitions: [{ partition, messages }] }],
    })
    const written = topics
      .find(({ topicName }) => topicName === topic)
      ?.partitions.find((one) => one.partition === partition)
    if (written?.errorCode !== 0) throw new Error(`the broker's answer does not cover ${topic}/${partition}`)
    return Number(written.baseOffset)
  }

  /** Gives up when the first of the records is to be given up. */
  async function tryUntilLate<Result>(
    pending: readonly Pending[],
    topic: string,
    work: () => Promise<Result>,
  ): Promise<Tried<Result>> {
    for (let delayMs = RETRY_DELAY_MS.first; ; delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS.last)) {
      try {
        return { kind: 'done', value: await work() }
      } catch (error) {
        connection.forget(topic)
        const refused = refusal(error, topic)
        if (refused !== undefined) return { kind: 'failed', result: refused }
        const missing = brokerErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION'
        const since = pending[0]?.since ?? 0
        const until = Math.min(...pending.map((each) => each.until))
        if (Date.now() + delayMs > (missing ? Math.min(until, since + TRY_MISSING_TOPIC_FOR_MS) : until)) {
          if (!missing) return { kind: 'failed', result: unavailable(error) }
          const message = `topic ${topic} does not exist`
          return { kind: 'failed', result: { kind: 'unavailable', message, isMissing: true } }
        }
      }
      await sleep(delayMs)
    }
  }

  return {
    produce,
    async close() {
      closed = true
      if (unsettled > 0) await closing.promise
      await connection.close()
    },
  }
}

type Tried<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly result: ProduceResult & { readonly kind: 'refused' | 'unavailable' } }

function refusal(error: unknown, topic: string): (ProduceResult & { readonly kind: 'refused' }) | undefined {
  const type = brokerErrorType(error)
  if (type !== undefined && TOO_LARGE.includes(type)) {
    const message = `the record is larger than topic ${topic} allows (max.message.bytes)`
    return { kind: 'refused', code: 'RECORD_TOO_LARGE', message }
  }
  if (isNotAuthorized(error)) {
    const { name, message } = rootCause(error)
    if (name === 'KafkaJSSASLAuthenticationError') return { kind: 'refused', code: 'NOT_AUTHORIZED', message }
    return { kind: 'refused', code: 'NOT_AUTHORIZED', message: `not authorized to write to topic ${topic}` }
  }
  if (isRetriable(error)) return undefined
  return {
    kind: 'refused',
    code: 'INVALID',
    message: `topic ${topic} does not take the record: ${errorMessage(error)}`,
  }
}

function unavailable(error: unknown): ProduceResult & { readonly kind: 'unavailable' } {
  const { name, type, code, message } = rootCause(error)
  const result = { kind: 'unavailable', message } as const
  if (name === 'KafkaJSRequestTimeoutError' || type === 'REQUEST_TIMED_OUT' || message === 'Connection timeout') {
    return { ...result, because: 'time-out' }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { ...result, because: 'name' }
  return type?.startsWith('NOT_ENOUGH_REPLICAS') === true ? { ...result, because: 'replicas' } : result
}

/** One whose time was over before it could be sent is told so: whoever named the time does not count on it any more. */
function isInTime({ isStrict, until, settle }: Pending): boolean {
  if (!isStrict || Date.now() <= until) return true
  settle({ kind: 'unavailable', message: 'it could not be sent in time', because: 'time-out' })
  return false
}

/** Tells each record whose time is over; what passes by itself leaves the others to be tried further. */
function givenUp(
  pending: readonly Pending[],
  result: ProduceResult & { readonly kind: 'refused' | 'unavailable' },
): readonly Pending[] {
  const isForAll = result.kind === 'refused' || result.isMissing === true
  const now = Date.now() + RETRY_DELAY_MS.last
  const isOver = ({ until }: Pending) => isForAll || until <= now
  for (const each of pending) if (isOver(each)) each.settle(result)
  return pending.filter((each) => !isOver(each))
}

/** Kafka's rule: the partition that was named, else the key's hash, else chance. */
export function partitionOf(record: OutgoingRecord, partitionCount: number): number {
  if (record.partition !== undefined) return record.partition
  if (record.key !== null) return (murmur2(record.key) & 0x7fffffff) % partitionCount
  return Math.floor(Math.random() * partitionCount)
}

function queueKey(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
