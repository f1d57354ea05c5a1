import { kafkaSinkOf, problemOfSecrets, sinkRecord } from '@barnabas/core'
import type { AttemptReport, CloudEvent, FindSecret, RequestShape } from '@barnabas/core'
import type { KafkaClient, Producer } from '@barnabas/kafka'
import { createCuts } from './cuts.ts'
import { problemOfSink } from './problem-of-sink.ts'
import { notAttempted, noRequest, reportOf } from './produce-report.ts'
import type { SinkClient } from './sink-client.ts'

export interface KafkaSenderOptions {
  /** Of an entry of BARNABAS_CLUSTERS_FILE; null for the Kafka that Barnabas works on. */
  readonly clientOf: (cluster: string | null) => SinkClient
  readonly findSecret: FindSecret
  readonly now: () => number
  /** How long `close` waits for a Kafka that does not answer, 1 s by default. */
  readonly closeWithinMs?: number
}

export interface KafkaAttemptOptions {
  /** The sink: `kafka:<topic>` or `kafka://<cluster>/<topic>`. */
  readonly url: string
  readonly shape: RequestShape
  /** Of the record that the event came in. */
  readonly key: Buffer | null
  /** 1 on the first attempt. */
  readonly attemptNumber: number
  /** How long an acknowledgement is awaited. */
  readonly timeoutMs: number
  /** Our own stop: cuts the attempt off (`Canceled`). What is on its way to the broker may be written all the same. */
  readonly signal: AbortSignal
}

export interface KafkaSender {
  /**
   * Writes one record, once, and reports what came of it: delivered when all in-sync replicas have it. Looking for the
   * partition's present leader, for at most 10 s, is part of the attempt. What no retry can mend (no such topic, no right
   * to write, a password that is refused, a cluster that is not known) is no attempt, and is said so (`isNoRequest`, row
   * B3). Several events, which had come together before their subscription had a topic as sink, are taken apart as by a
   * receiver's 413. Never rejects.
   */
  attempt(events: readonly [CloudEvent, ...CloudEvent[]], options: KafkaAttemptOptions): Promise<AttemptReport>
  /** What no retry can mend of a sink, as far as it can be told within `withinMs`; null for nothing, or when nobody answers. */
  problemOf(sink: string, withinMs: number): Promise<string | null>
  /** Closes every connection. What nobody awaits any more is given up. */
  close(): Promise<void>
}

export function createKafkaSender(options: KafkaSenderOptions): KafkaSender {
  const { clientOf, findSecret, now, closeWithinMs = 1_000 } = options
  const producers = new Map<string | null, { readonly kafka: KafkaClient; readonly producer: Producer }>()
  const closing = new Set<Promise<void>>()
  const cuts = createCuts()
  /** By sink: what was wrong with it when an attempt had timed out already. The next one says so. */
  const heardLate = new Map<string, string>()

  function producerOf(cluster: string | null): Producer | string {
    const client = clientOf(cluster)
    if (client.kind === 'unknown') return client.message
    const known = producers.get(cluster)
    if (known?.kafka === client.kafka) return known.producer
    if (known !== undefined) letGo(cluster, known.producer)
    const producer = client.kafka.producer()
    producers.set(cluster, { kafka: client.kafka, producer })
    return producer
  }

  /** A connection that was refused is not tried again with what it knew. */
  function letGo(cluster: string | null, producer: Producer): void {
    if (producers.get(cluster)?.producer === producer) producers.delete(cluster)
    const closed = producer.close().finally(() => closing.delete(closed))
    closing.add(closed)
  }

  async function attempt(
    [event, ...others]: readonly [CloudEvent, ...CloudEvent[]],
    attemptOptions: KafkaAttemptOptions,
  ): Promise<AttemptReport> {
    const { url, shape, timeoutMs, signal } = attemptOptions
    const startedAt = now()
    if (others.length > 0) {
      return { ...notAttempted('PayloadTooLarge', 'a Kafka topic gets one event at a time', startedAt), status: 413 }
    }
    const sink = kafkaSinkOf(url)
    if (sink === null) throw new TypeError('the sink is no Kafka topic')
    const problem = problemOfSecrets(shape.headers, findSecret) ?? heardLate.get(url)
    if (problem !== undefined) {
      heardLate.delete(url)
      return noRequest(problem, startedAt)
    }
    const made = sinkRecord(event, { ...attemptOptions, findSecret })
    if (made.kind === 'impossible') return notAttempted('GenericError', made.message, startedAt)
    if (signal.aborted) return notAttempted('Canceled', 'cut off by our own stop', startedAt)
    const producer = producerOf(sink.cluster)
    if (typeof producer === 'string') return noRequest(producer, startedAt)

    const produced = producer.produce({ topic: sink.topic, ...made.record }, timeoutMs).then((result) => {
      if (result.kind === 'refused' && result.code === 'NOT_AUTHORIZED') letGo(sink.cluster, producer)
      return reportOf(result, sink, { startedAt, endedAt: now() })
    })
    const cut = cuts.of(signal, timeoutMs)
    const first = await Promise.race([produced, cut.happened])
    cut.end()
    if (first === 'stop') return notAttempted('Canceled', 'cut off by our own stop', startedAt, now())
    if (first !== 'time-out') return first
    void produced.then(({ isNoRequest, error }) => {
      if (isNoRequest === true && error !== null) heardLate.set(url, error)
    })
    return notAttempted('TimedOut', `no acknowledgement within ${timeoutMs} ms`, startedAt, startedAt + timeoutMs)
  }

  return {
    attempt,
    problemOf: (sink, withinMs) => problemOfSink(sink, withinMs, clientOf),
    async close() {
      const open = [...producers.values()].map(({ producer }) => producer.close())
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((resolve) => (timer = setTimeout(resolve, closeWithinMs)))
      await Promise.race([Promise.all([...open, ...closing]), late])
      clearTimeout(timer)
    },
  }
}
