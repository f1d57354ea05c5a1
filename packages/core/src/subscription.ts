import type { BatchLimits } from './batch.ts'
import type { BlobTarget } from './dead-letter-blob.ts'
import type { DeadLetterTarget } from './dead-letter-target.ts'
import type { InputSchemaMapping } from './custom-event.ts'
import type { DeliveryAttribute } from './delivery-attributes.ts'
import type { Filter } from './filter.ts'
import type { HandshakeForm } from './handshake-form.ts'
import type { KafkaRecordInput } from './kafka-record-event.ts'
import type { ProbationPolicy } from './probation-policy.ts'
import type { Rate } from './rate.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Transform } from './transform.ts'
import type { DeliverySchema, EventInput, Notation } from './schemas.ts'

/** A subscription as the services work with it: everything resolved, every duration in (scaled) milliseconds. */
export interface Subscription {
  readonly id: string
  /** Time of creation in ms since the epoch: which life of this id. */
  readonly generation: number
  /** 1, 2 … within a generation. */
  readonly revision: number
  /** By whom it was created paused; absent when it was not. */
  readonly createdPausedBy?: string
  readonly topics: readonly string[]
  readonly sink: string
  /** Where a new subscription starts, per topic and partition; partitions that are not named start at their beginning. */
  readonly startOffsets: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** What the source topics carry. */
  readonly input: EventInput
  /** With `input: custom`. */
  readonly inputSchemaMapping: InputSchemaMapping
  /** With `input: kafka-record`. */
  readonly kafkaRecord?: KafkaRecordInput
  /** Exact CloudEvents types; empty for all. */
  readonly types: readonly string[]
  readonly filters: readonly Filter[]
  /** Of one attempt. */
  readonly timeoutMs: number
  /** What it was written in; decides arrays, `aeg-` headers and `DestinationInvalid`. */
  readonly notation: Notation
  readonly schema: DeliverySchema
  readonly mode: 'binary' | 'structured'
  /** On every request, besides those that Barnabas sets. */
  readonly headers: readonly DeliveryAttribute[]
  /** How parts of its requests are made; absent when they are as ever. */
  readonly transform?: Transform
  /** Attempts in flight, per process. */
  readonly concurrency: number
  /** Of requests, over all processes; null for any. What its receiver allows may be lower (`rateToKeep`). */
  readonly rate: Rate | null
  /** How many events share a request. */
  readonly batch: BatchLimits
  readonly retry: RetryPolicy
  /** Stop at an event whose retries are exhausted; absent: go on without it. */
  readonly faultTolerance?: 'prohibited'
  /** What of it is delivered one after the other; absent: nothing. */
  readonly order?: 'key' | 'partition'
  /** How its receiver is asked before any event is sent. */
  readonly handshake: HandshakeForm
  /** When its endpoint is left to rest; null for never. */
  readonly probation: ProbationPolicy | null
  readonly deadLetter: {
    readonly topic: string
    readonly responseBody: boolean
    /** Where the dead-letter service writes them too. */
    readonly blob?: BlobTarget
    /** Where the dead-letter service carries them to. */
    readonly target?: DeadLetterTarget
  } | null
}

/** What of a subscription decides how the request for its events looks; any subscription is one. */
export type RequestShape = Pick<
  Subscription,
  'id' | 'notation' | 'schema' | 'mode' | 'headers' | 'handshake' | 'transform'
>
