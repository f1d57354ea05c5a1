import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

const brokers = ['kafka-1.example.com:9092', 'kafka-2.example.com:9092']
const audit = { brokers: ['audit-1.example.com:9092', 'audit-2.example.com:9092'] }
const clusters = new Map([
  ['audit', audit],
  ['alikafka_post-cn-2', { brokers: ['two.example.com:9092'] }],
])
const least = {
  EventStreamingName: 'copies',
  FilterPattern: '{}',
  Source: { SourceKafkaParameters: { Topic: 'orders' } },
}
const managed = (fields: object) => ({ Sink: { SinkKafkaParameters: { Topic: 'copies', ...fields } } })
const own = (fields: object) => ({ Sink: { SinkApacheKafkaParameters: { Topic: 'copies', ...fields } } })

function read(fields: object) {
  const parsed = parseSubscription({ ...least, ...fields }, { brokers, clusters })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  return parsed
}

test('the sample that copies a topic: the whole event, with the key of its record', () => {
  const file = new URL('../samples/eventbridge/kafka-to-kafka.json', import.meta.url)
  const { written, warnings } = read(JSON.parse(readFileSync(file, 'utf8')) as object)
  expect(written).toMatchObject({
    sink: 'kafka:copies',
    mode: 'structured',
    transform: { key: { form: 'JSONPATH', value: '$.data.key' } },
  })
  expect(written).not.toHaveProperty('batch')
  expect(written).not.toHaveProperty('transform.value')
  expect(warnings).toContainEqual(
    expect.stringContaining('Sink.SinkKafkaParameters: InstanceId is ignored; the topic is one of KAFKA_BROKERS'),
  )
})

test.each<[fields: object, sink: string]>([
  [managed({}), 'kafka:copies'],
  [managed({ Topic: { Form: 'CONSTANT', Value: 'others' } }), 'kafka:others'],
  [managed({ DynamicTopic: { Form: 'CONSTANT', Value: 'others' } }), 'kafka:others'],
  [managed({ InstanceId: 'alikafka_post-cn-1' }), 'kafka:copies'],
  [managed({ InstanceId: 'alikafka_post-cn-2' }), 'kafka://alikafka_post-cn-2/copies'],
  [own({ Bootstraps: 'KAFKA-2.example.com:9092, kafka-1.example.com:9092' }), 'kafka:copies'],
  [own({ Bootstraps: 'audit-2.example.com:9092' }), 'kafka://audit/copies'],
])('%j leads to %s', (fields, sink) => {
  expect(read(fields).written.sink).toBe(sink)
})

test('value and headers are made by their transforms', () => {
  const Value = { Form: 'TEMPLATE', Value: '{"v":"$.data.value"}', Template: '{"order":${v}}' }
  const Headers = { Form: 'CONSTANT', Value: '{"X-Team":"billing"}' }
  expect(read(own({ Value, Headers, Key: { Form: 'CONSTANT', Value: 'k' } })).written.transform).toEqual({
    key: { form: 'CONSTANT', value: 'k' },
    value: { form: 'TEMPLATE', value: { v: '$.data.value' }, template: '{"order":${v}}' },
    headers: { form: 'CONSTANT', value: '{"X-Team":"billing"}' },
  })
})

test.each<[fields: object, warning: string]>([
  [own({ Acks: '1' }), 'Acks: all in-sync replicas are waited for, always'],
  [own({ CompressionType: 'lz4' }), 'CompressionType is ignored'],
  [
    { ...own({}), RunOptions: { BatchWindow: { CountBasedWindow: 100, TimeBasedWindow: 5 } } },
    'RunOptions.BatchWindow: ignored; each event becomes a record of its own',
  ],
])('%j is accepted with a warning', (fields, warning) => {
  expect(read(fields).warnings).toContainEqual(expect.stringContaining(warning))
})

test.each<[fields: object, message: string]>([
  [own({ Bootstraps: 'other:9092' }), 'Bootstraps: "other:9092" is neither in KAFKA_BROKERS, which is kafka-1.example'],
  [own({ Bootstraps: 'audit-1.example.com:9092,other:9092' }), 'nor in BARNABAS_CLUSTERS_FILE; write `NAME: { brokers'],
  [own({ Bootstraps: 'audit-1.example.com:9092', SaslPassword: 'hunter2' }), 'SaslPassword: may not stand here'],
  [own({ Topic: undefined }), 'Sink.SinkApacheKafkaParameters.Topic: is missing'],
  [own({ Topic: 'a b' }), 'Sink.SinkApacheKafkaParameters.Topic: "a b" is not a topic'],
  [own({ DynamicTopic: { Form: 'JSONPATH', Value: '$.type' } }), 'DynamicTopic: "JSONPATH" would let an event choose'],
  [own({ Headers: { Form: 'CONSTANT', Value: 'x' } }), 'Headers.Value: is not a JSON object'],
])('%j is refused', (fields, message) => {
  const parsed = parseSubscription({ ...least, ...fields }, { brokers, clusters })
  const found = parsed.kind === 'invalid' ? parsed.problems.map((each) => each.message) : []
  expect(found).toEqual([expect.stringContaining(message)])
  expect(found.join()).not.toContain('hunter2')
})
