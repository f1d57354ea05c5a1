import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { sameSubscription } from './same-subscription.ts'

const destinations = new Map([
  [
    'billing-api',
    { endpoint: 'https://billing.example.com/hook', headers: { Authorization: { secret: 'BILLING_KEY' } } },
  ],
])
const brokers = ['kafka-1.example.com:9092', 'kafka-2.example.com:9092']

function sample(name: string): Record<string, unknown> {
  const file = new URL(`../samples/eventbridge/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
}

function read(document: unknown) {
  const parsed = parseSubscription(document, { brokers, destinations })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  return parsed
}

function messages(document: unknown): readonly string[] {
  const parsed = parseSubscription(document, { brokers, destinations })
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}

const least = sample('least')
const source = (fields: object) => ({ Source: { SourceKafkaParameters: { Topic: 'orders', ...fields } } })
const apache = (fields: object) => ({ Source: { SourceApacheKafkaParameters: { Topic: 'orders', ...fields } } })
const url = { Form: 'CONSTANT', Value: 'https://billing.example.com/hook' }
const https = (fields: object) => ({ Sink: { SinkHttpsParameters: { URL: url, ...fields } } })
const api = (fields: object) => ({ Sink: { SinkApiDestinationParameters: { Name: 'billing-api', ...fields } } })
const options = (fields: object) => ({ RunOptions: fields })

const ignored = [
  'Source.SourceKafkaParameters: Network, RegionId are ignored; the topic is read from KAFKA_BROKERS',
  'Sink.SinkHttpsParameters: NetworkType is ignored; which private networks may be reached says BARNABAS_ALLOWED_NETWORKS',
]

test('B1: the body of CreateEventStreaming is a subscription', () => {
  const { written, warnings } = read(sample('kafka-to-https'))
  expect(written).toEqual({
    id: 'orders-to-billing',
    topics: ['orders'],
    sink: 'https://billing.example.com/hook',
    from: 'earliest',
    input: 'kafka-record',
    kafkaRecord: { valueType: 'json', instance: 'alikafka_post-cn-9hdsbdhd0001' },
    mode: 'structured',
    concurrency: 1,
    retry: { schedule: 'backoff', maxAttempts: 4, timeToLive: '600s' },
    faultTolerance: 'allowed',
    batch: { maxEvents: 1 },
    notation: 'eventbridge',
    deadLetter: { topic: 'orders-dead' },
  })
  expect(warnings).toEqual(
    ['Description is not kept', ...ignored].map((each): unknown => expect.stringContaining(each)),
  )
})

test('its RPC spelling, with JSON in strings, is the same', () => {
  expect(sameSubscription(read(sample('rpc-spelling')), read(sample('kafka-to-https')))).toBe(true)
})

test.each([
  ['acs:alikafka:cn-hangzhou:1:instance/i-1/topic/letters', { topic: 'letters' }],
  ['acs:alikafka:cn-hangzhou:1:/instances/i-1/topic/letters', { topic: 'letters' }],
  [' Acs:alikafka:cn-hangzhou:1:instance/audit/topic/letters\n', 'audit'],
  ['acs:alikafka:::instance/audit/topic/letters', 'audit'],
])('B7: the DeadLetterQueue %j of a source in the instance i-1', (Arn, expected) => {
  const document = { ...least, ...source({ InstanceId: 'i-1' }), ...options({ DeadLetterQueue: { Arn } }) }
  const { written, subscription } = read(document)
  if (typeof expected === 'object') return expect(written.deadLetter).toEqual(expected)
  expect(written.deadLetter).toEqual({ target: Arn.trim() })
  const target = { kind: 'kafka', connection: expected, resource: 'letters' }
  expect(subscription.deadLetter).toMatchObject({ topic: 'barnabas.dead-letter', target })
})

test('B1, B4, B6: what is not said is BACKOFF_RETRY, ALL and no dead letters, which is warned of', () => {
  const { subscription, written, warnings } = read(least)
  expect(written).toMatchObject({ retry: { schedule: 'backoff' }, deadLetter: 'none', notation: 'eventbridge' })
  expect(subscription).toMatchObject({ retry: { maxAttempts: 4, timeToLiveMs: null }, deadLetter: null })
  expect(subscription.retry.neverOn.size).toBe(0)
  expect(subscription).toMatchObject({ input: 'kafka-record', kafkaRecord: { valueType: 'text', instance: '' } })
  expect(warnings).toEqual([expect.stringContaining('events whose retries are exhausted will be discarded')])
})

test('B2: EXPONENTIAL_DECAY_RETRY with its limits, from self-managed Kafka', () => {
  const { subscription, warnings } = read(sample('apache-kafka-to-https'))
  expect(subscription).toMatchObject({
    topics: ['orders'],
    retry: { schedule: 'exponential-decay', maxAttempts: 3, timeToLiveMs: 1_200_000 },
    batch: { maxEvents: 100 },
    kafkaRecord: { valueType: 'text', instance: '' },
  })
  expect(warnings.join('\n')).toContain(
    'Source.SourceApacheKafkaParameters: SecurityProtocol, SaslMechanism, SaslUser are ignored; how Kafka is reached',
  )
})

test('an answer of GetEventStreaming, with null for what is not there', () => {
  expect(read(sample('answer')).written).toMatchObject({ id: 'orders-to-billing', retry: { schedule: 'backoff' } })
})

test('our own fields stand beside, and win', () => {
  const { written } = read({
    ...least,
    id: 'mine',
    topics: ['a', 'b'],
    timeout: '5s',
    mode: 'binary',
    retry: { neverOn: [400] },
    deadLetter: { responseBody: false },
    kafkaRecord: { valueType: 'json' },
  })
  expect(written).toMatchObject({
    id: 'mine',
    topics: ['a', 'b'],
    timeout: '5s',
    mode: 'binary',
    retry: { schedule: 'backoff', neverOn: [400] },
    deadLetter: { responseBody: false },
    kafkaRecord: { valueType: 'json' },
  })
  const { Sink: _sink, ...withoutSink } = least
  expect(read({ ...withoutSink, sink: 'https://example.com/' }).written.sink).toBe('https://example.com/')
})

test('a filter pattern, and the two that match everything', () => {
  expect(read({ ...least, FilterPattern: '{}' }).written.filters).toBeUndefined()
  expect(read({ ...least, FilterPattern: {} }).written.filters).toBeUndefined()
  expect(read(sample('filtered')).written.filters).toEqual([
    { pattern: { source: ['acs:alikafka'], data: { value: { amount: [{ numeric: ['>', 10] }] } } } },
  ])
  expect(messages({ ...least, FilterPattern: '[1]' })).toEqual([
    expect.stringContaining('FilterPattern: is not a pattern, which is a JSON object such as'),
  ])
  expect(messages({ ...least, FilterPattern: '{"source":' })).toEqual([
    expect.stringContaining('FilterPattern: is text that is not JSON'),
  ])
  expect(messages({ ...least, FilterPattern: '{"source":[{"prefix":1}]}' })[0]).toMatch(/^FilterPattern\.source/)
})

test('transforms of body and URL, as the reference page of the sink has them', () => {
  const Body = { Form: 'TEMPLATE', Template: '{"message":"${message}"}', Value: '{"message":"$.data.message"}' }
  const URL = { Form: 'TEMPLATE', Template: 'https://chat.example.com/rooms/${room}', Value: { room: '$.data.room' } }
  expect(read({ ...least, ...https({ Body, URL }) }).written).toMatchObject({
    sink: 'https://chat.example.com/',
    transform: {
      body: { form: 'TEMPLATE', value: { message: '$.data.message' }, template: '{"message":"${message}"}' },
      url: { form: 'TEMPLATE', value: { room: '$.data.room' }, template: 'https://chat.example.com/rooms/${room}' },
    },
  })
  const path = { Form: 'JSONPATH', Value: '$.data.value' }
  expect(read({ ...least, ...https({ Body: path }) }).written).toMatchObject({
    sink: 'https://billing.example.com/hook',
    transform: { body: { form: 'JSONPATH', value: '$.data.value' } },
  })
  expect(read({ ...least, ...https({ Body: { Form: 'ORIGINAL' } }) }).written.transform).toBeUndefined()
})

test('Throttling is a rate', () => {
  expect(read({ ...least, ...options({ Throttling: 100 }) }).written.rate).toBe('100/s')
})

test('an API destination is an entry of the file, secrets by their names', () => {
  expect(read({ ...least, ...api({ Timeout: 5, BodyParameters: { Form: 'ORIGINAL' } }) }).written).toMatchObject({
    sink: 'https://billing.example.com/hook',
    headers: { Authorization: { secret: 'BILLING_KEY' } },
    timeout: '5s',
  })
  expect(parseSubscription({ ...least, ...api({}) })).toMatchObject({
    problems: [
      { message: expect.stringContaining('BARNABAS_DESTINATIONS_FILE is not set; set it, and write') as string },
    ],
  })
})

test('MaximumRetryAttempts beyond what the strategy makes is never reached', () => {
  const strategy = (fields: object) => read({ ...least, ...options({ RetryStrategy: fields }) })
  const beyond = strategy({ PushRetryStrategy: 'BACKOFF_RETRY', MaximumRetryAttempts: 176 })
  expect(beyond.subscription.retry.maxAttempts).toBe(4)
  expect(beyond.warnings[0]).toContain('176 is never reached; BACKOFF_RETRY ends after 3')
  expect(strategy({ MaximumRetryAttempts: 0 }).subscription.retry.maxAttempts).toBe(1)
  const most = strategy({ PushRetryStrategy: 'EXPONENTIAL_DECAY_RETRY', MaximumRetryAttempts: 176 })
  expect(most.subscription.retry.maxAttempts).toBe(177)
})

test('B4: NONE, and windows of count and time', () => {
  const { written, subscription } = read(sample('prohibited-in-windows'))
  expect(written).toMatchObject({ faultTolerance: 'prohibited', batch: { maxEvents: 10, window: '15s' } })
  expect(subscription).toMatchObject({ faultTolerance: 'prohibited', concurrency: 2 })
  expect(subscription.batch).toEqual({ maxEvents: 10, preferredBytes: 65_536, windowMs: 15_000 })
})

test.each([
  [1, 0, { maxEvents: 1 }],
  [1, 15, { maxEvents: 1 }],
  [10_000, 1, { maxEvents: 10_000, windowMs: 1_000 }],
  [undefined, 0, { maxEvents: 1 }],
  [undefined, 3, { maxEvents: 10, windowMs: 3_000 }],
  [2, undefined, { maxEvents: 2 }],
])('BatchWindow of count %j and time %j is %j', (count, time, batch) => {
  const { subscription } = read({ ...least, ...windows(count, time) })
  expect(subscription.batch).toEqual({ preferredBytes: 65_536, ...batch })
})

const windows = (count: unknown, time: unknown) =>
  options({ BatchWindow: { CountBasedWindow: count, TimeBasedWindow: time } })
const retries = (fields: object) => options({ RetryStrategy: fields })

test.each<[fields: object, message: string]>([
  [{ EventStreamingName: undefined }, 'EventStreamingName: is missing; write it, or add --id ID'],
  [{ EventStreamingName: 'tf_test' }, 'EventStreamingName: "tf_test" is no id: 1–63 lower-case letters'],
  [{ EventStreamingNam: 'x' }, 'EventStreamingNam: is not a field of EventBridge that is known here (did you mean'],
  [{ Source: undefined }, 'Source: is missing; write { "SourceKafkaParameters": { … } }'],
  [{ Source: 7 }, 'Source: is not a mapping of fields to values; write { "SourceKafkaParameters"'],
  [{ Source: '{"SourceKafkaParameters": "hunter2"' }, 'Source: is text that is not JSON'],
  [{ Source: {} }, 'Source: is empty; write { "SourceKafkaParameters": { … } }'],
  [{ Source: { a: 1, b: 2 } }, 'Source: holds "a", "b"; exactly one is possible'],
  [{ Source: { SourceKafka: {} } }, 'Source.SourceKafka: is not a field of EventBridge that is known here'],
  [{ Source: { SourceMNSParameters: {} } }, 'Source.SourceMNSParameters: Simple Message Queue is not read here; let a'],
  [
    { Source: { SourceMySQLParameters: {} } },
    'databases are not read here; let a connector write its events into a Kafka',
  ],
  [source({ Topic: undefined }), 'Source.SourceKafkaParameters.Topic: is missing'],
  [source({ Topic: 'a b' }), 'Source.SourceKafkaParameters.Topic: "a b" is not a topic'],
  [source({ ConsumerGroup: 'mine' }), 'ConsumerGroup: "mine" cannot be joined: the group is named after the id; leave'],
  [source({ OffsetReset: 'newest' }), 'OffsetReset: "newest" is not known; one of latest, earliest'],
  [source({ ValueDataType: 'Avro' }), 'ValueDataType: "Avro" is not known; one of Text, JSON, Binary'],
  [source({ InstanceId: 'a b' }), 'Source.SourceKafkaParameters.InstanceId: "a b" is not the id of an instance'],
  [source({ Bootstraps: 'x:1' }), 'Source.SourceKafkaParameters.Bootstraps: is not a field of EventBridge'],
  [apache({ Bootstraps: 'kafka-1.example.com:9092,other:9092' }), 'Bootstraps: "other:9092" is not in KAFKA_BROKERS'],
  [apache({ SaslPassword: 'hunter2' }), 'take it out, and set KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE'],
  [apache({ SslKeyPassword: 'hunter2' }), 'SslKeyPassword: may not stand here, because everybody who reads topics'],
  [apache({ SslKeystoreKey: { KmsArn: 'x' } }), 'SslKeystoreKey: may not stand here, because everybody'],
  [{ Sink: undefined }, 'Sink: is missing; write { "SinkHttpsParameters": { … } }'],
  [{ Sink: { SinkFcParameters: {} } }, 'functions are not called by name here; give the function an HTTP trigger'],
  [api({ Name: undefined }), 'Sink.SinkApiDestinationParameters.Name: is missing'],
  [
    api({ Name: 'biling-api' }),
    'Name: "biling-api" is not in BARNABAS_DESTINATIONS_FILE (did you mean billing-api?); write',
  ],
  [api({ Timeout: 61 }), 'Sink.SinkApiDestinationParameters.Timeout: 61 is not a whole number from 1 to 60'],
  [
    api({ QueryStringParameters: url }),
    'QueryStringParameters: is not possible here; leave it out, and write the query',
  ],
  [
    { Sink: { SinkKafkaParameters: { Topic: 'orders' } } },
    'Sink.SinkKafkaParameters.Topic: "orders" is read by this subscription, which would deliver to itself',
  ],
  [
    { Sink: { SinkApacheKafkaParameters: { Topic: 'copies', SaslPassword: 'hunter2' } } },
    'Sink.SinkApacheKafkaParameters.SaslPassword: may not stand here',
  ],
  [{ Sink: { SinkKafkaParameters: { Topic: 'c', Acks: '2' } } }, 'Acks: "2" is not known; one of 0, 1, all'],
  [
    { Sink: { SinkKafkaParameters: { Topic: 'c', Key: { Form: 'JSONPATH', Value: 'x' } } } },
    'Sink.SinkKafkaParameters.Key.Value: "x" does not lead to one value',
  ],
  [https({ URL: undefined }), 'Sink.SinkHttpsParameters.URL: is missing'],
  [https({ URL: { Form: 'CONSTANT' } }), 'Sink.SinkHttpsParameters.URL.Value: is missing'],
  [https({ URL: { Form: 'JSONPATH', Value: '$.a' } }), 'URL.Form: JSONPATH would let an event choose who receives it'],
  [https({ URL: { Form: 'TEMPLATE', Template: '${a}' } }), 'URL.Template: does not begin with scheme and host'],
  [
    https({ URL: { Form: 'TEMPLATE', Template: 'https://${a}/' } }),
    'URL.Template: does not begin with scheme and host',
  ],
  [https({ URL: { Form: 'ORIGINAL' } }), 'URL.Form: ORIGINAL is not possible here; only CONSTANT'],
  [https({ URL: { Form: 'CONSTANT', Value: 'ftp://x' } }), 'URL.Value: "ftp://x" is not an http(s) URL'],
  [https({ Method: 'PUT' }), 'Sink.SinkHttpsParameters.Method: "PUT" is not known; one of POST'],
  [https({ Token: 'hunter2' }), 'Token: may not stand here, because everybody who reads topics sees it; take it out'],
  [https({ Body: { Form: 'TEMPLATE' } }), 'Sink.SinkHttpsParameters.Body.Template: is missing'],
  [https({ Body: { Form: 'TEMPLATE', Template: 'x', Value: '[1]' } }), 'Body.Value: is not a JSON object of names and'],
  [https({ Body: { Form: 'TEMPLATE', Template: 'x', Value: '{' } }), 'Body.Value: is text that is not JSON'],
  [
    https({ Body: { Form: 'JSONPATH', Value: '$.a[*]' } }),
    'Sink.SinkHttpsParameters.Body.Value: "$.a[*]" does not lead',
  ],
  [
    https({ Body: { Form: 'TEMPLATE', Template: '${a}', Value: '{"b":"$.b"}' } }),
    'Body.Template: ${a} is not one of its',
  ],
  [https({ Body: 'x' }), 'Sink.SinkHttpsParameters.Body: is not a mapping of fields to values; write { "Form"'],
  [https({ Body: { Form: 'XML' } }), 'Body.Form: "XML" is not known; one of ORIGINAL, CONSTANT, JSONPATH, TEMPLATE'],
  [{ Transforms: [{ Arn: 'acs:fc:x' }] }, 'Transforms: functions between source and sink are not called here'],
  [options({ ErrorsTolerance: 'SOME' }), 'RunOptions.ErrorsTolerance: "SOME" is not known; one of NONE, ALL'],
  [options({ MaximumTasks: 0 }), 'RunOptions.MaximumTasks: 0 is not a whole number from 1 to 10000'],
  [options({ Throttling: 0 }), 'RunOptions.Throttling: 0 is not a whole number from 1 to 1000000'],
  [windows(0, 0), 'RunOptions.BatchWindow.CountBasedWindow: 0 is not a whole number from 1 to 10000'],
  [windows(10_001, 0), 'RunOptions.BatchWindow.CountBasedWindow: 10001 is not a whole number from 1 to 10000'],
  [windows(10, 16), 'RunOptions.BatchWindow.TimeBasedWindow: 16 is not a whole number from 0 to 15'],
  [retries({ PushRetryStrategy: 'EXPONENTIALDECAY_RETRY' }), '(did you mean EXPONENTIAL_DECAY_RETRY?)'],
  [retries({ MaximumRetryAttempts: 177 }), 'MaximumRetryAttempts: 177 is not a whole number from 0 to 176'],
  [retries({ MaximumRetryAttempts: '3' }), 'MaximumRetryAttempts: "3" is not a whole number from 0 to 176'],
  [retries({ MaximumEventAgeInSeconds: 0 }), 'MaximumEventAgeInSeconds: 0 is not a whole number from 1 to 86400'],
  [retries({ MaximumEventAgeInSeconds: 86_401 }), '86401 is not a whole number from 1 to 86400'],
  [options({ DeadLetterQueue: { Network: 'x' } }), 'RunOptions.DeadLetterQueue.Arn: is missing'],
  [
    options({ DeadLetterQueue: { Arn: 'arn:aws:sqs:eu:1:q' } }),
    'names something of AWS, where no dead letters are carried',
  ],
  [
    options({ DeadLetterQueue: { Arn: 'kafka://audit/t' } }),
    '"kafka://audit/t" is no ARN; write deadLetter: { target: kafka://audit/t } beside RunOptions',
  ],
])('%j is refused', (fields, message) => {
  const found = messages({ ...least, ...fields })
  expect(found).toEqual([expect.stringContaining(message)])
  expect(found.join()).not.toContain('hunter2')
})

test.each<[name: string, problems: readonly string[]]>([
  [
    'refused-terraform-mns',
    [
      'Source.SourceMNSParameters: Simple Message Queue is not read here; let a connector',
      'Sink.SinkMNSParameters: Simple Message Queue gets nothing from here; let an HTTP endpoint',
    ],
  ],
  [
    'refused-secrets',
    [
      'Source.SourceApacheKafkaParameters.SaslPassword: may not stand here, because everybody who reads topics sees it',
      'Source.SourceApacheKafkaParameters.SslKeyPassword: may not stand here',
      'Sink.SinkHttpsParameters.Token: may not stand here',
    ],
  ],
  [
    'refused-api-destination',
    ['Sink.SinkApiDestinationParameters.Name: "other-api" is not in BARNABAS_DESTINATIONS_FILE'],
  ],
  [
    'refused-function',
    [
      'Transforms: functions between source and sink are not called here; let the receiver do their work',
      'Sink.SinkFcParameters: functions are not called by name here; give the function an HTTP trigger, and write',
    ],
  ],
])('%s: every reason at once, and no secret in any', (name, problems) => {
  const found = messages(sample(name))
  expect(found).toEqual(problems.map((each): unknown => expect.stringContaining(each)))
  expect(found.join('\n')).not.toContain('hunter2')
})
