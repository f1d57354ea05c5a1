/** Retry records that are damaged, or whose subscription is not what it was: design, promise 6 and "Counting". */
import type { IHeaders } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apply, createSourceTopic, environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { followControlTopics, writeSubscription } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { retryRecord as retryRecordOf } from '../support/retry-records.ts'

const required = [
  'subscription',
  'subscription-generation',
  'attempts',
  'publish-time',
  'due-time',
  'hops',
  'source-topic',
  'source-partition',
  'source-offset',
] as const
const notUtf8 = Buffer.from([0x31, 0xff])
/** Bytes that are no value of the header, for each header that a retry record may carry. */
const damage: Record<string, IHeaders[string]> = {
  subscription: Buffer.from([0xff, 0xfe]),
  'subscription-generation': '-1',
  attempts: 'three',
  'publish-time': '2026-02-30T00:00:00.000Z',
  'due-time': 'soon',
  hops: '1.5',
  'source-topic': '',
  'source-partition': '0x1',
  'source-offset': '99999999999999999999',
  'first-attempt-time': '1767225600000',
  'last-attempt-time': notUtf8,
  'expiry-time': '2026-01-01 00:00:00',
  'last-outcome': 'Splendid',
  'last-status': '2000',
  redrives: 'none',
}

const prefix = randomName('bad-retries')
const scaled = { BARNABAS_TIME_SCALE: '0.05' }
const retryTopic = `${prefix}.retry.now`
let barnabas: Barnabas
let receiver: Receiver
let control: ControlTopics
let letters: FollowedTopics
let topic: string
let generation: string

const retryRecord = (id: string, changes: Record<string, IHeaders[string]> = {}) =>
  retryRecordOf(id, { subscription: 'target', generation, topic }, changes)

const isOf = (id: string) => (record: FollowedRecord) => header(record, 'ce_id') === id
async function letterOf(id: string): Promise<FollowedRecord> {
  return (await letters.until((all) => all.some(isOf(id)))).find(isOf(id))!
}

beforeAll(async () => {
  receiver = await startReceiver(() => 200)
  barnabas = await startBarnabas(prefix, scaled)
  topic = await createSourceTopic(prefix, 'retried')
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  control = await followControlTopics(prefix)
  await apply(prefix, [{ id: 'target', topics: [topic], sink: `${receiver.url}/target` }])
  generation = String((await control.stored('target'))['generation'])
})

afterAll(async () => {
  await letters.stop()
  await control.stop()
  await barnabas.stop()
  await receiver.close()
  await removeEverything(prefix)
})

test('a retry record with every header whole is attempted, and its count goes on', async () => {
  await produce(plainKafka(), retryTopic, [retryRecord('whole')])
  await receiver.until(() => receiver.of('whole').length > 0)
  expect(receiver.of('whole').map(({ attempt }) => attempt)).toEqual([4])
})

describe('a header that must be there and is missing makes a dead letter', () => {
  const idOf = (name: string) => `without ${name}`
  beforeAll(async () => {
    const records = required.map((name) => retryRecord(idOf(name), { [name]: undefined }))
    await produce(plainKafka(), retryTopic, records)
  })

  test.each(required)('barnabas-%s', async (name) => {
    const letter = await letterOf(idOf(name))
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('DeliveryMetadataMalformed')
    expect(header(letter, 'barnabas-last-error')).toBe(`barnabas-${name} is missing`)
    expect(letter.headers).not.toHaveProperty(`barnabas-${name}`)
    expect(Object.keys(letter.headers ?? {}).filter((each) => each.startsWith('barnabas-malformed-'))).toEqual([])
    expect(receiver.of(idOf(name))).toEqual([])
  })
})

describe('a damaged header makes a dead letter that keeps its bytes', () => {
  const idOf = (name: string) => `damaged ${name}`
  beforeAll(async () => {
    const records = Object.entries(damage).map(([name, value]) => retryRecord(idOf(name), { [name]: value }))
    await produce(plainKafka(), retryTopic, records)
  })

  test.each(Object.keys(damage))('barnabas-%s', async (name) => {
    const letter = await letterOf(idOf(name))
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('DeliveryMetadataMalformed')
    expect(header(letter, 'barnabas-last-error')).toMatch(new RegExp(`^barnabas-${name} is not `))
    const bytes = damage[name] as string | Buffer
    expect(letter.headers?.[`barnabas-malformed-${name}`]).toEqual(Buffer.from(bytes))
    expect(letter.headers).not.toHaveProperty(`barnabas-${name}`)
    expect(receiver.of(idOf(name))).toEqual([])

    // What could be read is said, and the event is as it was.
    const known = { 'source-offset': '1234', 'last-outcome': 'Busy', attempts: '3', subscription: 'target' }
    for (const [other, value] of Object.entries(known)) {
      if (other !== name) expect(header(letter, `barnabas-${other}`)).toBe(value)
    }
    expect(letter.key).toEqual(Buffer.from('the key'))
    expect(letter.value).toEqual(Buffer.from('{"number":1}'))
    expect(header(letter, 'x-own')).toBe('kept')
  })

  test('a header that is there twice is damaged, and both values are kept', async () => {
    await produce(plainKafka(), retryTopic, [retryRecord('twice', { attempts: ['1', '2'] })])
    const letter = await letterOf('twice')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('DeliveryMetadataMalformed')
    expect(letter.headers?.['barnabas-malformed-attempts']).toEqual([Buffer.from('1'), Buffer.from('2')])
  })

  test('several damaged headers are all named, and a null one is one of them', async () => {
    const nothing = null as unknown as Buffer
    await produce(plainKafka(), retryTopic, [retryRecord('several', { hops: nothing, attempts: '-3', redrives: 'x' })])
    const letter = await letterOf('several')
    const error = header(letter, 'barnabas-last-error')
    for (const name of ['hops', 'attempts', 'redrives']) expect(error).toContain(`barnabas-${name} is not`)
    expect(letter.headers).toMatchObject({ 'barnabas-malformed-hops': null })
    expect(header(letter, 'barnabas-malformed-attempts')).toBe('-3')
  })
})

describe('a retry record of a subscription that is no more', () => {
  test.each([
    ['whose id was never there', { subscription: 'nobody' }],
    ['of an earlier life of the id', { 'subscription-generation': '1' }],
    ['of a life that is not yet known and does not come', { 'subscription-generation': '9007199254740991' }],
  ])('%s becomes a dead letter SubscriptionDeleted', async (what, changes) => {
    await produce(plainKafka(), retryTopic, [retryRecord(what, changes)])
    const letter = await letterOf(what)
    expect(letter.topic).toBe(`${prefix}.dead-letter`)
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('SubscriptionDeleted')
    expect(header(letter, 'barnabas-attempts')).toBe('3')
    expect(header(letter, 'barnabas-last-outcome')).toBe('Busy')
    expect(header(letter, 'barnabas-source-offset')).toBe('1234')
    expect(letter.headers).not.toHaveProperty('barnabas-destination')
    expect(receiver.of(what)).toEqual([])
  })

  test('is told from one that was made a moment ago, and that nobody has come to in the topic yet', async () => {
    const made = {
      id: 'new',
      topics: [topic],
      sink: `${receiver.url}/new`,
      generation: 77,
      revision: 1,
      startOffsets: {},
    }
    // The process sleeps meanwhile: when it wakes, so much is to be read before it that the retry record is there first.
    const noise = { key: 'noise', value: JSON.stringify({ noise: 'x'.repeat(300_000) }) }
    const producer = plainKafka().producer()
    await producer.connect()
    barnabas.process.child.kill('SIGSTOP')
    for (let count = 0; count < 15; count++) {
      await producer.send({ topic: `${prefix}.subscriptions`, messages: [noise, noise, noise] })
    }
    await producer.send({ topic: `${prefix}.subscriptions`, messages: [{ key: 'new', value: JSON.stringify(made) }] })
    await producer.send({
      topic: retryTopic,
      messages: [retryRecord('of the new one', { subscription: 'new', 'subscription-generation': '77' })],
    })
    barnabas.process.child.kill('SIGCONT')
    await producer.disconnect()
    await receiver.until(() => receiver.of('of the new one').length > 0)
    expect(letters.records.filter(isOf('of the new one'))).toEqual([])
    for (const id of ['new', 'noise']) await writeSubscription(prefix, id, null)
  })

  test('is told from one that a starting retrier has not heard of yet', async () => {
    await barnabas.stop()
    // Written in this order while nobody looks: the subscription last, as late as can be.
    await produce(plainKafka(), retryTopic, [
      retryRecord('of the late one', { subscription: 'late', 'subscription-generation': '77' }),
      retryRecord('of the gone one', { subscription: 'gone', 'subscription-generation': '77' }),
    ])
    const late = {
      id: 'late',
      topics: [topic],
      sink: `${receiver.url}/late`,
      generation: 77,
      revision: 1,
      startOffsets: {},
    }
    await writeSubscription(prefix, 'late', late)
    const retrier = runProcess('services/retrier/main.ts', { ...environment(prefix), ...scaled })
    await receiver.until(() => receiver.of('of the late one').length > 0)
    await letterOf('of the gone one')
    expect(receiver.of('of the late one').map(({ attempt }) => attempt)).toEqual([4])
    expect(letters.records.filter(isOf('of the late one'))).toEqual([])
    await retrier.kill('SIGTERM')
    barnabas = await startBarnabas(prefix, scaled)
  })
})

describe('a retry record of a subscription that stands there and does not validate', () => {
  test('is held, uncounted and with its time to live standing still, while a record without a life stands over it', async () => {
    const stored = await control.stored('target')
    await writeSubscription(prefix, 'target', { id: 'target', topics: [topic], sink: `${receiver.url}/target` })
    const failed = await control.untilStatus('target', ({ status }) => status === 'Start Failed')
    expect(failed.reason).toContain('generation')

    const expiry = Date.now() + 5_000
    await produce(plainKafka(), retryTopic, [retryRecord('held', { 'expiry-time': new Date(expiry).toISOString() })])
    await expect.poll(() => plainKafkaTopics(), { timeout: 20_000 }).toContain(`${prefix}.held.target`)
    const [held] = await readTopic(plainKafka(), `${prefix}.held.target`, (all) => all.length > 0)
    expect(header(held!, 'barnabas-hops')).toBe('5')
    expect(header(held!, 'barnabas-attempts')).toBe('3')
    expect(header(held!, 'barnabas-subscription-generation')).toBe(generation)
    await expect.poll(() => Date.now(), { timeout: 20_000 }).toBeGreaterThan(expiry)
    expect(letters.records.filter(isOf('held'))).toEqual([])
    expect(receiver.of('held')).toEqual([])

    await writeSubscription(prefix, 'target', stored)
    await receiver.until(() => receiver.of('held').length > 0)
    expect(receiver.of('held').map(({ attempt }) => attempt)).toEqual([4])
  })
})

async function plainKafkaTopics(): Promise<readonly string[]> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    return await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}
