import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writeEventBridge } from './eventbridge-writing.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { ReadSubscription } from './parse-subscription.ts'
import { sameSubscription } from './same-subscription.ts'

const brokers = ['kafka-1.example.com:9092', 'kafka-2.example.com:9092']
const clusters = new Map([['audit', { brokers: ['audit-1.example.com:9092', 'audit-2.example.com:9092'] }]])
const known = { brokers, clusters }
const unknown = { brokers: null, clusters: null }
const samples = new URL('../samples/eventbridge/', import.meta.url)
const accepted = readdirSync(samples).filter((file) => !file.startsWith('refused-'))

function read(document: unknown): ReadSubscription {
  const parsed = parseSubscription(document, { ...known })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  return parsed
}

test.each(accepted)('%s is written back as what it means', (file) => {
  const subscription = read(JSON.parse(readFileSync(new URL(file, samples), 'utf8')))
  const { document } = writeEventBridge(subscription, 3, known)
  expect(sameSubscription(read(document), subscription)).toBe(true)
  expect(document['revision']).toBe(3)
})

test('what EventBridge can say is said in its words alone', () => {
  const text = readFileSync(new URL('kafka-to-https.json', samples), 'utf8')
  const { document, notes } = writeEventBridge(read(JSON.parse(text)), null, known)
  expect(document).toEqual({
    EventStreamingName: 'orders-to-billing',
    FilterPattern: '{}',
    Source: {
      SourceKafkaParameters: {
        InstanceId: 'alikafka_post-cn-9hdsbdhd0001',
        Topic: 'orders',
        ValueDataType: 'JSON',
        OffsetReset: 'earliest',
      },
    },
    Sink: {
      SinkHttpsParameters: {
        URL: { Form: 'CONSTANT', Value: 'https://billing.example.com/hook' },
        Body: { Form: 'ORIGINAL' },
      },
    },
    RunOptions: {
      MaximumTasks: 1,
      ErrorsTolerance: 'ALL',
      RetryStrategy: {
        PushRetryStrategy: 'BACKOFF_RETRY',
        MaximumRetryAttempts: 3,
        MaximumEventAgeInSeconds: 600,
      },
      BatchWindow: { CountBasedWindow: 1 },
    },
    deadLetter: { topic: 'orders-dead' },
  })
  expect(notes).toEqual([expect.stringContaining('no word for what stands in deadLetter')])
})

const body = { form: 'TEMPLATE', value: { who: '$.data.who' }, template: '{"text":"${who}"}' }
const least = { id: 'a', topics: ['orders'], sink: 'https://example.com/' }
test.each<[what: string, fields: object]>([
  ['the least', {}],
  ['several topics', { topics: ['a', 'b'] }],
  ['another input', { input: 'custom', schema: 'EventGridSchema', inputSchemaMapping: { id: { sourceField: 'k' } } }],
  ['Kafka records', { input: 'kafka-record', kafkaRecord: { valueType: 'binary', instance: 'i-1' } }],
  ['Kafka records in binary mode', { input: 'kafka-record', notation: 'eventbridge', mode: 'binary' }],
  ['a Kafka topic', { sink: 'kafka:copies' }],
  ['a topic of a cluster', { sink: 'kafka://audit/copies', mode: 'structured', deadLetter: 'none' }],
  [
    'a record that is transformed',
    {
      sink: 'kafka:copies',
      transform: {
        key: { form: 'JSONPATH', value: '$.data.key' },
        value: body,
        headers: { form: 'CONSTANT', value: '{"X-A":"b"}' },
      },
    },
  ],
  ['a target of dead letters', { deadLetter: { target: 'kafka://audit/letters', responseBody: false } }],
  ['an ARN as target', { deadLetter: { target: 'acs:alikafka:cn-a:1:instance/audit/topic/letters' } }],
  ['another schedule', { retry: { schedule: ['1s', '5m'], neverOn: [400] } }],
  ['a schedule of its own with fractions', { retry: { schedule: 'backoff', timeToLive: '1500ms' } }],
  ['half a retry', { retry: { maxAttempts: 3 } }],
  ['Event Grid', { notation: 'event-grid', mode: 'structured', deadLetter: 'none', handshake: 'cloudevents' }],
  ['filters', { types: ['t'], filters: [{ exact: { source: '/s' } }] }],
  ['a pattern beside another filter', { filters: [{ pattern: { source: ['s'] } }, { exact: { source: '/s' } }] }],
  ['a pattern', { filters: [{ pattern: { source: ['s', null, 7] } }] }],
  ['a batch in windows', { batch: { maxEvents: 10_000, window: '15s' }, mode: 'structured' }],
  ['a window of less than a second', { batch: { maxEvents: 10, window: '500ms' }, mode: 'structured' }],
  ['a batch', { batch: { maxEvents: 100, preferredSize: '1MB' }, mode: 'structured' }],
  [
    'transforms',
    { sink: 'https://example.com/x', transform: { body, headers: { form: 'CONSTANT', value: '{"X-A":"b"}' } } },
  ],
  [
    'a transform of the URL',
    { transform: { url: { form: 'TEMPLATE', value: { r: '$.id' }, template: 'https://example.com/${r}' } } },
  ],
  ['a URL that events choose', { transform: { url: { form: 'JSONPATH', value: '$.data.url' } } }],
  [
    'everything else',
    { headers: { 'X-Team': 'b', 'X-Key': { secret: 'K' } }, timeout: '5s', concurrency: 7, from: 'earliest' },
  ],
])('%s, in our own notation, stands beside what EventBridge has no word for', (_what, fields) => {
  const subscription = read({ ...least, ...fields })
  const { document } = writeEventBridge(subscription, null, unknown)
  expect(sameSubscription(read(document), subscription)).toBe(true)
})

test('secrets of the URL are masked', () => {
  const { document, notes } = writeEventBridge(
    read({ ...least, sink: 'https://example.com/?code=hunter2' }),
    null,
    unknown,
  )
  expect(JSON.stringify(document)).not.toContain('hunter2')
  const url = { form: 'TEMPLATE', value: {}, template: 'https://example.com/a' }
  const beside = { ...least, sink: 'https://example.com/?code=hunter2', transform: { url, body } }
  expect(JSON.stringify(writeEventBridge(read(beside), null, unknown))).not.toContain('hunter2')
  expect(notes.join()).toContain('URL: its query is masked with ***')
})

test('a Kafka sink is said in its words alone, with the brokers of its cluster', () => {
  const document = {
    EventStreamingName: 'copies',
    Source: { SourceApacheKafkaParameters: { Bootstraps: brokers.join(','), Topic: 'orders', ValueDataType: 'JSON' } },
    Sink: {
      SinkApacheKafkaParameters: {
        Bootstraps: 'audit-1.example.com:9092,audit-2.example.com:9092',
        Topic: 'copies',
        Key: { Form: 'JSONPATH', Value: '$.data.key' },
      },
    },
    RunOptions: { ErrorsTolerance: 'ALL', RetryStrategy: { PushRetryStrategy: 'BACKOFF_RETRY' } },
  }
  const subscription = read(document)
  expect(subscription.subscription.sink).toBe('kafka://audit/copies')
  expect(writeEventBridge(subscription, null, known)).toEqual({
    document: { ...document, FilterPattern: '{}' },
    notes: [],
  })
})

test('B7: a topic of another instance for dead letters is said in its words', () => {
  const Arn = 'acs:alikafka:cn-hangzhou:1:instance/audit/topic/letters'
  const { document } = writeEventBridge(read({ ...least, deadLetter: { target: Arn } }), null, known)
  expect(document['RunOptions']).toMatchObject({ DeadLetterQueue: { Arn } })
  expect(document['deadLetter']).toBeUndefined()
})
