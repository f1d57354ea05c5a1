/** Retry records read with plain kafkajs and compared with the interface's table of headers, byte for byte. */
import { beforeAll, describe, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('retry-records')
const published = Date.parse('2026-05-04T03:02:01.007Z')
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const decimal = /^(0|[1-9]\d*)$/
const nonUtf8 = Buffer.from([0xff, 0x00, 0xfe, 0x0a])
const structured =
  '{ "specversion":"1.0", "id":"structured", "source":"/tests", "type":"whole", "data":[9007199254740993,1.0] }'

/** As a dead letter that is sent again may look: every header of ours is there already, with nonsense in it. */
const headersOfOthers = {
  'x-text': 'Grüße',
  'x-empty': '',
  'x-null': null,
  'x-bytes': nonUtf8,
  'x-several': ['one', nonUtf8, 'one', ''],
  ['__proto__']: 'a name like any other',
  constructor: 'another one',
  ce_deadletterreason: 'kept as it came',
  ce_deliveryattempts: '77',
  ce_lastdeliveryoutcome: 'kept too',
}
const oldHeadersOfOurs = {
  'barnabas-attempts': '99',
  'barnabas-due-time': '2999-01-01T00:00:00.000Z',
  'barnabas-subscription': ['somebody', 'else'],
  'barnabas-dead-letter-reason': 'Old',
  'barnabas-response-body': 'old',
  'barnabas-anything': 'old',
}

const cleanUp = cleanUpAfterAll()
let receiver: Receiver
let records: FollowedTopics
let topic: string

async function parked(subscription: string, eventId: string, attempts: number): Promise<FollowedRecord> {
  const isIt = (record: FollowedRecord) =>
    header(record, 'barnabas-subscription') === subscription &&
    header(record, 'barnabas-attempts') === String(attempts) &&
    eventIdOf(record) === eventId
  return (await records.until((all) => all.some(isIt))).find(isIt)!
}

const time = (record: FollowedRecord, name: string) => Date.parse(header(record, name)!)
const ownNames = (record: FollowedRecord) =>
  Object.keys(record.headers!)
    .filter((name) => name.startsWith('barnabas-'))
    .toSorted()

beforeAll(async () => {
  receiver = await startReceiver(({ path, attempt }) => {
    if (path === '/reset') return 'reset'
    return attempt < 3 ? { status: 503, body: 'later, please' } : 200
  })
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'orders', 3)
  const tiers = ['now', '1s', '2s', '4s'].map((name) => `${prefix}.retry.${name}`)
  records = await followTopics(plainKafka(), tiers)
  cleanUp(() => records.stop())
  await apply(prefix, [
    {
      id: 'with-time-to-live',
      topics: [topic],
      sink: `${receiver.url}/503`,
      types: ['whole'],
      retry: { schedule: ['500ms', '1s', '2s'], timeToLive: '1h' },
    },
    { id: 'without', topics: [topic], sink: `${receiver.url}/reset`, types: ['whole'], retry: { schedule: ['500ms'] } },
    { id: 'many', topics: [topic], sink: `${receiver.url}/503`, types: ['many'], retry: { schedule: ['400ms', '1s'] } },
  ])
  await produce(plainKafka(), topic, [
    { ...binaryEvent('before', { type: 'nobody’s' }), partition: 2 },
    {
      ...binaryEvent('binary', {
        type: 'whole',
        key: nonUtf8,
        data: Buffer.concat([nonUtf8, Buffer.from('{"number": 9007199254740993}')]),
        headers: { ...headersOfOthers, ...oldHeadersOfOurs },
      }),
      partition: 2,
      timestamp: String(published),
    },
    { ...structuredEvent(structured, { 'x-null': null }), key: 'a key', partition: 1, timestamp: String(published) },
    { ...binaryEvent('no-value', { type: 'whole', data: null }), partition: 0 },
    { ...binaryEvent('empty-value', { type: 'whole', data: '', key: '' }), partition: 0 },
    ...Array.from({ length: 12 }, (_each, index) => binaryEvent(`many-${index}`, { type: 'many' })),
  ])
})

describe('the delivery headers of a retry record', () => {
  test('say everything that is known, in the formats of the table', async () => {
    const [first, second] = [
      await parked('with-time-to-live', 'binary', 1),
      await parked('with-time-to-live', 'binary', 2),
    ]
    for (const record of [first, second]) {
      expect(ownNames(record)).toEqual([
        'barnabas-attempts',
        'barnabas-due-time',
        'barnabas-expiry-time',
        'barnabas-first-attempt-time',
        'barnabas-hops',
        'barnabas-last-attempt-time',
        'barnabas-last-error',
        'barnabas-last-outcome',
        'barnabas-last-status',
        'barnabas-publish-time',
        'barnabas-source-offset',
        'barnabas-source-partition',
        'barnabas-source-topic',
        'barnabas-subscription',
        'barnabas-subscription-generation',
      ])
      for (const name of ownNames(record)) {
        // Never doubled: one value each.
        expect(Buffer.isBuffer(record.headers![name])).toBe(true)
        if (name.endsWith('-time')) expect(header(record, name)).toMatch(rfc3339)
      }
      for (const name of ['attempts', 'hops', 'last-status', 'source-offset', 'source-partition']) {
        expect(header(record, `barnabas-${name}`)).toMatch(decimal)
      }
      expect(header(record, 'barnabas-subscription')).toBe('with-time-to-live')
      expect(time(record, 'barnabas-publish-time')).toBe(published)
      expect(header(record, 'barnabas-last-outcome')).toBe('Busy')
      expect(header(record, 'barnabas-last-status')).toBe('503')
      expect(header(record, 'barnabas-source-topic')).toBe(topic)
      expect(header(record, 'barnabas-source-partition')).toBe('2')
      expect(header(record, 'barnabas-source-offset')).toBe('1')
      expect(time(record, 'barnabas-expiry-time') - time(record, 'barnabas-first-attempt-time')).toBe(3_600_000)
    }
    expect(header(first, 'barnabas-hops')).toBe('1')
    expect(header(second, 'barnabas-hops')).toBe('2')
  })

  test('count attempts from the first, whatever the source record said', async () => {
    await receiver.until(
      (all) => all.filter(({ path, eventId }) => path === '/503' && eventId === 'binary').length === 3,
    )
    const requests = receiver.of('binary').filter(({ path }) => path === '/503')
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    const [first, second] = [
      await parked('with-time-to-live', 'binary', 1),
      await parked('with-time-to-live', 'binary', 2),
    ]
    const firstAttempt = time(first, 'barnabas-first-attempt-time')
    expect(time(first, 'barnabas-last-attempt-time')).toBe(firstAttempt)
    expect(time(second, 'barnabas-first-attempt-time')).toBe(firstAttempt)
    expect(firstAttempt).toBeLessThanOrEqual(requests[0]!.time)
    const lastAttempt = time(second, 'barnabas-last-attempt-time')
    expect(lastAttempt).toBeGreaterThanOrEqual(time(first, 'barnabas-due-time'))
    expect(lastAttempt).toBeLessThanOrEqual(requests[1]!.time)
    expect(time(second, 'barnabas-due-time')).toBeGreaterThanOrEqual(requests[1]!.time + 1_000)
  })

  test('name the life of the subscription that stands in the subscriptions topic', async () => {
    const stored = (await readTopic(plainKafka(), `${prefix}.subscriptions`)).find(
      ({ key }) => key?.toString() === 'with-time-to-live',
    )
    const { generation } = JSON.parse(stored!.value!.toString()) as { readonly generation: number }
    const record = await parked('with-time-to-live', 'binary', 1)
    expect(header(record, 'barnabas-subscription-generation')).toBe(String(generation))
  })

  test('leave out what is not known: no status after a reset, no expiry without a time to live', async () => {
    const record = await parked('without', 'binary', 1)
    expect(ownNames(record)).not.toContain('barnabas-last-status')
    expect(ownNames(record)).not.toContain('barnabas-expiry-time')
    expect(header(record, 'barnabas-last-outcome')).toBe('SocketError')
    expect(header(record, 'barnabas-last-error')).not.toBe('')
    expect(ownNames(record)).toHaveLength(13)
  })
})

describe('the event of a retry record', () => {
  const text = (value: string | Buffer | null) => (typeof value === 'string' ? Buffer.from(value) : value)

  test.each([1, 2])('keeps key, value and every other header byte for byte after attempt %i', async (attempts) => {
    const record = await parked('with-time-to-live', 'binary', attempts)
    expect(record.key).toEqual(nonUtf8)
    expect(record.value).toEqual(Buffer.concat([nonUtf8, Buffer.from('{"number": 9007199254740993}')]))
    const others = Object.keys(record.headers!).filter((name) => !name.startsWith('barnabas-'))
    const expected = {
      ce_specversion: '1.0',
      ce_id: 'binary',
      ce_source: '/tests',
      ce_type: 'whole',
      'content-type': 'application/json',
      ...headersOfOthers,
    }
    expect(others.toSorted()).toEqual(Object.keys(expected).toSorted())
    for (const [name, value] of Object.entries(expected)) {
      const kept = Array.isArray(value) ? value.map(text) : text(value)
      expect({ name, value: record.headers![name] }).toEqual({ name, value: kept })
    }
  })

  test('keeps a structured event as it stands, and a null and an empty value apart', async () => {
    const record = await parked('with-time-to-live', 'structured', 1)
    expect(record.key?.toString()).toBe('a key')
    expect(record.value?.toString()).toBe(structured)
    expect(header(record, 'content-type')).toBe('application/cloudevents+json')
    expect(record.headers!['x-null']).toBeNull()
    expect(Object.keys(record.headers!).filter((name) => name.startsWith('ce_'))).toEqual([])
    const [noValue, emptyValue] = [
      await parked('with-time-to-live', 'no-value', 1),
      await parked('with-time-to-live', 'empty-value', 1),
    ]
    expect(noValue.value).toBeNull()
    expect(noValue.key).toBeNull()
    expect(emptyValue.value).toEqual(Buffer.alloc(0))
    expect(emptyValue.key).toEqual(Buffer.alloc(0))
  })

  test('reaches the receiver unchanged at every attempt, and none of our headers with it', async () => {
    await receiver.until(
      (all) => all.filter(({ path, eventId }) => path === '/503' && eventId === 'structured').length === 3,
    )
    for (const [id, body] of [
      ['binary', Buffer.concat([nonUtf8, Buffer.from('{"number": 9007199254740993}')])],
      ['structured', Buffer.from('[9007199254740993,1.0]')],
      ['no-value', Buffer.alloc(0)],
    ] as const) {
      await receiver.until(() => receiver.of(id).filter(({ path }) => path === '/503').length === 3)
      for (const request of receiver.of(id)) {
        expect(request.body).toEqual(body)
        const ours = Object.keys(request.headers).filter((name) => name.startsWith('barnabas-'))
        expect(ours.toSorted()).toEqual(['barnabas-attempt', 'barnabas-subscription'])
      }
    }
  })
})

describe('the partition of a retry record', () => {
  test('stays the same for one event in every tier, and differs between events', async () => {
    const partitions = new Set<number>()
    for (let index = 0; index < 12; index += 1) {
      const [first, second] = [await parked('many', `many-${index}`, 1), await parked('many', `many-${index}`, 2)]
      expect([first.topic, second.topic]).toEqual([`${prefix}.retry.now`, `${prefix}.retry.1s`])
      expect(second.partition).toBe(first.partition)
      partitions.add(first.partition)
    }
    expect(partitions).toEqual(new Set([0, 1]))
  })
})
