import { describe, expect, test } from 'vitest'
import { deadLetterJson, unknownShape } from './dead-letter-json.ts'
import { deadLetterRecords } from './dead-letter.ts'
import type { DeadLetterShape } from './dead-letter-json.ts'
import type { DeadLetter } from './dead-letter.ts'
import type { KafkaRecord, RecordHeaders } from './record.ts'

const state = {
  subscriptionId: 'orders',
  generation: 7,
  source: { topic: 'orders', partition: 3, offset: 41 },
  publishTime: Date.parse('2026-03-01T12:00:00.007Z'),
  attempts: 11,
  firstAttemptTime: Date.parse('2026-03-01T12:00:01.000Z'),
  lastAttemptTime: Date.parse('2026-03-02T12:00:01.250Z'),
  expiryTime: null,
  lastOutcome: 'Busy' as const,
  lastStatus: 503,
  lastError: null,
  redrives: 0,
  hops: 12,
}
const binary = {
  ce_specversion: '1.0',
  ce_id: 'a-1',
  ce_source: '/tests',
  ce_type: 'made',
  'content-type': 'application/json',
}
const known =
  '"deadletterreason":"MaxDeliveryAttemptsExceeded","deliveryattempts":11,"lastdeliveryoutcome":"Busy",' +
  '"publishtime":"2026-03-01T12:00:00.0070000Z","lastdeliveryattempttime":"2026-03-02T12:00:01.2500000Z",' +
  '"lasthttpstatuscode":503'

function recordOf(headers: Record<string, string>, value: Buffer | string | null, more: Partial<DeadLetter> = {}) {
  const original = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
  const [written] = deadLetterRecords({
    topic: 'letters',
    key: null,
    value: typeof value === 'string' ? Buffer.from(value) : value,
    headers: original,
    state,
    reason: 'MaxDeliveryAttemptsExceeded',
    time: 1,
    ...more,
  })
  return { ...written, partition: 0, offset: 5, timestamp: 1_000 } satisfies KafkaRecord
}

const jsonOf = (...given: Parameters<typeof recordOf>) => deadLetterJson(recordOf(...given), unknownShape).toString()

describe('A15: a CloudEvent and what Event Grid adds to it, in lower case', () => {
  test('in binary mode: the data byte for byte, numbers as numbers', () => {
    expect(jsonOf(binary, '{ "n": 1.0, "big": 12345678901234567890 }')).toBe(
      '{"specversion":"1.0","id":"a-1","source":"/tests","type":"made","datacontenttype":"application/json",' +
        `"data":{ "n": 1.0, "big": 12345678901234567890 },${known}}`,
    )
  })

  test('in structured mode: every member byte for byte', () => {
    const headers = { 'content-type': 'application/cloudevents+json' }
    const event = ' { "specversion" : "1.0","id":"a","source":"/s","type":"t","data" : [1.0 , "\\u00e9"] }\n'
    expect(jsonOf(headers, event)).toBe(
      `{"specversion":"1.0","id":"a","source":"/s","type":"t","data":[1.0 , "\\u00e9"],${known}}`,
    )
  })

  test.each([
    ['binary', { ...binary, ce_deadletterreason: 'Old', ce_lasthttpstatuscode: '200' }, '1'],
    [
      'structured',
      {},
      '{"deadletterreason":"Old","lasthttpstatuscode":200,"specversion":"1.0","id":"a-1","source":"/tests","type":"made","data":1}',
    ],
  ])('what a %s event brought along from an earlier dead letter is replaced', (_, headers, value) => {
    const json = jsonOf(headers, value)
    expect(json.match(/deadletterreason/g)).toHaveLength(1)
    expect(JSON.parse(json)).toMatchObject({
      deadletterreason: 'MaxDeliveryAttemptsExceeded',
      lasthttpstatuscode: 503,
      data: 1,
    })
  })

  test('bytes that are no JSON are base64, and no data is none', () => {
    expect(JSON.parse(jsonOf(binary, Buffer.from([0xff, 0])))).toMatchObject({ id: 'a-1', data_base64: '/wA=' })
    expect(JSON.parse(jsonOf(binary, null))).not.toHaveProperty('data')
  })

  test('what is not known is absent', () => {
    const unknown = { ...state, attempts: 0, lastAttemptTime: null, lastOutcome: null, lastStatus: null }
    const event = JSON.parse(jsonOf(binary, '1', { state: unknown, reason: 'SubscriptionDeleted' })) as object
    expect(Object.keys(event)).toEqual([
      'specversion',
      'id',
      'source',
      'type',
      'datacontenttype',
      'data',
      'deadletterreason',
      'deliveryattempts',
      'publishtime',
    ])
  })
})

describe('what is no event gets an envelope', () => {
  const envelope = {
    specversion: '1.0',
    id: '3/41',
    source: '/orders',
    type: 'Barnabas.DamagedEvent',
    time: '2026-03-01T12:00:00.007Z',
    deadletterreason: 'EventMalformed',
  }
  const damaged = { reason: 'EventMalformed' } as const

  test('JSON is its data as it stands', () => {
    const json = jsonOf({}, '{ "id": 1.0 }', damaged)
    expect(json).toContain('"datacontenttype":"application/json","data":{ "id": 1.0 },"deadletterreason"')
    expect(JSON.parse(json)).toMatchObject(envelope)
  })

  test.each([
    ['text', Buffer.from('no json')],
    ['half a JSON object', Buffer.from('{"specversion":"1.0",')],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe])],
    ['JSON behind a byte order mark', Buffer.from('\uFEFF{}')],
  ])('%s is base64', (_, value) => {
    expect(JSON.parse(jsonOf({}, value, damaged))).toMatchObject({
      ...envelope,
      datacontenttype: 'application/octet-stream',
      data_base64: value.toString('base64'),
    })
  })

  test('no value is no data: the position says where the event stands', () => {
    const event = JSON.parse(jsonOf({ 'content-type': 'application/cloudevents+json' }, null, damaged)) as object
    expect(event).toMatchObject(envelope)
    expect(event).not.toHaveProperty('data')
    expect(event).not.toHaveProperty('data_base64')
  })

  test('garbage in every header of ours: the record’s own position, and nothing made up', () => {
    const record = recordOf({}, '[]', damaged)
    const headers: RecordHeaders = Object.fromEntries(Object.keys(record.headers).map((name) => [name, null]))
    const event = JSON.parse(deadLetterJson({ ...record, headers }, unknownShape).toString()) as object
    expect(event).toEqual({
      specversion: '1.0',
      id: '0/5',
      source: '/letters',
      type: 'Barnabas.DamagedEvent',
      time: '1970-01-01T00:00:01.000Z',
      datacontenttype: 'application/json',
      data: [],
    })
  })
})

describe('A15: Event Grid’s schema and custom ones', () => {
  const camelCase =
    '"deadLetterReason":"MaxDeliveryAttemptsExceeded","deliveryAttempts":11,"lastDeliveryOutcome":"Busy",' +
    '"publishTime":"2026-03-01T12:00:00.0070000Z","lastDeliveryAttemptTime":"2026-03-02T12:00:01.2500000Z",' +
    '"lastHttpStatusCode":503'
  const eventGrid =
    '{"id":"e-1","topic":"/t","subject":"s","eventType":"made","eventTime":"2026-03-01T12:00:00Z",' +
    '"dataVersion":"2","metadataVersion":"1","data":{ "n": 1.0 }'
  const shaped = (shape: Partial<DeadLetterShape>, value: string | Buffer | null) =>
    deadLetterJson(recordOf({}, value), { ...unknownShape, ...shape }).toString()

  test('an event in Event Grid’s schema has them in its own spelling', () => {
    const shape = { input: 'event-grid', schema: 'EventGridSchema' } as const
    expect(shaped(shape, `${eventGrid},"deadLetterReason":"Old"}`)).toBe(`${eventGrid},${camelCase}}`)
  })

  test('one that is delivered as a CloudEvent is one here too', () => {
    const event = JSON.parse(shaped({ input: 'event-grid', schema: 'CloudEventSchemaV1_0' }, `${eventGrid}}`)) as object
    expect(event).toMatchObject({ specversion: '1.0', id: 'e-1', source: '/t', type: 'made', deliveryattempts: 11 })
    expect(event).not.toHaveProperty('deliveryAttempts')
  })

  test.each(['CustomInputSchema', 'EventGridSchema'] as const)('a custom event is wrapped (%s)', (schema) => {
    const document = '{ "prop1": 5.0, "myEventType": "foo", "deadLetterReason": "its own" }'
    const inputSchemaMapping = { eventType: { sourceField: 'myEventType' }, dataVersion: { defaultValue: '1.0' } }
    const json = shaped({ input: 'custom', inputSchemaMapping, schema }, document)
    expect(json).toContain(`"data":${document},${camelCase}}`)
    expect(JSON.parse(json)).toMatchObject({
      id: 'orders-3-41-1772366400007',
      eventType: 'foo',
      eventTime: '2026-03-01T12:00:00.007Z',
      dataVersion: '1.0',
      metadataVersion: '1',
      topic: 'orders',
      subject: '',
    })
  })

  test.each([
    ['JSON', '{"id":1}', { id: 1 }],
    ['text', 'no json', { base64: 'bm8ganNvbg==' }],
    ['nothing', null, null],
  ])('what is no event gets an envelope in the same spelling: %s', (_, value, data) => {
    expect(JSON.parse(shaped({ input: 'event-grid', schema: 'EventGridSchema' }, value))).toEqual({
      id: '3/41',
      topic: 'orders',
      subject: '',
      eventType: 'Barnabas.DamagedEvent',
      eventTime: '2026-03-01T12:00:00.007Z',
      dataVersion: '',
      metadataVersion: '1',
      data,
      deadLetterReason: 'MaxDeliveryAttemptsExceeded',
      deliveryAttempts: 11,
      lastDeliveryOutcome: 'Busy',
      publishTime: '2026-03-01T12:00:00.0070000Z',
      lastDeliveryAttemptTime: '2026-03-02T12:00:01.2500000Z',
      lastHttpStatusCode: 503,
    })
  })
})
