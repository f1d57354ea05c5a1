import { parseDuration } from './duration.ts'
import type { KnownKafka } from './eventbridge-kafka.ts'
import { translateEventBridge } from './eventbridge-notation.ts'
import { kafkaSinkOf } from './kafka-sink.ts'
import { differences, maskedUrl, withPart } from './notation-writing.ts'
import type { ReadSubscription } from './parse-subscription.ts'
import { isMapping } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

export interface EventBridgeDocument {
  /** A `CreateEventStreaming` body in plain JSON; our own fields that EventBridge has no word for stand beside its own. */
  readonly document: Fields
  /** What a reader has to know: what EventBridge does not understand, and what is masked. */
  readonly notes: readonly string[]
}

/**
 * Writes a subscription in EventBridge's notation, so that `parseSubscription` reads the same again: whatever the
 * notation cannot say stands beside it, in our own words. Secrets of the sink's query are masked (a masked one is
 * refused when it is read).
 */
export function writeEventBridge(
  { subscription, written }: ReadSubscription,
  revision: number | null,
  known: KnownKafka,
): EventBridgeDocument {
  let document: Fields = withPart(
    { EventStreamingName: written.id, FilterPattern: '{}', ...sourceOf(subscription, known.brokers) },
    sinkOf(written.sink, known),
  )
  let read = translated(document, known) ?? {}
  for (const part of expressible(written, subscription)) {
    const candidate = withPart(document, part)
    const translation = translated(candidate, known)
    // What EventBridge refuses stands beside.
    if (translation === null) continue
    document = candidate
    read = translation
  }
  const beside = differences(wantedOf(written, subscription), read)
  const { url, isMasked } = maskedUrl(written.sink)
  const isBeside = beside['sink'] !== undefined
  const URL = { Form: 'CONSTANT', Value: url }
  return {
    document: {
      ...(isMasked && !isBeside ? withPart(document, { Sink: { SinkHttpsParameters: { URL } } }) : document),
      ...beside,
      ...(isBeside ? { sink: url } : {}),
      ...(revision === null ? {} : { revision }),
    },
    notes: notesOf(Object.keys(beside), isMasked),
  }
}

function translated(document: Fields, known: KnownKafka): Fields | null {
  const translation = translateEventBridge(document, { ...known, destinations: null })
  return translation.kind === 'translated' ? translation.fields : null
}

function sourceOf(
  { topics, kafkaRecord }: ReadSubscription['subscription'],
  brokers: readonly string[] | null,
): Fields {
  const [Topic] = topics
  const { instance = '', valueType = 'text' } = kafkaRecord ?? {}
  const ValueDataType = { text: 'Text', json: 'JSON', binary: 'Binary' }[valueType]
  if (instance !== '') return { Source: { SourceKafkaParameters: { InstanceId: instance, Topic, ValueDataType } } }
  const Bootstraps = brokers === null ? {} : { Bootstraps: brokers.join(',') }
  return { Source: { SourceApacheKafkaParameters: { ...Bootstraps, Topic, ValueDataType } } }
}

function sinkOf(sink: string, { clusters }: KnownKafka): Fields {
  const kafka = kafkaSinkOf(sink)
  if (kafka !== null) {
    const { cluster, topic: Topic } = kafka
    const others = cluster === null ? undefined : clusters?.get(cluster)?.brokers
    const Bootstraps = others === undefined ? {} : { Bootstraps: others.join(',') }
    return { Sink: { SinkApacheKafkaParameters: { ...Bootstraps, Topic } } }
  }
  const URL = { Form: 'CONSTANT', Value: sink }
  return { Sink: { SinkHttpsParameters: { URL, Body: { Form: 'ORIGINAL' } } } }
}

/** What can be said in EventBridge's words, in parts of which each is left out where it is refused. */
function expressible(written: Fields, subscription: ReadSubscription['subscription']): readonly Fields[] {
  const { from, filters, concurrency, retry, faultTolerance, batch, rate, transform, deadLetter } = written
  const parts: Fields[] = []
  if (isMapping(transform)) {
    const isKafka = kafkaSinkOf(subscription.sink) !== null
    const sink = isKafka ? 'SinkApacheKafkaParameters' : 'SinkHttpsParameters'
    const names = isKafka ? { key: 'Key', value: 'Value', headers: 'Headers' } : { body: 'Body', url: 'URL' }
    for (const [part, name] of Object.entries(names)) {
      const form = formOf(transform[part])
      if (form !== null) parts.push({ Sink: { [sink]: { [name]: form } } })
    }
  }
  const source = subscription.kafkaRecord?.instance ? 'SourceKafkaParameters' : 'SourceApacheKafkaParameters'
  if (from !== undefined) parts.push({ Source: { [source]: { OffsetReset: from } } })
  const pattern = Array.isArray(filters) && filters.length === 1 ? (filters as readonly unknown[])[0] : undefined
  if (isMapping(pattern) && Object.keys(pattern).join() === 'pattern') {
    parts.push({ FilterPattern: JSON.stringify(pattern['pattern']) })
  }
  if (concurrency !== undefined) parts.push({ RunOptions: { MaximumTasks: concurrency } })
  parts.push({ RunOptions: { ErrorsTolerance: faultTolerance === 'prohibited' ? 'NONE' : 'ALL' } })
  parts.push(...(isMapping(retry) ? retryParts(retry) : []))
  if (isMapping(batch)) {
    const seconds = (parseDuration(batch['window']) ?? 0) / 1_000
    if (batch['maxEvents'] !== undefined) parts.push(batchWindow({ CountBasedWindow: batch['maxEvents'] }))
    if (seconds > 0) parts.push(batchWindow({ TimeBasedWindow: seconds }))
  }
  if (isMapping(deadLetter) && typeof deadLetter['target'] === 'string') {
    parts.push({ RunOptions: { DeadLetterQueue: { Arn: deadLetter['target'] } } })
  }
  const perSecond = typeof rate === 'string' ? /^(\d+)\/s$/.exec(rate)?.[1] : undefined
  if (perSecond !== undefined) parts.push({ RunOptions: { Throttling: Number(perSecond) } })
  return parts
}

/** A transform as EventBridge writes it, which has the values of a template as JSON in a string. */
function formOf(transform: unknown): Fields | null {
  if (!isMapping(transform)) return null
  const { form: Form, value, template } = transform
  const Value = isMapping(value) ? JSON.stringify(value) : value
  return {
    Form,
    ...(Value === undefined ? {} : { Value }),
    ...(template === undefined ? {} : { Template: template }),
  }
}

const strategies: Readonly<Record<string, string>> = {
  backoff: 'BACKOFF_RETRY',
  'exponential-decay': 'EXPONENTIAL_DECAY_RETRY',
}

function retryParts({ schedule, maxAttempts, timeToLive }: Fields): readonly Fields[] {
  const PushRetryStrategy = typeof schedule === 'string' ? strategies[schedule] : undefined
  if (PushRetryStrategy === undefined) return []
  const seconds = (parseDuration(timeToLive) ?? 0) / 1_000
  return [
    { PushRetryStrategy },
    ...(typeof maxAttempts === 'number' ? [{ MaximumRetryAttempts: maxAttempts - 1 }] : []),
    ...(seconds > 0 ? [{ MaximumEventAgeInSeconds: seconds }] : []),
  ].map((RetryStrategy) => ({ RunOptions: { RetryStrategy } }))
}

function batchWindow(BatchWindow: Fields): Fields {
  return { RunOptions: { BatchWindow } }
}

/** What has to come out of the translation, so that it is what was written; where nothing is written, what it means. */
function wantedOf(written: Fields, { input, mode, kafkaRecord, notation }: ReadSubscription['subscription']): Fields {
  const { instance = '', valueType } = kafkaRecord ?? {}
  return {
    input,
    mode,
    notation,
    deadLetter: {},
    ...written,
    kafkaRecord: kafkaRecord === undefined ? 'none' : { valueType, ...(instance === '' ? {} : { instance }) },
    retry: { schedule: 'event-grid', ...(written['retry'] as Fields | undefined) },
  }
}

function notesOf(beside: readonly string[], isMasked: boolean): readonly string[] {
  const notes: string[] = []
  if (beside.length > 0) {
    notes.push(
      `EventBridge has no word for what stands in ${beside.join(', ')}: \`barnabas apply\` reads it, and Alibaba Cloud does not`,
    )
  }
  if (isMasked) {
    notes.push('URL: its query is masked with ***, for it may hold a secret; write it again before you apply this')
  }
  return notes
}
