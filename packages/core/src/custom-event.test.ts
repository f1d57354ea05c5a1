import { expect, test } from 'vitest'
import { decodeCustomEvent } from './custom-event.ts'
import type { InputSchemaMapping } from './custom-event.ts'
import type { ForeignEvent } from './event.ts'
import { eventJson } from './event-json.ts'

const record = { topic: 'orders', partition: 3, offset: 42, publishTime: Date.parse('2026-03-01T12:00:00.000Z') }
const json =
  '{"key": "k-1", "kind": "paid", "at": "2026-02-03", "n": 1.0, "big": 9007199254740993, "in": {"side": true}}'

function decode(mapping: InputSchemaMapping, value: string | null = json) {
  return decodeCustomEvent(value === null ? null : Buffer.from(value), mapping, record)
}

function read(mapping: InputSchemaMapping, value = json): ForeignEvent {
  const decoded = decode(mapping, value)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

test('A15: what is mapped comes from the document, and all of it is the data', () => {
  const event = read({
    id: { sourceField: 'key' },
    topic: { sourceField: 'in.side' },
    eventTime: { sourceField: 'at' },
    eventType: { sourceField: 'kind' },
    subject: { sourceField: 'big' },
    dataVersion: { sourceField: 'n', defaultValue: '2' },
  })
  const envelope =
    '{"id":"k-1","topic":"true","subject":"9007199254740993","eventType":"paid","eventTime":"2026-02-03","dataVersion":"1.0","metadataVersion":"1",'
  expect(eventJson(event, 'EventGridSchema').toString()).toBe(`${envelope}"data":${json}}`)
  expect(eventJson(event, 'CloudEventSchemaV1_0').toString()).toBe(
    '{"specversion":"1.0","type":"paid","source":"true","id":"k-1","time":"2026-02-03","subject":"9007199254740993",' +
      `"dataversion":"1.0","data":${json}}`,
  )
  expect(eventJson(event, 'CustomInputSchema').toString()).toBe(json)
})

test('A15: what is not mapped is made of the place and time of the record, the same on every attempt', () => {
  const [first, again] = [read({}), read({})]
  expect(first.envelope).toEqual({
    id: 'orders-3-42-1772366400000',
    topic: 'orders',
    subject: '',
    eventType: 'Custom',
    eventTime: '2026-03-01T12:00:00.000Z',
    dataVersion: '',
    metadataVersion: '1',
  })
  expect(again.envelope).toEqual(first.envelope)
})

test('a time that no retry record can spell makes the same id there', () => {
  const decoded = decodeCustomEvent(Buffer.from('{}'), {}, { ...record, publishTime: Number.MAX_SAFE_INTEGER })
  const retried = decodeCustomEvent(Buffer.from('{}'), {}, { ...record, publishTime: 253_402_300_799_999 })
  expect(decoded).toEqual(retried)
})

test('the default counts where no field is named, and where the document has none', () => {
  const mapping = {
    eventType: { sourceField: 'absent', defaultValue: 'made' },
    subject: { defaultValue: 'all' },
    dataVersion: { sourceField: 'in', defaultValue: '' },
  }
  expect(read(mapping).envelope).toMatchObject({ eventType: 'made', subject: 'all', dataVersion: '' })
})

test('a source alone that the document lacks is made up for id, topic and eventTime, and malformed for the others', () => {
  const absent = { sourceField: 'absent' }
  expect(read({ id: absent, topic: absent, eventTime: absent }).envelope).toMatchObject({
    id: 'orders-3-42-1772366400000',
    topic: 'orders',
    eventTime: '2026-03-01T12:00:00.000Z',
  })
  for (const name of ['eventType', 'subject', 'dataVersion']) {
    expect(decode({ [name]: absent })).toEqual({
      kind: 'malformed',
      message: `no event by inputSchemaMapping: it has no ${name}: \`absent\` is not text, a number or a boolean in the document`,
    })
  }
})

test('a member of that very name counts before a path', () => {
  const document = '{"a.b": "flat", "a": {"b": "nested"}}'
  expect(read({ subject: { sourceField: 'a.b' } }, document).envelope.subject).toBe('flat')
  expect(read({ subject: { sourceField: '$.a.b' } }, document).envelope.subject).toBe('nested')
})

test.each([
  [null, 'the value is empty'],
  ['7', 'the value is JSON, but no object'],
  ['[{},{}]', 'the value is an array of 2; a record carries one event'],
  ['{"kind":""}', 'it has no eventType: `kind` is empty'],
])('%j is malformed', (value, message) => {
  const decoded = decode({ eventType: { sourceField: 'kind' } }, value)
  expect(decoded.kind === 'malformed' ? decoded.message : '').toContain(message)
})
