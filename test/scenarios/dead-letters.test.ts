/** Dead letters read with plain kafkajs and compared with the interface's table: rows A3, A14, A15, A16, B6, B7, B8, D5. */
import { CloudEvent, Kafka as CloudEventsKafka } from 'cloudevents'
import type { Message } from 'cloudevents'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  lagOf,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('dead-letters')
const published = Date.parse('2026-05-04T03:02:01.007Z')
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const nonUtf8 = Buffer.from([0xff, 0x00, 0xfe, 0x0a])
const structured = '{ "specversion":"1.0", "id":"structured", "source":"/tests", "type":"refused", "data":[1.0] }'
const longBody = `${'a'.repeat(1023)}€ and more`
const longSegment = 'a-token-that-is-much-longer-than-twenty-characters'

const headersOfOthers = {
  'content-type': 'application/octet-stream',
  'x-text': 'Grüße',
  'x-null': null,
  'x-bytes': nonUtf8,
  'x-several': ['one', nonUtf8, 'one', ''],
  ['__proto__']: 'a name like any other',
}
/** As on a dead letter that somebody has produced again. */
const ofAnEarlierDeadLetter = {
  'barnabas-attempts': '99',
  'barnabas-dead-letter-reason': 'Old',
  'barnabas-response-body': ['old', 'older'],
  'barnabas-redrives': '7',
  ce_deadletterreason: 'Old',
  ce_deliveryattempts: '99',
  ce_lastdeliveryoutcome: 'Old',
  ce_publishtime: '1999-01-01T00:00:00.000Z',
  ce_lastdeliveryattempttime: '1999-01-01T00:00:00.000Z',
}

const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let letters: FollowedTopics
let topic: string
let ownLetters: string
let largeTopic: string
let smallLetters: string
let largeValue: Buffer

async function letterOf(subscription: string, eventId: string): Promise<FollowedRecord> {
  const isIt = (record: FollowedRecord) =>
    header(record, 'barnabas-subscription') === subscription && eventIdOf(record) === eventId
  const records = await letters.until((all) => all.some(isIt))
  expect(records.filter(isIt)).toHaveLength(1)
  return records.find(isIt)!
}

const time = (record: FollowedRecord, name: string) => Date.parse(header(record, name)!)
const ownNames = (record: FollowedRecord) =>
  Object.keys(record.headers!)
    .filter((name) => name.startsWith('barnabas-'))
    .toSorted()
const everyName = [
  'barnabas-attempts',
  'barnabas-dead-letter-reason',
  'barnabas-dead-letter-time',
  'barnabas-destination',
  'barnabas-first-attempt-time',
  'barnabas-last-attempt-time',
  'barnabas-last-error',
  'barnabas-last-outcome',
  'barnabas-last-status',
  'barnabas-publish-time',
  'barnabas-response-body',
  'barnabas-source-offset',
  'barnabas-source-partition',
  'barnabas-source-topic',
  'barnabas-subscription',
  'barnabas-subscription-generation',
]
const extensionAttributes = [
  'ce_deadletterreason',
  'ce_deliveryattempts',
  'ce_lastdeliveryattempttime',
  'ce_lastdeliveryoutcome',
  'ce_publishtime',
]

/** An event as large as its topic takes, to the byte: found by asking the broker. */
async function produceLargest(into: string): Promise<Buffer> {
  const producer = plainKafka().producer({ retry: { retries: 0 } })
  await producer.connect()
  try {
    const tryOf = (size: number, type: string) =>
      producer.send({
        topic: into,
        acks: -1,
        messages: [binaryEvent('large', { type, data: Buffer.alloc(size, 'v') })],
      })
    let [accepted, refused] = [1_048_588 - 1_024, 1_048_588]
    while (refused - accepted > 1) {
      const size = Math.floor((accepted + refused) / 2)
      const isAccepted = await tryOf(size, 'probe').then(
        () => true,
        () => false,
      )
      if (isAccepted) accepted = size
      else refused = size
    }
    await tryOf(accepted, 'large')
    return Buffer.alloc(accepted, 'v')
  } finally {
    await producer.disconnect()
  }
}

beforeAll(async () => {
  receiver = await startReceiver(({ path, headers }) => {
    if (path.startsWith('/told')) return 200
    if (path.startsWith('/busy')) return { status: 503, body: Buffer.from([0xff, 0x61]) }
    if (headers['ce-type'] === 'gone') return 'reset'
    if (headers['ce-type'] === 'fine') return 200
    return { status: 400, body: longBody, headers: { 'content-type': 'text/plain' } }
  })
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  ;[topic, ownLetters, largeTopic, smallLetters] = await Promise.all([
    createSourceTopic(prefix, 'orders', 3),
    createSourceTopic(prefix, 'letters'),
    createSourceTopic(prefix, 'large'),
    createSourceTopic(prefix, 'small-letters'),
  ])
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`, ownLetters, smallLetters])
  cleanUp(() => letters.stop())
  const refused = { topics: [topic], types: ['refused'], sink: `${receiver.url}/hook` }
  const large = { topics: [largeTopic], types: ['large'], retry: { schedule: ['200ms'] } }
  await apply(prefix, [
    { id: 'refused', ...refused },
    { id: 'no-body', ...refused, deadLetter: { topic: ownLetters, responseBody: false } },
    {
      id: 'secret',
      topics: [topic],
      types: ['gone'],
      sink: `${receiver.url}/hooks/${longSegment}?code=a-secret`,
      retry: { schedule: ['200ms', '300ms'] },
    },
    { id: 'large', ...large, sink: `${receiver.url}/busy` },
    { id: 'large-to-small', ...large, sink: `${receiver.url}/busy-too`, deadLetter: { topic: smallLetters } },
  ])
  await produce(plainKafka(), topic, [
    { ...binaryEvent('before', { type: 'nobody’s' }), partition: 2 },
    {
      ...binaryEvent('binary', {
        type: 'refused',
        key: nonUtf8,
        data: nonUtf8,
        headers: { ...headersOfOthers, ...ofAnEarlierDeadLetter },
      }),
      partition: 2,
      timestamp: String(published),
    },
    { ...structuredEvent(structured, { 'x-null': null }), key: 'a key', timestamp: String(published) },
    binaryEvent('no-value', { type: 'refused', data: null }),
    binaryEvent('reset', { type: 'gone' }),
  ])
  largeValue = await produceLargest(largeTopic)
})

describe('the delivery headers of a dead letter', () => {
  test('say everything that is known, in the formats of the table', async () => {
    const letter = await letterOf('refused', 'binary')
    expect(letter.topic).toBe(`${prefix}.dead-letter`)
    expect(ownNames(letter)).toEqual(everyName)
    for (const name of [...everyName, ...extensionAttributes]) {
      // Never doubled: one value each.
      expect(Buffer.isBuffer(letter.headers![name])).toBe(true)
      if (/-?time$/.test(name)) expect(header(letter, name)).toMatch(rfc3339)
    }
    expect(header(letter, 'barnabas-attempts')).toBe('1')
    expect(header(letter, 'barnabas-subscription-generation')).toMatch(/^[1-9]\d+$/)
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('UndeliverableDueToHttpBadRequest')
    expect(header(letter, 'barnabas-last-outcome')).toBe('BadRequest')
    expect(header(letter, 'barnabas-last-status')).toBe('400')
    expect(header(letter, 'barnabas-source-topic')).toBe(topic)
    expect(header(letter, 'barnabas-source-partition')).toBe('2')
    expect(header(letter, 'barnabas-source-offset')).toBe('1')
    expect(header(letter, 'barnabas-destination')).toBe(`${receiver.url}/hook`)
    expect(time(letter, 'barnabas-publish-time')).toBe(published)
    const [request] = receiver.of('binary').filter((each) => each.headers['barnabas-subscription'] === 'refused')
    expect(time(letter, 'barnabas-first-attempt-time')).toBe(time(letter, 'barnabas-last-attempt-time'))
    expect(time(letter, 'barnabas-last-attempt-time')).toBeLessThanOrEqual(request!.time)
    expect(time(letter, 'barnabas-dead-letter-time')).toBeGreaterThanOrEqual(request!.time)
  })

  test('stand as Event Grid’s extension attributes too, so that it reads as an event (A15)', async () => {
    const letter = await letterOf('refused', 'binary')
    const pairs = [
      ['ce_deadletterreason', 'barnabas-dead-letter-reason'],
      ['ce_deliveryattempts', 'barnabas-attempts'],
      ['ce_lastdeliveryoutcome', 'barnabas-last-outcome'],
      ['ce_publishtime', 'barnabas-publish-time'],
      ['ce_lastdeliveryattempttime', 'barnabas-last-attempt-time'],
    ] as const
    for (const [attribute, name] of pairs) expect(header(letter, attribute)).toBe(header(letter, name))
    const asText = Object.entries(letter.headers!).flatMap(([name, value]) =>
      Buffer.isBuffer(value) ? [[name, value.toString()]] : [],
    )
    const message = { headers: Object.fromEntries(asText), key: letter.key, value: letter.value }
    const event = CloudEventsKafka.toEvent(message as unknown as Message)
    expect(event).toBeInstanceOf(CloudEvent)
    expect(event).toMatchObject({
      id: 'binary',
      type: 'refused',
      deadletterreason: 'UndeliverableDueToHttpBadRequest',
      lastdeliveryoutcome: 'BadRequest',
    })
  })

  test('leave out what is not known, and count every attempt', async () => {
    const letter = await letterOf('secret', 'reset')
    expect(ownNames(letter)).toEqual(
      everyName.filter((name) => !['barnabas-last-status', 'barnabas-response-body'].includes(name)),
    )
    expect(header(letter, 'barnabas-attempts')).toBe('3')
    expect(header(letter, 'barnabas-last-outcome')).toBe('SocketError')
    const [first, last] = [receiver.of('reset')[0]!, receiver.of('reset')[2]!]
    expect(time(letter, 'barnabas-first-attempt-time')).toBeLessThanOrEqual(first.time)
    expect(time(letter, 'barnabas-last-attempt-time')).toBeGreaterThanOrEqual(first.time + 500)
    expect(time(letter, 'barnabas-last-attempt-time')).toBeLessThanOrEqual(last.time)
  })

  test('show the destination without what could be a secret', async () => {
    const letter = await letterOf('secret', 'reset')
    expect(header(letter, 'barnabas-destination')).toMatch(new RegExp(`^${receiver.url}/hooks/.`))
    for (const name of ownNames(letter)) {
      expect(header(letter, name)).not.toContain('a-secret')
      expect(header(letter, name)).not.toContain(longSegment)
    }
  })

  test('carry 1 KiB of the last answer’s body, cut at a character, unless that is switched off', async () => {
    const letter = await letterOf('refused', 'no-value')
    expect(header(letter, 'barnabas-response-body')).toBe('a'.repeat(1023))
    const without = await letterOf('no-body', 'no-value')
    expect(without.topic).toBe(ownLetters)
    expect(ownNames(without)).toEqual(everyName.filter((name) => name !== 'barnabas-response-body'))
    const notText = await letterOf('large', 'large')
    expect(header(notText, 'barnabas-response-body')).toBe('\uFFFDa')
  })
})

describe('the event of a dead letter', () => {
  test('keeps key, value and every other header byte for byte (B6)', async () => {
    const letter = await letterOf('refused', 'binary')
    expect(letter.key).toEqual(nonUtf8)
    expect(letter.value).toEqual(nonUtf8)
    const text = (value: string | Buffer | null) => (typeof value === 'string' ? Buffer.from(value) : value)
    const expected = {
      ce_specversion: '1.0',
      ce_id: 'binary',
      ce_source: '/tests',
      ce_type: 'refused',
      ...headersOfOthers,
    }
    const others = Object.keys(letter.headers!).filter((name) => !name.startsWith('barnabas-'))
    expect(others.toSorted()).toEqual([...Object.keys(expected), ...extensionAttributes].toSorted())
    for (const [name, value] of Object.entries(expected)) {
      const kept = Array.isArray(value) ? value.map(text) : text(value)
      expect({ name, value: letter.headers![name] }).toEqual({ name, value: kept })
    }
  })

  test('keeps a structured event as it stands, without attributes beside it', async () => {
    const letter = await letterOf('refused', 'structured')
    expect(letter.key?.toString()).toBe('a key')
    expect(letter.value?.toString()).toBe(structured)
    expect(letter.headers!['x-null']).toBeNull()
    expect(Object.keys(letter.headers!).filter((name) => name.startsWith('ce_'))).toEqual([])
    expect(ownNames(letter)).toEqual(everyName)
  })

  test('keeps a null value', async () => {
    const letter = await letterOf('refused', 'no-value')
    expect(letter.value).toBeNull()
    expect(letter.key).toBeNull()
  })
})

describe('a value as large as its topic takes', () => {
  test('is parked, attempted again and dead-lettered whole', async () => {
    const letter = await letterOf('large', 'large')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(header(letter, 'barnabas-attempts')).toBe('2')
    expect(letter.value!.equals(largeValue)).toBe(true)
    const requests = receiver.of('large').filter(({ path }) => path === '/busy')
    expect(requests.map(({ attempt, body }) => [attempt, body.equals(largeValue)])).toEqual([
      [1, true],
      [2, true],
    ])
  })

  test('is a dead letter without its value where the topic is too small, and says where it is', async () => {
    const letter = await letterOf('large-to-small', 'large')
    expect(letter.topic).toBe(smallLetters)
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('RecordTooLarge')
    expect(header(letter, 'ce_deadletterreason')).toBe('RecordTooLarge')
    expect(header(letter, 'barnabas-attempts')).toBe('2')
    expect(letter.value).toBeNull()
    expect(header(letter, 'barnabas-source-topic')).toBe(largeTopic)
    expect(header(letter, 'barnabas-source-partition')).toBe('0')
    const source = plainKafka().admin()
    await source.connect()
    const [end] = await source.fetchTopicOffsets(largeTopic)
    await source.disconnect()
    expect(Number(header(letter, 'barnabas-source-offset'))).toBe(Number(end!.high) - 1)
  })
})

describe('a subscription on the dead-letter topic', () => {
  test('tells of dead letters as of any event, and of their reasons (A14)', async () => {
    await Promise.all([letterOf('refused', 'binary'), letterOf('large', 'large')])
    const tell = {
      id: 'tell',
      topics: [`${prefix}.dead-letter`],
      from: 'earliest',
      sink: `${receiver.url}/told`,
      filters: [{ exact: { deadletterreason: 'UndeliverableDueToHttpBadRequest' } }],
      deadLetter: 'none',
    }
    await apply(prefix, [tell])
    const isTold = ({ path, eventId }: { readonly path: string; readonly eventId: string }) =>
      path === '/told' && eventId === 'binary'
    await receiver.until((requests) => requests.some(isTold))
    const told = receiver.requests.find(isTold)!
    expect(told.headers).toMatchObject({
      'ce-type': 'refused',
      'ce-deadletterreason': 'UndeliverableDueToHttpBadRequest',
      'ce-deliveryattempts': '1',
      'ce-lastdeliveryoutcome': 'BadRequest',
      'ce-publishtime': '2026-05-04T03:02:01.007Z',
      'barnabas-subscription': 'tell',
    })
    expect(told.body).toEqual(nonUtf8)
    await vi.waitFor(
      async () => expect(await lagOf(`${prefix}.subscription.tell`, `${prefix}.dead-letter`)).toBe(0),
      10_000,
    )
    const reasons = receiver.requests
      .filter(({ path }) => path === '/told')
      .map(({ headers }) => headers['ce-deadletterreason'])
    expect(new Set(reasons)).toEqual(new Set(['UndeliverableDueToHttpBadRequest']))
    // Nobody is told by itself of what it tells.
    expect(await barnabasCommand(prefix, ['delete', 'tell', '--yes'])).toMatchObject({ status: 0 })
  })
})

describe('a dead letter that cannot be written', () => {
  test('holds its offset until it can be, and no more than that', async () => {
    const [source, away] = await Promise.all([createSourceTopic(prefix, 'held', 2), createSourceTopic(prefix, 'away')])
    const sink = `${receiver.url}/hook`
    await apply(prefix, [{ id: 'held', topics: [source], sink, deadLetter: { topic: away } }])
    const group = `${prefix}.subscription.held`
    const admin = plainKafka().admin()
    await admin.connect()
    try {
      await admin.deleteTopics({ topics: [away] })
      // The controller acknowledges before the broker has forgotten it.
      await vi.waitUntil(async () => !(await admin.listTopics()).includes(away), 5_000)
      await produce(plainKafka(), source, [{ ...binaryEvent('held', { type: 'refused' }), partition: 0 }])
      await barnabas.process.line(new RegExp(`${away}.*a record cannot be written`))
      // One commit holds all partitions: once it shows the second one, the first has had its chance.
      await produce(plainKafka(), source, [{ ...binaryEvent('passing', { type: 'fine' }), partition: 1 }])
      const committed = async () => {
        const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [source] })
        return Object.fromEntries(offsets!.partitions.map(({ partition, offset }) => [partition, offset]))
      }
      await vi.waitFor(async () => expect(await committed()).toMatchObject({ 1: '1' }), 5_000)
      expect(await committed()).toEqual({ 0: '0', 1: '1' })
    } finally {
      await admin.disconnect()
    }
    await createTopic(plainKafka(), away)
    const [letter] = await readTopic(plainKafka(), away, (read) => read.length > 0)
    expect(eventIdOf(letter!)).toBe('held')
    expect(header(letter!, 'barnabas-attempts')).toBe('1')
    await vi.waitFor(async () => expect(await lagOf(group, source)).toBe(0), 5_000)
    expect(receiver.of('held')).toHaveLength(1)
  })

  test('keeps its subscription neither from another topic nor from being deleted and made again', async () => {
    const source = await createSourceTopic(prefix, 'follows')
    const [away, gone, there] = await Promise.all([
      createSourceTopic(prefix, 'away'),
      createSourceTopic(prefix, 'gone'),
      createSourceTopic(prefix, 'there'),
    ])
    // One refused event fills so small a window.
    const written = (target: string) => ({
      id: 'follows',
      topics: [source],
      sink: `${receiver.url}/hook`,
      concurrency: 1,
      deadLetter: { topic: target },
    })
    const removed = async (target: string) => {
      const admin = plainKafka().admin()
      await admin.connect()
      await admin.deleteTopics({ topics: [target] })
      await vi.waitUntil(async () => !(await admin.listTopics()).includes(target), 5_000)
      await admin.disconnect()
    }
    await apply(prefix, [written(away)])
    await removed(away)
    await produce(plainKafka(), source, [binaryEvent('follows-1', { type: 'refused' })])
    await barnabas.process.line(new RegExp(`${away}.*a record cannot be written`))
    await apply(prefix, [written(there)])
    const [moved] = await readTopic(plainKafka(), there, (read) => read.length > 0)
    expect(eventIdOf(moved!)).toBe('follows-1')

    await apply(prefix, [written(gone)])
    await removed(gone)
    await produce(plainKafka(), source, [binaryEvent('follows-2', { type: 'refused' })])
    await barnabas.process.line(new RegExp(`${gone}.*a record cannot be written`))
    expect(await barnabasCommand(prefix, ['delete', 'follows', '--yes'])).toMatchObject({ status: 0 })
    await apply(prefix, [written(there)])
    const inDefault = await readTopic(plainKafka(), `${prefix}.dead-letter`, (read) =>
      read.some((letter) => eventIdOf(letter) === 'follows-2'),
    )
    expect(inDefault.filter((letter) => eventIdOf(letter) === 'follows-2')).toHaveLength(1)
    expect([...receiver.of('follows-1'), ...receiver.of('follows-2')]).toHaveLength(2)
  })

  test('is told when its topic takes not even its headers, and does not keep the process from stopping', async () => {
    const [source, tiny] = [await createSourceTopic(prefix, 'told'), randomName(`${prefix}.tiny`)]
    const admin = plainKafka().admin()
    await admin.connect()
    try {
      const configEntries = [{ name: 'max.message.bytes', value: '100' }]
      await admin.createTopics({ topics: [{ topic: tiny, numPartitions: 1, configEntries }], waitForLeaders: false })
      await vi.waitUntil(async () => (await admin.listTopics()).includes(tiny), 5_000)
    } finally {
      await admin.disconnect()
    }
    await apply(prefix, [{ id: 'told', topics: [source], sink: `${receiver.url}/hook`, deadLetter: { topic: tiny } }])
    await produce(plainKafka(), source, [binaryEvent('told', { type: 'refused' })])
    await barnabas.process.line(new RegExp(`${tiny}.*too large for its topic.*max\\.message\\.bytes`))
    const before = Date.now()
    await barnabas.process.kill('SIGTERM')
    expect(Date.now() - before).toBeLessThan(10_000)
    expect(await lagOf(`${prefix}.subscription.told`, source)).toBe(1)
  })
})
