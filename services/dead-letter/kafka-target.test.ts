import type { KafkaRecord, OutgoingRecord } from '@barnabas/core'
import type { Clusters } from '@barnabas/host'
import type { KafkaClient, ProduceResult } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { createKafkaTarget } from './kafka-target.ts'
import type { TargetWrite } from './target.ts'

const acknowledged: ProduceResult = { kind: 'acknowledged', partition: 0, offset: 0 }
const never = new AbortController().signal
const letter: KafkaRecord = {
  topic: 'barnabas.dead-letter',
  partition: 3,
  offset: 7,
  timestamp: 1,
  key: Buffer.from([0xff, 0]),
  value: Buffer.from('{"n": 1e2}'),
  headers: {
    'x-several': [Buffer.from('one'), null, Buffer.from([0xfe])],
    'x-null': null,
    'barnabas-dead-letter-target': Buffer.from('kafka://audit/letters'),
  },
}

/** A Kafka whose topics have these ids. */
function kafkaOf(answer: () => Promise<ProduceResult>, ids: () => Record<string, string> = () => ({})) {
  const records: OutgoingRecord[] = []
  const producers: { isClosed: boolean }[] = []
  const kafka = {
    admin: { topicIds: async () => new Map(Object.entries(ids())) },
    producer() {
      const producer = { isClosed: false }
      producers.push(producer)
      return {
        produce: (record: OutgoingRecord) => (records.push(record), answer()),
        close: async () => void (producer.isClosed = true),
      }
    },
  } as unknown as KafkaClient
  return { kafka, records, producers }
}

function targetOn(
  kafka: KafkaClient,
  more: { client?: () => ReturnType<Clusters['client']>; own?: KafkaClient; isCircular?: true } = {},
) {
  return createKafkaTarget({
    topic: 'letters',
    client: more.client ?? (() => ({ kind: 'client', kafka })),
    own: more.own ?? kafkaOf(async () => acknowledged).kafka,
    isCircular: () => more.isCircular ?? false,
    closeWithinMs: 20,
  })
}

test('B7: key, value and headers arrive byte for byte', async () => {
  const { kafka, records } = kafkaOf(async () => acknowledged)
  expect(await targetOn(kafka).write([letter], never)).toEqual([{ kind: 'accepted' }])
  const { key, value, headers } = letter
  expect(records).toEqual([{ topic: 'letters', key, value, headers }])
})

test.each<[result: ProduceResult, write: TargetWrite]>([
  [acknowledged, { kind: 'accepted' }],
  [
    { kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'too large' },
    { kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'too large' },
  ],
  [
    { kind: 'refused', code: 'INVALID', message: 'no key' },
    { kind: 'refused', code: 'INVALID', message: 'no key' },
  ],
  // An operator mends these: nothing is passed over for them.
  [
    { kind: 'refused', code: 'NOT_AUTHORIZED', message: 'not authorized' },
    { kind: 'unavailable', message: 'not authorized' },
  ],
  [
    { kind: 'unavailable', message: 'topic letters does not exist', isMissing: true },
    { kind: 'unavailable', message: 'topic letters does not exist' },
  ],
  [
    { kind: 'unavailable', message: 'too few replicas', because: 'replicas' },
    { kind: 'unavailable', message: 'too few replicas' },
  ],
])('B7: %j comes to %j', async (result, write) => {
  expect(await targetOn(kafkaOf(async () => result).kafka).write([letter], never)).toEqual([write])
})

test('a cluster that no file names is tried again, with the sentence that says where it belongs', async () => {
  let client: ReturnType<Clusters['client']> = { kind: 'unknown', message: 'the cluster audit is not known' }
  const { kafka } = kafkaOf(async () => acknowledged)
  const target = targetOn(kafka, { client: () => client })
  const unavailable = { kind: 'unavailable', message: 'the cluster audit is not known' }
  expect(await target.write([letter, letter], never)).toEqual([unavailable, unavailable])
  client = { kind: 'client', kafka }
  expect(await target.write([letter], never)).toEqual([{ kind: 'accepted' }])
})

test('a connection that was refused, and one of a former password, are not used again', async () => {
  let result: ProduceResult = { kind: 'refused', code: 'NOT_AUTHORIZED', message: 'x' }
  const first = kafkaOf(async () => result)
  const second = kafkaOf(async () => acknowledged)
  let kafka = first.kafka
  const target = targetOn(first.kafka, { client: () => ({ kind: 'client', kafka }) })
  await target.write([letter, letter], never)
  expect(first.producers).toEqual([{ isClosed: true }])
  result = acknowledged
  await target.write([letter], never)
  kafka = second.kafka
  await target.write([letter], never)
  expect(first.producers).toEqual([{ isClosed: true }, { isClosed: true }])
  await target.close()
  expect(second.producers).toEqual([{ isClosed: true }])
})

test('dead letters that would come round again are not carried, under whatever address; other topics of that name are', async () => {
  const ids = { letters: 'id-1' }
  const own = kafkaOf(
    async () => acknowledged,
    () => ids,
  )
  const there = { letters: 'id-1' }
  const { kafka, records } = kafkaOf(
    async () => acknowledged,
    () => there,
  )
  const target = targetOn(kafka, { own: own.kafka, isCircular: true })
  expect(await target.write([letter], never)).toEqual([
    {
      kind: 'unavailable',
      message: expect.stringMatching(/letters would bring the dead letters round again/) as string,
    },
  ])
  expect(records).toEqual([])
  there.letters = 'id-2'
  expect(await target.write([letter], never)).toEqual([{ kind: 'accepted' }])
})

test('a Kafka that cannot be asked whether it is ours is away', async () => {
  const { kafka, records } = kafkaOf(
    async () => acknowledged,
    () => {
      throw new Error('connect ECONNREFUSED')
    },
  )
  const target = targetOn(kafka, { isCircular: true })
  expect(await target.write([letter], never)).toEqual([{ kind: 'unavailable', message: 'connect ECONNREFUSED' }])
  expect(records).toEqual([])
})

test('the end waits neither for an answer nor for a Kafka that does not close', async () => {
  const stop = new AbortController()
  const kafka = {
    producer: () => ({ produce: () => new Promise(() => {}), close: () => new Promise(() => {}) }),
  } as unknown as KafkaClient
  const target = targetOn(kafka)
  const written = target.write([letter], stop.signal)
  stop.abort()
  expect(await written).toEqual([{ kind: 'unavailable', message: 'cut off by our own stop' }])
  await target.close()
})
