import { binaryData, decodeEvent, decodeInput } from '@barnabas/core'
import { expect, test } from 'vitest'
import { eventId, eventRecord, problemOfOrder } from './event-records.ts'

const order = {
  topic: 'orders',
  input: 'cloudevents',
  type: 't',
  source: '/s',
  subject: null,
  id: 'i',
  key: null,
  data: null,
  count: 1,
} as const
const now = Date.parse('2026-01-02T03:04:05.678Z')

test('what is sent reads as a CloudEvent whose data are the bytes that were given', () => {
  const bytes = Buffer.from('{"amount": 1.0,\n "amount": 9007199254740993}')
  const record = eventRecord({ ...order, key: 'k', data: { bytes, contentType: 'application/json' } }, 1, now)
  const decoded = decodeEvent(record)
  expect(record.key?.toString()).toBe('k')
  expect(decoded.kind === 'event' && Object.fromEntries(decoded.event.attributes)).toEqual({
    specversion: '1.0',
    id: 'i',
    source: '/s',
    type: 't',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
  })
  expect(decoded.kind === 'event' && binaryData(decoded.event).body).toEqual(bytes)
})

test('an event without data has an empty value, which deletes nothing, and no content type', () => {
  const record = eventRecord(order, 1, now)
  expect(record.value).toEqual(Buffer.alloc(0))
  expect(record.key).toBeNull()
  expect(record.headers).not.toHaveProperty('content-type')
})

test("an event in Event Grid's schema is read as one, with the data as they were given", () => {
  const bytes = Buffer.from('{"amount": 9007199254740993}')
  const eventGrid = { ...order, input: 'event-grid' } as const
  const record = eventRecord({ ...eventGrid, count: 2, data: { bytes, contentType: 'application/json' } }, 2, now)
  expect(record.value?.toString()).toBe(
    `{"id":"i-2","topic":"/s","subject":"","eventType":"t","eventTime":"2026-01-02T03:04:05.678Z","dataVersion":"1.0","data":${bytes.toString()}}`,
  )
  const input = { input: 'event-grid', inputSchemaMapping: {} } as const
  const read = (of: typeof record) => decodeInput(input, of, { topic: 'orders', partition: 0, offset: 0 }, now)
  for (const each of [record, eventRecord(eventGrid, 1, now)]) expect(read(each)).toMatchObject({ kind: 'event' })
})

test.each([
  [{ type: '' }, 'eventType'],
  [{ data: { bytes: Buffer.from('\u0000'), contentType: 'application/octet-stream' } }, 'JSON'],
  [{ data: { bytes: Buffer.from('1,"id":"another"'), contentType: 'application/json' } }, 'JSON'],
])("%j is no event in Event Grid's schema: %s", (change, named) => {
  expect(problemOfOrder({ ...order, input: 'event-grid', ...change })).toContain(named)
})

test.each(['cloudevents', 'event-grid'] as const)('a subject goes along, of %s', (input) => {
  const record = eventRecord({ ...order, input, subject: '/orders/7' }, 1, now)
  const read = decodeInput({ input, inputSchemaMapping: {} }, record, { topic: 'orders', partition: 0, offset: 0 }, now)
  expect(read.kind === 'event' && read.event.attributes.get('subject')).toBe('/orders/7')
})

test('one event has the id that was given; several have numbers behind it', () => {
  expect(eventId({ id: 'i', count: 1 }, 1)).toBe('i')
  expect([1, 2, 3].map((eventNumber) => eventId({ id: 'i', count: 3 }, eventNumber))).toEqual(['i-1', 'i-2', 'i-3'])
})

test.each([
  [{ type: '' }, 'attribute `type` is empty'],
  [{ source: '' }, 'attribute `source` is empty'],
  [{ id: '' }, 'attribute `id` is empty'],
  [{ id: '\u{1f600} ü \u0001' }, null],
  [{}, null],
])('%j: %s', (change, problem) => {
  expect(problemOfOrder({ ...order, ...change })).toBe(problem)
})
