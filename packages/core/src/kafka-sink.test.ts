import { expect, test } from 'vitest'
import { destinationForDisplay } from './destination.ts'
import { kafkaSinkOf } from './kafka-sink.ts'
import { parseSubscription } from './parse-subscription.ts'

const least = { id: 'copies', topics: ['orders'], sink: 'kafka:copies' }

test.each([
  ['kafka:copies', { cluster: null, topic: 'copies' }],
  ['kafka:barnabas-orders.v2_x', { cluster: null, topic: 'barnabas-orders.v2_x' }],
  ['kafka://audit/copies', { cluster: 'audit', topic: 'copies' }],
  ['kafka://alikafka_post-cn-X/orders', { cluster: 'alikafka_post-cn-X', topic: 'orders' }],
  // A topic of the same name on another cluster is another one.
  ['kafka://audit/orders', { cluster: 'audit', topic: 'orders' }],
])('%s is a Kafka topic', (sink, expected) => {
  expect(parseSubscription({ ...least, sink })).toMatchObject({ kind: 'valid', subscription: { sink }, warnings: [] })
  expect(kafkaSinkOf(sink)).toEqual(expected)
  expect(destinationForDisplay(sink)).toBe(sink)
})

test('dead letters and messages show a topic with all of its name', () => {
  expect(destinationForDisplay('kafka://audit/a-topic-with-a-rather-long-name')).toBe(
    'kafka://audit/a-topic-with-a-rather-long-name',
  )
  expect(kafkaSinkOf('https://example.com/kafka:x')).toBe(null)
})

test.each<[change: object, message: string | RegExp]>([
  [{ sink: 'kafka:' }, 'sink: "" is not a topic: it is empty'],
  [{ sink: 'kafka:a b' }, 'sink: "a b" is not a topic: it may only contain letters, digits, ".", "_" and "-"'],
  [{ sink: 'kafka:/orders' }, /^sink: "\/orders" is not a topic/],
  [{ sink: `kafka:${'a'.repeat(250)}` }, /is not a topic: it is longer than 249 characters$/],
  [{ sink: 'kafka:..' }, /is not allowed by Kafka/],
  [{ sink: 'kafka://' }, /^sink: "" is not the name of a cluster; write kafka:\/\/<cluster>\/<topic> with a name that/],
  [{ sink: 'kafka://audit' }, 'sink: "" is not a topic: it is empty'],
  [{ sink: 'kafka://audit/' }, 'sink: "" is not a topic: it is empty'],
  [{ sink: 'kafka://audit/a/b' }, /^sink: "a\/b" is not a topic/],
  [{ sink: 'kafka://audit/a?acks=1' }, /^sink: "a\?acks=1" is not a topic/],
  [{ sink: 'kafka://one:9092/a' }, /^sink: "one:9092" is not the name of a cluster/],
  [{ sink: 'kafka://u:hunter2@audit/a' }, /^sink: user name and password may not stand in the URL/],
  [{ sink: 'Kafka:copies' }, /^sink: "Kafka:copies" is not an http\(s\) URL/],
  [
    { sink: 'kafka:orders' },
    'sink: "orders" is read by this subscription, which would deliver to itself for ever; name another topic',
  ],
  [{ sink: 'kafka:barnabas.retry.1m' }, `sink: "barnabas.retry.1m" is one of Barnabas's own topics; name another`],
  [{ sink: 'kafka:barnabas.dead-letter' }, /is one of Barnabas's own topics/],
  [
    { notation: 'event-grid' },
    /^sink: a Kafka topic is not possible with notation: event-grid, which knows webhooks alone/,
  ],
  [{ notation: 'event-grid-kubernetes' }, /^sink: a Kafka topic is not possible with notation: event-grid-kubernetes/],
  [
    { input: 'event-grid', schema: 'EventGridSchema' },
    /^schema: EventGridSchema is not possible with a Kafka topic as sink/,
  ],
  [{ handshake: 'cloudevents' }, /^handshake: is for webhooks/],
  [{ endpoint: 'azure' }, /^endpoint: is for HTTP/],
  [{ batch: { maxEvents: 2 } }, /^batch: is for webhooks; each event becomes a record of its own/],
  [{ batch: { preferredSize: '64KB' } }, /^batch: is for webhooks/],
  [{ batch: { window: '5s' } }, /^batch: is for webhooks/],
  [{ batch: { maxEvents: 1, window: '5s' } }, /^batch: is for webhooks/],
  [{ headers: { ce_id: 'x' } }, /^headers\.ce_id: is reserved/],
  [
    { transform: { body: { form: 'ORIGINAL' } } },
    /^transform\.body: is for http\(s\) sinks, and this one is a Kafka topic; write value$/,
  ],
  [{ transform: { url: { form: 'CONSTANT', value: 'x' } } }, /^transform\.url: is for http\(s\) sinks/],
])('%j is refused', (change, message) => {
  const read = parseSubscription({ ...least, ...change })
  const messages = read.kind === 'invalid' ? read.problems.map((each) => each.message) : []
  expect(messages).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)])
  expect(messages.join()).not.toContain('hunter2')
})

test('what is the default of a webhook may be written', () => {
  const defaults = { batch: { maxEvents: 1 }, handshake: 'none', endpoint: 'webhook', schema: 'CloudEventSchemaV1_0' }
  expect(parseSubscription({ ...least, ...defaults })).toMatchObject({ kind: 'valid' })
})
