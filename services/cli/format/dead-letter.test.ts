import { deadLetterRecords } from '@barnabas/core'
import type { RecordHeaders } from '@barnabas/core'
import { expect, test } from 'vitest'
import { readDeadLetter } from '../dead-letter-record.ts'
import type { InputOf } from '../dead-letter-record.ts'
import { deadLetterJson, deadLetterTable, deadLetterText } from './dead-letter.ts'

const time = Date.parse('2026-01-01T00:00:00.000Z')

function letter(value: Buffer | null, headers: RecordHeaders, inputOf: InputOf = () => null) {
  const [{ key, value: written, headers: all }] = deadLetterRecords({
    topic: 'dead',
    key: Buffer.from('k'),
    value,
    headers,
    state: {
      subscriptionId: 'a',
      generation: 5,
      source: { topic: 'orders', partition: 1, offset: 7 },
      publishTime: time,
      attempts: 3,
      firstAttemptTime: time,
      lastAttemptTime: time,
      lastOutcome: 'GenericError',
      lastStatus: 500,
      lastError: 'oops',
    },
    reason: 'MaxDeliveryAttemptsExceeded',
    time,
    destination: 'https://example.com/hook',
    responseBody: Buffer.from('no\u001b[2J'),
  })
  const read = readDeadLetter(
    {
      topic: 'dead',
      partition: 0,
      offset: 4,
      timestamp: time,
      key,
      value: written,
      headers: all,
    },
    inputOf,
  )
  if (read === null) throw new Error('no dead letter')
  return read
}

const binary = {
  ce_specversion: Buffer.from('1.0'),
  ce_id: Buffer.from('i'),
  ce_source: Buffer.from('/s'),
  ce_type: Buffer.from('t'),
  'content-type': Buffer.from('application/json'),
}

test('the list has a line for each', () => {
  expect(deadLetterTable([letter(Buffer.from('{}'), binary)]).split('\n')).toEqual([
    'TIME                      SUBSCRIPTION  REASON                       ATTEMPTS  EVENT TYPE  EVENT ID  POSITION',
    '2026-01-01T00:00:00.000Z  a             MaxDeliveryAttemptsExceeded  3         t           i         dead/0/4',
  ])
})

test('JSON has everything that the record carries', () => {
  expect(
    deadLetterJson(letter(Buffer.from('{"n": 1.0}'), { ...binary, x: [null, Buffer.from([0xff])] })),
  ).toMatchObject({
    position: 'dead/0/4',
    subscription: 'a',
    generation: 5,
    reason: 'MaxDeliveryAttemptsExceeded',
    attempts: 3,
    lastOutcome: 'GenericError',
    lastStatus: 500,
    source: { topic: 'orders', partition: 1, offset: 7 },
    destination: 'https://example.com/hook',
    responseBody: 'no\u001b[2J',
    key: 'k',
    event: { id: 'i', source: '/s', type: 't', deadletterreason: 'MaxDeliveryAttemptsExceeded' },
    headers: { ce_id: 'i', x: [null, { base64: '/w==' }] },
    data: '{"n": 1.0}',
  })
})

test('data of a structured event is its data; bytes that are no text stand as base64', () => {
  const structured = { 'content-type': Buffer.from('application/cloudevents+json') }
  const event = '{"specversion":"1.0","id":"i","source":"/s","type":"t","data":{"n": 1.0}}'
  expect(deadLetterJson(letter(Buffer.from(event), structured))).toMatchObject({ data: '{"n": 1.0}' })
  expect(deadLetterJson(letter(Buffer.from([0xff, 0]), binary))).toMatchObject({ dataBase64: '/wA=' })
  expect(deadLetterJson(letter(null, binary))).toMatchObject({ data: null })
})

const eventGridEvent =
  '{"id":"eg","topic":"/t","subject":"/s","eventType":"paid","eventTime":"2026-01-01T00:00:00Z","metadataVersion":"1","data":{"n": 1.0}}'

test.each([
  [
    { input: 'event-grid', inputSchemaMapping: {} },
    eventGridEvent,
    { id: 'eg', source: '/t', type: 'paid', subject: '/s' },
  ],
  [
    { input: 'custom', inputSchemaMapping: { eventType: { sourceField: 'kind' } } },
    '{"kind":"made","n": 1.0}',
    { id: 'orders-1-7-1767225600000', type: 'made' },
  ],
  [
    { input: 'kafka-record', inputSchemaMapping: {}, kafkaRecord: { valueType: 'json', instance: 'i' } },
    '{"n": 1.0}',
    { id: 'orders-1-7-1767225600000', source: 'acs:alikafka', subject: 'acs:alikafka:i:topic:orders' },
  ],
] as const)('the event is read as %j, and its record shown whole', (input, value, event) => {
  const inputOf: InputOf = (id) => (id === 'a' ? input : null)
  const read = letter(Buffer.from(value), {}, inputOf)
  expect(deadLetterJson(read)).toMatchObject({ event, data: value })
  expect(deadLetterJson(read)).not.toHaveProperty('malformed')
  const text = deadLetterText(read)
  expect(text).toContain(event.id)
  expect(text).toContain(value)
  // Of a subscription that is gone it is not known.
  expect(deadLetterJson(letter(Buffer.from(value), {}))).toMatchObject({ event: null, data: value })
})

test('with kafka-record, what is a CloudEvent already is shown as one', () => {
  const input = { input: 'kafka-record', inputSchemaMapping: {} } as const
  expect(deadLetterJson(letter(Buffer.from('1'), binary, () => input))).toMatchObject({ event: { id: 'i' }, data: '1' })
})

test('what is no event says why, and its value is shown', () => {
  const damaged = letter(Buffer.from('{'), { ce_id: Buffer.from('i') })
  expect(deadLetterJson(damaged)).toMatchObject({ event: null, malformed: expect.stringMatching(/missing/), data: '{' })
  expect(deadLetterTable([damaged]).split('\n')[1]).toContain('  -           -         dead/0/4')
})

test('the text for a person moves no cursor, wherever the bytes stand', () => {
  const text = deadLetterText(letter(Buffer.from('  \u001b[2J'), { ...binary, 'x\u001b': Buffer.from('\u001b[1m') }))
  expect(text).not.toContain('\u001b')
  expect(text).toContain('last outcome   GenericError 500')
  expect(text).toContain('response body\n  no\\u001b[2J')
})

test.each([
  [9_000_000_000_000_000, '9999-12-31T23:59:59.999Z'],
  [-1, '1969-12-31T23:59:59.999Z'],
])('anybody may produce into a dead-letter topic, with a timestamp of %d too', (timestamp, written) => {
  const headers = { ...binary, 'barnabas-dead-letter-reason': Buffer.from('TimeToLiveExceeded') }
  const read = readDeadLetter(
    { topic: 'dead', partition: 0, offset: 4, timestamp, key: null, value: null, headers },
    () => null,
  )
  expect(read?.time).toBe(written)
  expect(deadLetterJson(read!)).toMatchObject({ timestamp: written, time: written })
  expect(deadLetterText(read!)).toContain(written)
})

test('a record without a reason is no dead letter', () => {
  expect(
    readDeadLetter(
      {
        topic: 'dead',
        partition: 0,
        offset: 4,
        timestamp: time,
        key: null,
        value: null,
        headers: binary,
      },
      () => null,
    ),
  ).toBeNull()
})
