/**
 * Several events in one request (rows A11, C1; docs/delivery.md, "Batches"). With one place (`concurrency: 1`) whatever was
 * fetched at once waits together, so which batches there are depends on nothing but their limits.
 */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas, Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const prefix = randomName('batching')
const cleanUp = cleanUpAfterAll()
const kafka = plainKafka()
const numbered = (count: number) => Array.from({ length: count }, (_, index) => index)

let shared: Barnabas

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  shared = await startBarnabas(prefix)
  cleanUp(() => shared.stop())
})

interface Batched {
  readonly id: string
  readonly topic: string
  readonly receiver: Receiver
  /** Nothing of it is open any more. */
  settled(): Promise<void>
}

/** A running subscription with one place, and a receiver that answers by the script. */
async function subscribed(
  id: string,
  script: (request: ReceivedRequest) => Answer | Promise<Answer>,
  fields: Partial<Written>,
  under = prefix,
  partitions = 1,
): Promise<Batched> {
  const topic = await createSourceTopic(under, id, partitions)
  const receiver = await startReceiver(script)
  cleanUp(() => receiver.close())
  const retry = { schedule: ['1s', '1s'] }
  await apply(under, [
    { id, topics: [topic], sink: receiver.url, mode: 'structured', concurrency: 1, retry, ...fields },
  ])
  const settled = () => expect.poll(() => lagOf(`${under}.subscription.${id}`, topic), { timeout: 20_000 }).toBe(0)
  return { id, topic, receiver, settled }
}

/** All in one record batch, so that they are fetched together. */
async function produceAtOnce(topic: string, ids: readonly string[], data: (index: number) => string = () => '{}') {
  const messages = ids.map((id, index) => binaryEvent(id, { data: data(index) }))
  await produce(kafka, topic, messages)
}

const idsOf = (requests: readonly ReceivedRequest[]) => requests.map(({ eventIds }) => eventIds)
const sorted = (ids: Iterable<string>) => [...ids].toSorted()

test('A11: at most so many events, in their order; one alone is an object, several are an array', async () => {
  const { topic, receiver, settled } = await subscribed('count', () => 204, { batch: { maxEvents: 10 } })
  const ids = numbered(21).map(String)
  await produceAtOnce(topic, ids, (index) => `{"n": ${index}.0}`)
  await settled()
  expect(idsOf(receiver.requests)).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)])
  expect(receiver.requests.map(({ headers, attempt }) => [headers['content-type'], attempt])).toEqual([
    ['application/cloudevents-batch+json; charset=utf-8', 1],
    ['application/cloudevents-batch+json; charset=utf-8', 1],
    ['application/cloudevents+json; charset=utf-8', 1],
  ])
  // As its bytes stand, also in a batch.
  expect(receiver.requests[0]?.body.toString()).toContain('"data":{"n": 3.0}}')
})

test('A11: with mode: binary several travel as a batch and one alone as it is', async () => {
  const { topic, receiver, settled } = await subscribed('binary', () => 204, {
    mode: 'binary',
    batch: { maxEvents: 2 },
  })
  await produceAtOnce(topic, ['a', 'b', 'c'])
  await settled()
  expect(idsOf(receiver.requests)).toEqual([['a', 'b'], ['c']])
  expect(receiver.requests.map(({ headers }) => [headers['content-type'], headers['ce-id']])).toEqual([
    ['application/cloudevents-batch+json; charset=utf-8', undefined],
    ['application/json', 'c'],
  ])
})

test('A11: the size is a target that only one larger event exceeds, and that one travels alone', async () => {
  const { topic, receiver, settled } = await subscribed('size', () => 204, { batch: { preferredSize: '4KB' } })
  const sizes = [1_000, 1_000, 1_000, 1_000, 9_000, 500, 2_500, 10, 10, 10]
  const ids = sizes.map((size, index) => `${index} of ${size}`)
  await produceAtOnce(topic, ids, (index) => JSON.stringify('x'.repeat(sizes[index]!)))
  await settled()
  expect(idsOf(receiver.requests)).toEqual([ids.slice(0, 3), ids.slice(3, 4), ids.slice(4, 5), ids.slice(5)])
  const large = receiver.requests.filter(({ body }) => body.length > 4_096)
  expect(idsOf(large)).toEqual([[ids[4]]])
})

test('A11: 5,000 events in a request, and not one more', { timeout: 60_000 }, async () => {
  const own = randomName('batching-most')
  cleanUp(() => removeEverything(own))
  const barnabas = await startBarnabas(own, { BARNABAS_LOG_LEVEL: 'debug' })
  cleanUp(() => barnabas.stop())
  const held = Promise.withResolvers<void>()
  const script = async ({ eventId }: ReceivedRequest) => {
    if (eventId === 'first') await held.promise
    return 204
  }
  const batch = { maxEvents: 5_000, preferredSize: '1024KB' }
  const { topic, receiver, settled } = await subscribed('most', script, { batch }, own, 3)
  await produce(kafka, topic, [{ ...binaryEvent('first'), partition: 0 }])
  await receiver.until((requests) => requests.length === 1)
  const ids = numbered(7_500).map(String)
  const messages = ids.map((id, index) => ({
    ...structuredEvent(`{"specversion":"1.0","id":"${id}","source":"/s","type":"t"}`),
    partition: index % 3,
  }))
  await produce(kafka, topic, messages)
  // As much of each partition as may be open at a time, in all more than a batch takes.
  for (const partition of [0, 1, 2]) {
    await barnabas.process.line(new RegExp(`"${topic}","partition":${partition}.*reading waits`))
  }
  held.resolve()
  await settled()
  const [, second] = receiver.requests
  expect(second?.eventIds).toHaveLength(5_000)
  expect(receiver.requests.every(({ body, eventIds }) => body.length <= 1_048_576 && eventIds.length <= 5_000)).toBe(
    true,
  )
  expect(sorted(idsOf(receiver.requests).flat())).toEqual(sorted(['first', ...ids]))
})

test('A11: a batch never waits to fill, and events that come while one is in flight fill the next', async () => {
  const held = Promise.withResolvers<void>()
  const { topic, receiver, settled } = await subscribed(
    'waiting',
    async ({ eventId }) => {
      if (eventId === 'first') await held.promise
      return 204
    },
    { batch: { maxEvents: 100 } },
  )
  await produceAtOnce(topic, ['first'])
  await receiver.until((requests) => requests.length === 1)
  for (const id of ['a', 'b', 'c']) await produceAtOnce(topic, [id])
  held.resolve()
  await settled()
  expect(idsOf(receiver.requests)[0]).toEqual(['first'])
  expect(idsOf(receiver.requests).flat()).toEqual(['first', 'a', 'b', 'c'])
})

test('EventBridge’s BatchWindow: of count, size and time the first one ends the waiting (issue 6, point 10)', async () => {
  const topic = await createSourceTopic(prefix, 'windows')
  const receiver = await startReceiver(() => 204)
  cleanUp(() => receiver.close())
  const batches = {
    count: { maxEvents: 4, window: '15s' },
    size: { maxEvents: 100, preferredSize: '4KB', window: '15s' },
    time: { maxEvents: 100, window: '3s' },
  }
  const subscriptions = Object.entries(batches).map(([id, batch]) => ({
    id: `by-${id}`,
    topics: [topic],
    sink: `${receiver.url}/${id}`,
    mode: 'structured',
    batch,
  }))
  await apply(prefix, subscriptions)
  const ids = numbered(4).map(String)
  const startedAt = Date.now()
  // One after the other: without a window each would be gone before the next one comes.
  for (const id of ids) await produce(kafka, topic, [binaryEvent(id, { data: JSON.stringify('x'.repeat(1_000)) })])
  const got = (id: string) => receiver.requests.filter(({ path }) => path === `/${id}`)
  await receiver.until(() => ['count', 'size', 'time'].every((id) => got(id).length > 0))
  expect(idsOf(got('count'))).toEqual([ids])
  expect(idsOf(got('size'))).toEqual([ids.slice(0, 3)])
  const [byTime] = got('time')
  expect(byTime!.time - startedAt).toBeGreaterThan(2_900)
  await receiver.until(() => idsOf(got('time')).flat().length === ids.length)
  expect(idsOf(got('time')).flat()).toEqual(ids)
})

test('A11: all or none: a failed batch is retried event by event, in requests that they share again', async () => {
  const { topic, receiver } = await subscribed('fails', ({ attempt }) => (attempt === 1 ? 503 : 204), {
    batch: { maxEvents: 50 },
  })
  const ids = numbered(50).map(String)
  await produceAtOnce(topic, ids)
  await receiver.until((requests) => idsOf(requests).flat().length >= 100)
  const [first, ...retries] = receiver.requests
  expect(first?.eventIds).toEqual(ids)
  expect(sorted(idsOf(retries).flat())).toEqual(sorted(ids))
  expect(retries.every(({ attempt }) => attempt === 2)).toBe(true)
  // They fall due at the same moment: how many requests that makes is a matter of timers, but never one for each.
  expect(retries.length).toBeLessThan(25)
  const records = (await readTopic(kafka, `${prefix}.retry.1s`)).filter(
    (record) => header(record, 'barnabas-subscription') === 'fails',
  )
  expect(new Set(records.map((record) => header(record, 'barnabas-due-time'))).size).toBe(1)
  expect(records.map((record) => header(record, 'barnabas-attempts'))).toEqual(ids.map(() => '1'))
})

test('each event of a batch has its own number of attempts, and Barnabas-Attempt is the lowest', async () => {
  const { id, topic, receiver } = await subscribed('counts', () => 503, {
    batch: { maxEvents: 10 },
    retry: { schedule: ['10m', '10m', '10m', '10m'] },
  })
  const control = await followControlTopics(prefix)
  const generation = String((await control.stored(id))['generation'])
  await control.stop()
  const made = ['4', '1', '3', '2']
  const records = made.map((attempts, offset) => ({
    ...retryRecord(`after ${attempts}`, { subscription: id, generation, topic, offset }, { attempts }),
    partition: 0,
  }))
  const parked = await followTopics(kafka, [`${prefix}.retry.10m`, `${prefix}.dead-letter`])
  cleanUp(() => parked.stop())
  await produce(kafka, `${prefix}.retry.now`, records)
  const ofThis = await parked.until(
    (all) => all.filter((each) => header(each, 'barnabas-subscription') === id).length === 4,
  )
  expect(receiver.requests.map(({ eventIds, attempt }) => [sorted(eventIds), attempt])).toEqual([
    [['after 1', 'after 2', 'after 3', 'after 4'], 2],
  ])
  const names = ['ce_id', 'barnabas-attempts', 'barnabas-dead-letter-reason'] as const
  const facts = ofThis
    .filter((each) => header(each, 'barnabas-subscription') === id)
    .map((each) => names.map((name) => header(each, name) ?? 'none').join(': '))
  expect(facts.toSorted()).toEqual([
    'after 1: 2: none',
    'after 2: 3: none',
    'after 3: 4: none',
    'after 4: 5: MaxDeliveryAttemptsExceeded',
  ])
})

test('a 413 splits a batch until only the guilty event is dead-lettered, and the innocent are at their first attempt', async () => {
  const { id, topic, receiver, settled } = await subscribed(
    'split',
    ({ eventIds }) => (eventIds.includes('guilty') ? 413 : 204),
    {
      batch: { maxEvents: 20 },
    },
  )
  const ids = numbered(20).map((index) => (index === 13 ? 'guilty' : String(index)))
  await produceAtOnce(topic, ids)
  await settled()
  const accepted = receiver.requests.filter(({ eventIds }) => !eventIds.includes('guilty'))
  expect(sorted(idsOf(accepted).flat())).toEqual(sorted(ids.filter((each) => each !== 'guilty')))
  expect(receiver.requests.every(({ attempt }) => attempt === 1)).toBe(true)
  expect(receiver.requests.at(0)?.eventIds).toHaveLength(20)
  const refused = receiver.requests.filter(({ eventIds }) => eventIds.includes('guilty') && eventIds.length > 1)
  expect(await metric(shared.url, 'barnabas_batches_split_total', { subscription: id })).toBe(refused.length)
  const letters = (await readTopic(kafka, `${prefix}.dead-letter`)).filter(
    (letter) => header(letter, 'barnabas-subscription') === id,
  )
  expect(letters.map((letter) => header(letter, 'ce_id'))).toEqual(['guilty'])
  expect(letters.map((letter) => header(letter, 'barnabas-attempts'))).toEqual(['1'])
  expect(letters.map((letter) => header(letter, 'barnabas-dead-letter-reason'))).toEqual([
    'UndeliverableDueToHttpRequestEntityTooLarge',
  ])
})

test('a record that is no event does not spoil the batch around it', async () => {
  const { id, topic, receiver, settled } = await subscribed('damaged', () => 204, { batch: { maxEvents: 10 } })
  await produce(kafka, topic, [
    binaryEvent('a'),
    { key: null, value: 'no event' },
    structuredEvent('{"specversion":"1.0","id":"b","source":"/s"}'),
    binaryEvent('c'),
  ])
  await settled()
  expect(idsOf(receiver.requests)).toEqual([['a', 'c']])
  const letters = (await readTopic(kafka, `${prefix}.dead-letter`)).filter(
    (letter) => header(letter, 'barnabas-subscription') === id,
  )
  expect(letters.map((letter) => header(letter, 'barnabas-dead-letter-reason'))).toEqual([
    'EventMalformed',
    'EventMalformed',
  ])
})

test('a process that is killed in the middle of batches loses none of their events', { timeout: 60_000 }, async () => {
  const own = randomName('batching-killed')
  cleanUp(() => removeEverything(own))
  const first = await startBarnabas(own)
  cleanUp(() => first.stop())
  const delivered = new Set<string>()
  let killed = false
  // Some are parked when the process dies, some delivered, and some hang.
  const statusOf = (number: number) => (number < 300 ? 503 : number < 600 || killed ? 204 : 'hang')
  const { topic, receiver, settled } = await subscribed(
    'killed',
    ({ attempt, eventId, eventIds }) => {
      const answer = attempt > 1 ? 204 : statusOf(Number(eventId))
      if (answer === 204) eventIds.forEach((id) => delivered.add(id))
      return answer
    },
    { batch: { maxEvents: 50 }, concurrency: 2 },
    own,
  )
  await produceAtOnce(topic, numbered(1_000).map(String))
  await receiver.until((requests) => requests.some(({ eventId }) => Number(eventId) >= 600))
  await first.process.kill('SIGKILL')
  killed = true

  const next = await startBarnabas(own)
  cleanUp(() => next.stop())
  await expect.poll(() => delivered.size, { timeout: 30_000 }).toBe(1_000)
  await settled()
  expect(await readTopic(kafka, `${own}.dead-letter`)).toEqual([])
})

test(
  'SIGTERM drains: a batch in flight is done, and what waited is the next process’s',
  { timeout: 60_000 },
  async () => {
    const own = randomName('batching-stopped')
    cleanUp(() => removeEverything(own))
    const first = await startBarnabas(own, { BARNABAS_DRAIN_TIMEOUT: '20s' })
    cleanUp(() => first.stop())
    const held = Promise.withResolvers<void>()
    const { topic, receiver, settled } = await subscribed(
      'stopped',
      async ({ eventIds }) => {
        if (eventIds.includes('0')) await held.promise
        return 204
      },
      { batch: { maxEvents: 10 } },
      own,
    )
    const ids = numbered(30).map(String)
    await produceAtOnce(topic, ids)
    await receiver.until((requests) => requests.length === 1)
    const stopped = first.process.kill('SIGTERM')
    await first.process.line(/stopping|SIGTERM/i)
    held.resolve()
    expect(await stopped).toBe(0)
    expect(idsOf(receiver.requests)).toEqual([ids.slice(0, 10)])

    const next = await startBarnabas(own)
    cleanUp(() => next.stop())
    await settled()
    expect(idsOf(receiver.requests)).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)])
  },
)

test(
  'a batch that is cut off by a stop counts for each of its events, and they go on with their second attempt',
  { timeout: 60_000 },
  async () => {
    const own = randomName('batching-cut')
    cleanUp(() => removeEverything(own))
    const first = await startBarnabas(own, { BARNABAS_DRAIN_TIMEOUT: '100ms' })
    cleanUp(() => first.stop())
    const { topic, receiver } = await subscribed(
      'cut',
      ({ attempt }) => (attempt === 1 ? 'hang' : 204),
      {
        batch: { maxEvents: 10 },
        retry: { schedule: ['5s', '5s'] },
      },
      own,
    )
    const ids = numbered(10).map(String)
    await produceAtOnce(topic, ids)
    await receiver.until((requests) => requests.length === 1)
    expect(await first.process.kill('SIGTERM')).toBe(0)
    const parked = await readTopic(kafka, `${own}.retry.4s`)
    expect(
      parked.map((record) => [header(record, 'barnabas-last-outcome'), header(record, 'barnabas-attempts')]),
    ).toEqual(ids.map(() => ['Canceled', '1']))

    const next = await startBarnabas(own)
    cleanUp(() => next.stop())
    await receiver.until((requests) => idsOf(requests).flat().length >= 20)
    expect(receiver.requests.slice(1).every(({ attempt }) => attempt === 2)).toBe(true)
    expect(sorted(idsOf(receiver.requests.slice(1)).flat())).toEqual(sorted(ids))
  },
)
