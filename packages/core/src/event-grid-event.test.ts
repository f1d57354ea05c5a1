import { expect, test } from 'vitest'
import { binaryData } from './event-data.ts'
import { decodeEventGridEvent } from './event-grid-event.ts'
import type { ForeignEvent } from './event.ts'
import { eventJson } from './event-json.ts'

const data = '{"url": "https://example.com/a.jpg", "n": 9007199254740993, "one": 1.0, "twice": 1, "twice": 2}'
const whole =
  '{"topic":"/subscriptions/1/storage","subject":"/blobs/a.jpg","eventType":"Microsoft.Storage.BlobCreated",' +
  `"eventTime":"2018-06-26T18:41:00.9584103Z","id":"831e1650","data": ${data} ,"dataVersion":"","metadataVersion":"1"}`

function read(json: string | Buffer | null): ForeignEvent {
  const decoded = decodeEventGridEvent(json === null ? null : Buffer.from(json), 'orders')
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

/** A whole event but for what is named; undefined leaves a member out. */
function changed(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(JSON.parse(whole) as object), ...members })
}

test("A15: an event in Event Grid's schema is an event by its CloudEvents names too", () => {
  const event = read(whole)
  expect(Object.fromEntries(event.attributes)).toEqual({
    specversion: '1.0',
    id: '831e1650',
    source: '/subscriptions/1/storage',
    type: 'Microsoft.Storage.BlobCreated',
    subject: '/blobs/a.jpg',
    time: '2018-06-26T18:41:00.9584103Z',
  })
  expect(binaryData(event)).toEqual({ contentType: 'application/json', body: Buffer.from(data) })
})

test('A15: delivered as it came, byte for byte', () => {
  expect(eventJson(read(whole), 'EventGridSchema').toString()).toBe(whole)
  expect(eventJson(read(`[ ${whole}\n]`), 'EventGridSchema').toString()).toBe(whole)
  expect(eventJson(read(`\uFEFF${whole} `), 'EventGridSchema').toString()).toBe(whole)
})

test('A15: as a CloudEvent, with its data as it stands', () => {
  expect(eventJson(read(whole), 'CloudEventSchemaV1_0').toString()).toBe(
    '{"specversion":"1.0","type":"Microsoft.Storage.BlobCreated","source":"/subscriptions/1/storage","id":"831e1650",' +
      '"time":"2018-06-26T18:41:00.9584103Z","subject":"/blobs/a.jpg",' +
      `"data":${data}}`,
  )
})

test.each([
  ['left out', undefined],
  ['null', null],
  ['empty', ''],
])('what Event Grid stamps is stamped when it is %s, and the data stays as it stands', (_what, topic) => {
  const json = changed({ topic, metadataVersion: topic, dataVersion: topic, data: 0 })
  const event = read(json.replace('"data":0', `"data":${data}`))
  expect(event.attributes.get('source')).toBe('orders')
  const delivered = eventJson(event, 'EventGridSchema').toString()
  expect(JSON.parse(delivered)).toMatchObject({
    topic: 'orders',
    metadataVersion: '1',
    dataVersion: '',
    id: '831e1650',
  })
  expect(delivered).toContain(`"data":${data}`)
  for (const name of ['topic', 'metadataVersion', 'dataVersion', 'data']) {
    expect(delivered.match(new RegExp(`"${name}"`, 'g'))).toHaveLength(1)
  }
})

test.each([
  ['metadataVersion', '', '1'],
  ['dataVersion', null, ''],
  ['dataVersion', undefined, ''],
  ['data', undefined, null],
])('A15: an event whose %s alone is %j has it as Azure’s SDKs want it', (name, given, stamped) => {
  const event = read(changed({ [name]: given }))
  const expected = { ...(JSON.parse(whole) as object), [name]: stamped }
  expect(JSON.parse(eventJson(event, 'EventGridSchema').toString())).toEqual(expected)
})

test('what is stamped for the receiver alone hides nothing from filters, and stands beside no other spelling', () => {
  const event = read(changed({ data: undefined, dataVersion: undefined, Data: 1, DATAVERSION: '2' }))
  expect(JSON.parse(eventJson(event, 'EventGridSchema').toString())).toEqual(JSON.parse(event.value.toString()))
  const other = read(changed({ data: undefined, dataVersion: undefined }))
  expect(JSON.parse(other.value.toString())).not.toHaveProperty('data')
  expect(JSON.parse(other.value.toString())).not.toHaveProperty('dataVersion')
})

test('an empty subject and absent data are what they are', () => {
  const event = read(changed({ subject: '', data: undefined, dataVersion: undefined }))
  expect(event.attributes.has('subject')).toBe(false)
  expect(event.attributes.has('dataversion')).toBe(false)
  expect(binaryData(event)).toEqual({ contentType: undefined, body: null })
  expect(JSON.parse(eventJson(event, 'CloudEventSchemaV1_0').toString())).not.toHaveProperty('data')
  expect(JSON.parse(eventJson(read(changed({ data: null })), 'CloudEventSchemaV1_0').toString())).toMatchObject({
    data: null,
  })
})

test('the version of the data is an extension attribute', () => {
  expect(read(changed({ dataVersion: '1.0 ö' })).attributes.get('dataversion')).toBe('1.0 ö')
})

test.each([
  [null, 'the value is empty'],
  ['', 'the value is empty'],
  ['{', 'the value is not JSON: '],
  [Buffer.from([0x7b, 0xff, 0x7d]), 'the value is not UTF-8'],
  ['"text"', 'the value is JSON, but no object'],
  ['null', 'the value is JSON, but no object'],
  ['[]', 'the value is an array of 0; a record carries one event'],
  [`[${whole},${whole}]`, 'the value is an array of 2; a record carries one event'],
  ['[[1]]', 'the value is JSON, but no array of one object'],
  ['{}', "no event in Event Grid's schema: `id` is missing"],
  [changed({ id: undefined }), '`id` is missing'],
  [changed({ id: '' }), '`id` is empty'],
  [changed({ id: 7 }), '`id` is "7", not text'],
  [changed({ eventType: null }), '`eventType` is missing'],
  [changed({ eventType: ['a'] }), '`eventType` is "[\\"a\\"]", not text'],
  [changed({ subject: undefined }), '`subject` is missing'],
  [changed({ eventTime: '' }), '`eventTime` is empty'],
  [changed({ topic: {} }), '`topic` is "{}", not text'],
  [changed({ dataVersion: 1 }), '`dataVersion` is "1", not text'],
  [whole.replace('831e1650', '\\ud800'), '`id` is'],
  ['[{"id":'.repeat(100_000), 'the value is not JSON: '],
])('%.60j is malformed', (json, message) => {
  const decoded = decodeEventGridEvent(json === null ? null : Buffer.from(json), 'orders')
  expect(decoded.kind === 'malformed' ? decoded.message : '').toContain(message)
  if (decoded.kind === 'malformed') expect(decoded.message).not.toMatch(/\n/)
})
