/** Records on a source topic that nobody expects: row D3 (any client may produce); design, promise 6: damage is a dead letter with a reason. */
import type { IHeaders, Message } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const notUtf8 = Buffer.from([0x66, 0xff, 0xfe, 0x6f])
const nothing = null as unknown as Buffer
const plain = (value: string | Buffer | null, headers: IHeaders = {}): Message => ({ key: 'key', value, headers })
/** A binary event of which these headers differ; undefined leaves one out. */
function binaryWith(changes: IHeaders): Message {
  const headers = { ...binaryEvent('bad').headers, ...changes }
  const kept = Object.entries(headers).filter(([, value]) => value !== undefined)
  return plain('{"number":1}', Object.fromEntries(kept))
}
function structuredWith(changes: Record<string, unknown>, contentType = 'application/cloudevents+json'): Message {
  const whole = { specversion: '1.0', id: 'bad', source: '/tests', type: 'test.made', ...changes }
  return structuredEvent(JSON.stringify(whole), { 'content-type': contentType })
}

const malformed: Record<string, { readonly record: Message; readonly message: RegExp }> = {
  'text without headers': { record: plain('hello'), message: /no CloudEvent.*not JSON/ },
  'an empty value without headers': { record: plain(''), message: /no CloudEvent.*value is empty/ },
  'a null value without headers': { record: plain(null), message: /no CloudEvent.*value is empty/ },
  'JSON that is no CloudEvent': { record: plain('{"a":1}'), message: /no CloudEvent.*`specversion` is missing/ },
  'an array of CloudEvents': { record: plain('[{"specversion":"1.0"}]'), message: /no CloudEvent.*an array/ },
  'bytes that are not UTF-8': { record: plain(notUtf8), message: /no CloudEvent.*not UTF-8/ },
  'structured: damaged JSON': { record: structuredEvent('{"specversion":"1.0",\n"id":'), message: /not JSON/ },
  'structured: an empty value': { record: structuredEvent(''), message: /value is empty/ },
  'structured: no id': { record: structuredWith({ id: undefined }), message: /`id` is missing/ },
  'structured: no source': { record: structuredWith({ source: undefined }), message: /`source` is missing/ },
  'structured: no type': { record: structuredWith({ type: undefined }), message: /`type` is missing/ },
  'structured: an empty id': { record: structuredWith({ id: '' }), message: /`id` is empty/ },
  'structured: another specversion': { record: structuredWith({ specversion: '0.3' }), message: /"0\.3".*"1\.0"/ },
  'structured: damaged base64': { record: structuredWith({ data_base64: '%%%' }), message: /base64/ },
  'binary: no id': { record: binaryWith({ ce_id: undefined }), message: /`id` is missing/ },
  'binary: no source': { record: binaryWith({ ce_source: undefined }), message: /`source` is missing/ },
  'binary: no type': { record: binaryWith({ ce_type: undefined }), message: /`type` is missing/ },
  'binary: no specversion': { record: binaryWith({ ce_specversion: undefined }), message: /`specversion` is missing/ },
  'binary: another specversion': { record: binaryWith({ ce_specversion: '2.0' }), message: /"2\.0".*"1\.0"/ },
  'binary: a null id': { record: binaryWith({ ce_id: nothing }), message: /`id` is missing/ },
  'binary: two ids': { record: binaryWith({ ce_id: ['one', 'two'] }), message: /ce_id.*several times/ },
  'binary: an id that is not UTF-8': { record: binaryWith({ ce_id: notUtf8 }), message: /ce_id.*not UTF-8/ },
  'a batch': {
    record: plain('[]', { 'content-type': 'application/cloudevents-batch+json' }),
    message: /application\/cloudevents-batch\+json.*not supported/,
  },
  'the Avro format': {
    record: plain('bytes', { 'content-type': 'application/cloudevents+avro; charset=utf-8' }),
    message: /application\/cloudevents\+avro.*not supported/,
  },
  'the Protobuf format, beside ce_ headers': {
    record: binaryWith({ 'content-type': 'APPLICATION/CloudEvents+Protobuf' }),
    message: /application\/cloudevents\+protobuf.*not supported/,
  },
}
const malformedNames = Object.keys(malformed)
/** Not what `Date.now()` gives, so that a time made up on the way shows. */
const publishedAt = Date.UTC(2026, 0, 31, 12, 34, 56, 789)

const prefix = randomName('bad-input')
const feedingAttempts = 2
let barnabas: Barnabas
let receiver: Receiver
let letters: FollowedTopics
const topics = { malformed: '', odd: '', own: '', carried: '', elsewhere: '' }

async function letterOf(topic: string, offset: number, subscription: string): Promise<FollowedRecord> {
  const isIt = (record: FollowedRecord) =>
    header(record, 'barnabas-source-topic') === topic &&
    header(record, 'barnabas-source-offset') === String(offset) &&
    header(record, 'barnabas-subscription') === subscription
  const records = await letters.until((all) => all.some(isIt))
  return records.find(isIt)!
}

/** What a record's headers are read back as: bytes each, lists for those of one name. */
function asRead(headers: IHeaders = {}): Record<string, unknown> {
  const bytes = (value: unknown): unknown => (typeof value === 'string' ? Buffer.from(value) : value)
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(bytes) : bytes(value)]),
  )
}

const odd: Record<string, Message> = {
  'an empty value': binaryEvent('empty value', { data: '' }),
  'a null value': binaryEvent('null value', { data: null }),
  'a null header value': binaryEvent('null header', { headers: { 'x-null': nothing } }),
  'several headers of one name': binaryEvent('several headers', { headers: { 'x-many': ['one', 'two', 'one'] } }),
  'a header that is not UTF-8': binaryEvent('not UTF-8', { headers: { 'x-bytes': notUtf8 } }),
  'a header without a name': binaryEvent('no name', { headers: { '': 'anonymous' } }),
  'header names of JavaScript': binaryEvent('__proto__', { headers: { constructor: 'a', toString: 'b' } }),
  'a value and a key of arbitrary bytes': binaryEvent('bytes', { data: notUtf8, key: notUtf8 }),
  'an empty key': binaryEvent('empty key', { key: '' }),
  'a timestamp of tomorrow': { ...binaryEvent('tomorrow'), timestamp: String(Date.now() + 86_400_000) },
  'a timestamp of 1970': { ...binaryEvent('1970'), timestamp: '1' },
  'a timestamp that no calendar has': { ...binaryEvent('far'), timestamp: '9000000000000000000' },
}
const oddNames = Object.keys(odd)

beforeAll(async () => {
  receiver = await startReceiver(({ path }) => (path === '/feeds' || path === '/fails' ? 500 : 200))
  barnabas = await startBarnabas(prefix)
  for (const stem of Object.keys(topics) as (keyof typeof topics)[]) {
    topics[stem] = await createSourceTopic(prefix, stem)
  }
  const admin = plainKafka().admin()
  await admin.connect()
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: 2,
        name: topics.odd,
        configEntries: [{ name: 'message.timestamp.after.max.ms', value: '9223372036854775807' }],
      },
    ],
  })
  await admin.disconnect()
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`, topics.elsewhere])
  const retry = { schedule: ['500ms'] }
  const deadLetters = `${prefix}.dead-letter`
  await apply(prefix, [
    { id: 'malformed', topics: [topics.malformed], sink: `${receiver.url}/malformed` },
    { id: 'dropping', topics: [topics.malformed], sink: `${receiver.url}/dropping`, deadLetter: 'none' },
    { id: 'odd', topics: [topics.odd], sink: `${receiver.url}/fails`, retry },
    { id: 'odd-taken', topics: [topics.odd], sink: `${receiver.url}/takes` },
    { id: 'carried', topics: [topics.carried], sink: `${receiver.url}/fails`, retry },
    {
      id: 'elsewhere',
      topics: [deadLetters],
      sink: `${receiver.url}/feeds`,
      from: 'earliest',
      retry,
      deadLetter: { topic: topics.elsewhere },
    },
    {
      id: 'nowhere',
      topics: [deadLetters],
      sink: `${receiver.url}/feeds`,
      from: 'earliest',
      retry,
      deadLetter: 'none',
    },
  ])
  const stamped = Object.values(malformed).map(({ record }) => ({ ...record, timestamp: String(publishedAt) }))
  await produce(plainKafka(), topics.malformed, stamped)
  await produce(plainKafka(), topics.odd, Object.values(odd))
})

afterAll(async () => {
  await letters.stop()
  await barnabas.stop()
  await receiver.close()
  await removeEverything(prefix)
})

describe('a record that is no CloudEvent is a dead letter that says what is wrong', () => {
  test.each(malformedNames)('%s', async (name) => {
    const { record, message } = malformed[name]!
    const offset = malformedNames.indexOf(name)
    const letter = await letterOf(topics.malformed, offset, 'malformed')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('EventMalformed')
    expect(header(letter, 'barnabas-last-error')).toMatch(message)
    expect(header(letter, 'barnabas-last-error')).not.toMatch(/[\r\n]/)
    expect(header(letter, 'barnabas-attempts')).toBe('0')
    expect(header(letter, 'barnabas-publish-time')).toBe(new Date(publishedAt).toISOString())
    expect(header(letter, 'barnabas-source-partition')).toBe('0')
    expect(header(letter, 'barnabas-destination')).toBe(`${receiver.url}/malformed`)
    for (const absent of [
      'first-attempt-time',
      'last-attempt-time',
      'last-outcome',
      'last-status',
      'due-time',
      'hops',
    ]) {
      expect(letter.headers).not.toHaveProperty(`barnabas-${absent}`)
    }
    expect(letter.key).toEqual(record.key === null ? null : Buffer.from(record.key ?? ''))
    expect(letter.value).toEqual(record.value === null ? null : Buffer.from(record.value))
    expect(letter.headers).toMatchObject(asRead(record.headers))
  })

  test('also with deadLetter: none, and then in the default topic', async () => {
    for (const [offset] of malformedNames.entries()) {
      const letter = await letterOf(topics.malformed, offset, 'dropping')
      expect(letter.topic).toBe(`${prefix}.dead-letter`)
      expect(header(letter, 'barnabas-dead-letter-reason')).toBe('EventMalformed')
    }
  })

  test('and the good event behind them all arrives', async () => {
    await produce(plainKafka(), topics.malformed, [binaryEvent('good')])
    await receiver.until((all) => all.filter(({ path }) => path === '/malformed').length > 0)
    expect(receiver.requests.filter(({ path }) => path === '/malformed').map(({ eventId }) => eventId)).toEqual([
      'good',
    ])
  })
})

describe('odd records are events all the same, retried and dead-lettered byte for byte', () => {
  test.each(oddNames)('%s', async (name) => {
    const record = odd[name]!
    const letter = await letterOf(topics.odd, oddNames.indexOf(name), 'odd')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(header(letter, 'barnabas-attempts')).toBe('2')
    expect(letter.key).toEqual(record.key == null ? null : Buffer.from(record.key))
    expect(letter.value).toEqual(record.value === null ? null : Buffer.from(record.value))
    expect(letter.headers).toMatchObject(asRead(record.headers))
    const added = Object.keys(letter.headers ?? {}).filter((each) => !Object.hasOwn(record.headers ?? {}, each))
    expect(added.filter((each) => !/^(barnabas-|ce_(deadletter|delivery|lastdelivery|publish))/.test(each))).toEqual([])

    const id = String(record.headers?.['ce_id'])
    const taken = await receiver.until((all) => all.some(({ path, eventId }) => path === '/takes' && eventId === id))
    const request = taken.find(({ path, eventId }) => path === '/takes' && eventId === id)!
    expect(request.body).toEqual(record.value === null ? Buffer.alloc(0) : Buffer.from(record.value))
    expect(
      receiver
        .of(id)
        .filter(({ path }) => path === '/fails')
        .map(({ attempt }) => attempt),
    ).toEqual([1, 2])
  })

  test('a timestamp that RFC 3339 cannot write is cut to what it can', async () => {
    const letter = await letterOf(topics.odd, oddNames.indexOf('a timestamp that no calendar has'), 'odd')
    expect(header(letter, 'barnabas-publish-time')).toBe('9999-12-31T23:59:59.999Z')
    const old = await letterOf(topics.odd, oddNames.indexOf('a timestamp of 1970'), 'odd')
    expect(header(old, 'barnabas-publish-time')).toBe('1970-01-01T00:00:00.001Z')
  })
})

describe('headers of ours that a source record already carries', () => {
  const foreign: IHeaders = {
    'barnabas-subscription': 'somebody-else',
    'barnabas-subscription-generation': '1',
    'barnabas-attempts': ['7', '8'],
    'barnabas-publish-time': 'yesterday',
    'barnabas-due-time': '2099-01-01T00:00:00.000Z',
    'barnabas-expiry-time': '2001-01-01T00:00:00.000Z',
    'barnabas-source-topic': 'elsewhere',
    'barnabas-last-outcome': 'Nonsense',
    'barnabas-hops': notUtf8,
    'barnabas-dead-letter-reason': 'SkippedByOperator',
    'barnabas-malformed-attempts': 'x',
    'barnabas-unknown': 'y',
  }
  const attributes: IHeaders = {
    ce_deadletterreason: 'TimeToLiveExceeded',
    ce_deliveryattempts: '99',
    ce_lastdeliveryoutcome: 'Busy',
  }

  test('are never read and never doubled; a parked record keeps the attributes of an earlier dead letter', async () => {
    const tiers = await followTopics(plainKafka(), [`${prefix}.retry.now`])
    await produce(plainKafka(), topics.carried, [binaryEvent('carried', { headers: { ...foreign, ...attributes } })])
    const letter = await letterOf(topics.carried, 0, 'carried')
    const ofCarried = (record: FollowedRecord) => header(record, 'ce_id') === 'carried'
    const parked = (await tiers.until((all) => all.some(ofCarried))).find(ofCarried)!
    await tiers.stop()

    expect(receiver.of('carried').map(({ path, attempt }) => `${path} ${attempt}`)).toEqual(
      expect.arrayContaining(['/fails 1', '/fails 2']),
    )
    expect(header(parked, 'barnabas-attempts')).toBe('1')
    expect(header(parked, 'barnabas-hops')).toBe('1')
    expect(header(parked, 'barnabas-subscription')).toBe('carried')
    expect(parked.headers).toMatchObject(asRead(attributes))
    for (const name of ['barnabas-dead-letter-reason', 'barnabas-malformed-attempts', 'barnabas-unknown']) {
      expect(parked.headers).not.toHaveProperty(name)
    }

    expect(header(letter, 'barnabas-attempts')).toBe('2')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(header(letter, 'barnabas-last-outcome')).toBe('GenericError')
    expect(header(letter, 'barnabas-publish-time')).toMatch(/^20\d\d-/)
    expect(header(letter, 'ce_deadletterreason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(header(letter, 'ce_deliveryattempts')).toBe('2')
    expect(header(letter, 'ce_lastdeliveryoutcome')).toBe('GenericError')
    for (const name of ['due-time', 'expiry-time', 'hops', 'malformed-attempts', 'unknown']) {
      expect(letter.headers).not.toHaveProperty(`barnabas-${name}`)
    }
  })
})

describe('a subscription on the dead-letter topic', () => {
  test('is refused while its own dead letters go there', async () => {
    const loop = { id: 'loop', topics: [`${prefix}.dead-letter`], sink: `${receiver.url}/loop` }
    await expect(apply(prefix, [loop])).rejects.toThrow(
      /topics.*dead-letter" is where this subscription's dead letters go; name another deadLetter.topic, or set deadLetter: none/,
    )
    const own = { id: 'loop', topics: [topics.own], sink: `${receiver.url}/loop`, deadLetter: { topic: topics.own } }
    await expect(apply(prefix, [own])).rejects.toThrow(/is where this subscription's dead letters go/)
  })

  test('does not feed itself, neither by a receiver that always fails nor by a damaged dead letter', async () => {
    const deadLetters = `${prefix}.dead-letter`
    await produce(plainKafka(), deadLetters, [plain('no CloudEvent at all', { 'barnabas-subscription': 'nobody' })])
    await produce(plainKafka(), topics.carried, [binaryEvent('last')])
    await letterOf(topics.carried, 1, 'carried')
    for (const id of ['elsewhere', 'nowhere']) {
      await expect
        .poll(() => lagOf(`${prefix}.subscription.${id}`, deadLetters), { timeout: 20_000, interval: 250 })
        .toBe(0)
    }
    // The last of the dead letters was attempted as often as everything: what feeds itself would go on.
    const isLast = (subscription: string) => (all: typeof receiver.requests) =>
      all.filter(
        ({ path, eventId, headers }) =>
          path === '/feeds' && eventId === 'last' && headers['barnabas-subscription'] === subscription,
      ).length >= feedingAttempts
    await receiver.until(isLast('elsewhere'))
    await receiver.until(isLast('nowhere'))
    const isFinal = (record: FollowedRecord) => record.topic === topics.elsewhere && header(record, 'ce_id') === 'last'
    await letters.until((all) => all.some(isFinal))

    const fedBack = letters.records.filter(
      (record) =>
        record.topic === deadLetters &&
        ['elsewhere', 'nowhere'].includes(header(record, 'barnabas-subscription') ?? ''),
    )
    expect(fedBack).toEqual([])
    // One request per attempt, two attempts per event of the topic: nothing came round a second time.
    const events = letters.records.filter(
      (record) => record.topic === deadLetters && header(record, 'ce_id') === 'last',
    )
    expect(events).toHaveLength(1)
    const attempts = receiver.of('last').filter(({ path }) => path === '/feeds')
    expect(
      attempts.map(({ attempt, headers }) => `${String(headers['barnabas-subscription'])} ${attempt}`).toSorted(),
    ).toEqual(['elsewhere 1', 'elsewhere 2', 'nowhere 1', 'nowhere 2'])
    // Where dead letters go elsewhere the damaged one went there, too; where nowhere, it was skipped, logged and counted.
    const damaged = letters.records.filter(
      ({ topic, value }) => topic === topics.elsewhere && value?.toString() === 'no CloudEvent at all',
    )
    expect(damaged.map((record) => header(record, 'barnabas-dead-letter-reason'))).toEqual(['EventMalformed'])
    await barnabas.process.line(/"subscription":"nowhere".*dropped: EventMalformed/)
    expect(
      await metric(barnabas.url, 'barnabas_verdicts_total', { subscription: 'nowhere', verdict: 'dead-letter' }),
    ).toBe(0)
    expect(await metric(barnabas.url, 'barnabas_dropped_total', { subscription: 'nowhere' })).toBeGreaterThan(0)
  })
})
