import { decodeEvent } from '@barnabas/core'
import type { OutgoingRecord, RequestShape } from '@barnabas/core'
import type { KafkaClient, ProduceResult } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { createKafkaSender } from './sender.ts'

const shape: RequestShape = {
  id: 'copies',
  notation: 'barnabas',
  schema: 'CloudEventSchemaV1_0',
  mode: 'binary',
  headers: [],
  handshake: 'none',
}
const acknowledged: ProduceResult = { kind: 'acknowledged', partition: 0, offset: 0 }
const missing: ProduceResult = { kind: 'unavailable', message: 'x', isMissing: true }

function opened(
  answer: (record: OutgoingRecord) => Promise<ProduceResult>,
  topics: () => Promise<Set<string>> = async () => new Set(),
  closes = Promise.resolve(),
) {
  const records: OutgoingRecord[] = []
  const producers: { closed: boolean }[] = []
  const kafka = {
    admin: { topics },
    producer() {
      const producer = { closed: false }
      producers.push(producer)
      return {
        produce: (record: OutgoingRecord) => (records.push(record), answer(record)),
        close: () => {
          producer.closed = true
          return closes
        },
      }
    },
  } as unknown as KafkaClient
  const sender = createKafkaSender({
    clientOf: (cluster) =>
      cluster === 'gone' ? { kind: 'unknown', message: 'gone is not known' } : { kind: 'client', kafka },
    findSecret: (name) => ({ kind: 'unknown', message: `the secret ${name} is not known` }),
    now: Date.now,
    closeWithinMs: 5,
  })
  const stop = new AbortController()
  const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't' }
  const decoded = decodeEvent({
    value: null,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])),
  })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  const options = {
    url: 'kafka:copies',
    shape,
    key: Buffer.from('k'),
    attemptNumber: 1,
    timeoutMs: 60_000,
    signal: stop.signal,
  }
  const attempt = (change: object = {}) => sender.attempt([decoded.event], { ...options, ...change })
  const together = () => sender.attempt([decoded.event, decoded.event], options)
  return { sender, attempt, together, records, producers, stop }
}

test('one record, delivered when it is acknowledged, and one producer for all of a cluster', async () => {
  const { attempt, records, producers, sender } = opened(async () => acknowledged)
  expect(await attempt()).toMatchObject({ outcome: 'Delivered', error: null })
  expect(await attempt({ url: 'kafka:others' })).toMatchObject({ outcome: 'Delivered' })
  await attempt({ url: 'kafka://audit/copies' })
  expect(records.map(({ topic, key }) => [topic, key?.toString()])).toEqual([
    ['copies', 'k'],
    ['others', 'k'],
    ['copies', 'k'],
  ])
  expect(producers).toHaveLength(2)
  await sender.close()
  expect(producers.every(({ closed }) => closed)).toBe(true)
})

test('an acknowledgement that does not come in time is awaited no longer', async () => {
  const { attempt } = opened(() => new Promise(() => undefined))
  expect(await attempt({ timeoutMs: 5 })).toMatchObject({
    outcome: 'TimedOut',
    error: 'no acknowledgement within 5 ms',
  })
})

test('our own stop cuts attempts off, those under way and those to come', async () => {
  const { attempt, stop, records } = opened(() => new Promise(() => undefined))
  const attempts = Promise.all(Array.from({ length: 20 }, () => attempt()))
  stop.abort()
  expect((await attempts).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 20 }, () => 'Canceled'))
  expect(await attempt()).toMatchObject({ outcome: 'Canceled' })
  expect(records).toHaveLength(20)
})

test('B3: a cluster or a secret that is not known is no attempt', async () => {
  const { attempt, records } = opened(async () => acknowledged)
  expect(await attempt({ url: 'kafka://gone/copies' })).toMatchObject({ isNoRequest: true, error: 'gone is not known' })
  const headers = [{ kind: 'secret', name: 'X-Key', secret: 'KEY' }]
  expect(await attempt({ shape: { ...shape, headers } })).toMatchObject({
    isNoRequest: true,
    error: 'headers.X-Key: the secret KEY is not known',
  })
  expect(records).toEqual([])
})

test('B3: after a refusal the next attempt connects anew', async () => {
  const answers: ProduceResult[] = [{ kind: 'refused', code: 'NOT_AUTHORIZED', message: 'no' }, acknowledged]
  const { attempt, producers } = opened(async () => answers.shift()!)
  expect(await attempt()).toMatchObject({ isNoRequest: true })
  expect(await attempt()).toMatchObject({ outcome: 'Delivered' })
  expect(producers.map(({ closed }) => closed)).toEqual([true, false])
})

test('B3: that the topic is missing is said by the next attempt where it was heard after the time-out, once', async () => {
  const late = Promise.withResolvers<ProduceResult>()
  const answers = [late.promise, Promise.resolve(acknowledged)]
  const { attempt } = opened(() => answers.shift()!)
  expect(await attempt({ timeoutMs: 5 })).toMatchObject({ outcome: 'TimedOut' })
  late.resolve(missing)
  await new Promise((resolve) => setImmediate(resolve))
  expect(await attempt()).toMatchObject({
    isNoRequest: true,
    error: expect.stringContaining('topic copies does not exist'),
  })
  expect(await attempt()).toMatchObject({ outcome: 'Delivered' })
})

test('B3: what is wrong with a sink can be asked before', async () => {
  const ask = (topics: () => Promise<Set<string>>, sink = 'kafka:copies') =>
    opened(async () => acknowledged, topics).sender.problemOf(sink, 20)
  expect(await ask(async () => new Set(['copies']))).toBe(null)
  expect(await ask(async () => new Set(['others']))).toMatch(/^sink: topic copies does not exist, or may not be seen/)
  expect(await ask(() => new Promise(() => undefined))).toBe(null)
  expect(await ask(() => Promise.reject(new Error('connect ECONNREFUSED')))).toBe(null)
  const refused = Object.assign(new Error('Invalid username or password'), { name: 'KafkaJSSASLAuthenticationError' })
  expect(await ask(() => Promise.reject(refused))).toMatch(/may not be written to: Invalid username or password/)
  expect(await ask(async () => new Set(), 'kafka://gone/x')).toBe('gone is not known')
  expect(await ask(async () => new Set(), 'https://example.com')).toBe(null)
})

test('a Kafka that does not answer is not waited for at the end', async () => {
  const { attempt, sender, producers } = opened(async () => acknowledged, undefined, new Promise(() => undefined))
  await attempt()
  await sender.close()
  expect(producers.map(({ closed }) => closed)).toEqual([true])
})

test('events that came together before the sink was a topic are taken apart', async () => {
  const { together, records } = opened(async () => acknowledged)
  expect(await together()).toMatchObject({ outcome: 'PayloadTooLarge', status: 413 })
  expect(records).toEqual([])
})
