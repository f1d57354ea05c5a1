import { noGeneration, startPlace, startPlaceWithoutLives } from '@barnabas/core'
import { createTrackedConsumer } from '@barnabas/delivery'
import type { TrackedConsumer, TrackedPartition } from '@barnabas/delivery'
import { connectKafka } from '@barnabas/kafka'
import type { CommitPosition, KafkaClient } from '@barnabas/kafka'
import type { KafkaRecord, OpenRecord } from '@barnabas/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTopic, plainKafka, produce, randomName, testBrokers } from '../support/kafka.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const metadata: unknown = expect.stringMatching(/^barnabas\/1 generation=7 topic=[\w-]{22}$/)
const open: { close(): Promise<void> }[] = []
let plain: ReturnType<typeof plainKafka>

beforeAll(() => void (plain = plainKafka()))
afterAll(async () => void (await Promise.all(open.map((each) => each.close()))))

interface Taken {
  readonly partition: TrackedPartition
  readonly record: KafkaRecord
  readonly open: OpenRecord
}

/** A consumer that takes whatever comes and finishes it when the test says so. */
async function follow(
  topic: string,
  groupId: string,
  startOffset: (low: number) => number | null = (low) => low,
  onRejoining: () => Promise<void> = async () => {},
  sessionTimeoutMs = 6_000,
) {
  const kafka: KafkaClient = connectKafka({
    brokers: testBrokers(),
    clientId: randomName('test'),
    sessionTimeoutMs,
    logger: silent,
  })
  open.push(kafka)
  const taken: Taken[] = []
  const commits: CommitPosition[] = []
  const waiters = new Set<() => void>()
  const told = () => waiters.forEach((check) => check())
  const without: number[] = []
  const consumer: TrackedConsumer = createTrackedConsumer({
    kafka,
    groupId,
    topics: [topic],
    sessionTimeoutMs,
    generation: 7,
    keepsAllDone: true,
    startPlace(_at, found) {
      const start = startOffset(found.low)
      if (start === null) return { kind: 'unknown' }
      return startPlace({ ...found, generation: 7, start, startedId: undefined, ranBefore: false, wasMissing: false })
    },
    onNoPlace({ partition }) {
      without.push(partition)
      told()
    },
    onRecords(partition, records) {
      for (const record of records) {
        const taking = partition.take(record.offset)
        if (taking !== null) taken.push({ partition, record, open: taking })
      }
      told()
    },
    onRejoining,
    onPlaced: told,
    onFailed(failure) {
      throw new Error(failure.message)
    },
    onCommitted(positions) {
      commits.push(...positions)
      told()
    },
    logger: silent,
  })
  function until(isEnough: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      function check() {
        if (!isEnough()) return
        waiters.delete(check)
        resolve()
      }
      waiters.add(check)
      check()
    })
  }
  await consumer.start()
  return { consumer, taken, commits, without, until, kafka }
}

async function topicWith(values: readonly number[], partitions = 1) {
  const topic = randomName('tracked')
  await createTopic(plain, topic, partitions)
  if (values.length > 0) await send(topic, values)
  return { topic, groupId: randomName('group') }
}

const send = (topic: string, values: readonly number[], partition = 0) =>
  produce(
    plain,
    topic,
    values.map((value) => ({ partition, key: null, value: String(value) })),
  )

test('what completes out of order is committed up to the first that is open, and no further', async () => {
  const { topic, groupId } = await topicWith([0, 1, 2, 3])
  const { consumer, taken, commits, until } = await follow(topic, groupId)
  await until(() => taken.length === 4)
  const finish = (offset: number) => {
    const one = taken.find(({ record }) => record.offset === offset)
    one?.partition.finish(one.open, true)
  }
  finish(1)
  finish(3)
  finish(0)
  await until(() => commits.at(-1)?.offset === 2)
  finish(2)
  await until(() => commits.at(-1)?.offset === 4)
  await consumer.stop()
})

test('a place is committed, with its metadata, before the first record is handed over', async () => {
  const { topic, groupId } = await topicWith([0, 1, 2])
  const { consumer, taken, until, kafka } = await follow(topic, groupId, () => 2)
  await until(() => taken.length === 1)
  expect(taken[0]?.record.offset).toBe(2)
  expect(await kafka.admin.committed(groupId, [topic])).toEqual([{ topic, partition: 0, offset: 2, metadata }])
  await consumer.stop()
})

test('without a place nothing is handed over and nothing is committed', async () => {
  const { topic, groupId } = await topicWith([0])
  const { consumer, taken, without, until, kafka } = await follow(topic, groupId, () => null)
  await until(() => without.length > 0)
  expect(taken).toEqual([])
  expect(await kafka.admin.committed(groupId, [topic])).toEqual([])
  await consumer.stop()
})

test('what was taken and not finished comes again after a restart; what was finished does not', async () => {
  const { topic, groupId } = await topicWith([0, 1, 2])
  const first = await follow(topic, groupId)
  await first.until(() => first.taken.length === 3)
  first.taken[0]?.partition.finish(first.taken[0].open, false)
  await first.consumer.stop()
  const second = await follow(topic, groupId)
  await second.until(() => second.taken.length === 2)
  expect(second.taken.map(({ record }) => record.offset)).toEqual([1, 2])
  await second.consumer.stop()
})

test('what was done beyond the commit does not come again after a restart: it stands in the metadata', async () => {
  const { topic, groupId } = await topicWith([0, 1, 2, 3])
  const first = await follow(topic, groupId)
  await first.until(() => first.taken.length === 4)
  for (const { partition, record, open: taken } of first.taken) {
    if (record.offset === 1 || record.offset === 3) partition.finish(taken, false)
  }
  await first.until(() => first.commits.at(-1)?.metadata.endsWith('done=1.1.1.1') === true)
  await first.consumer.stop()
  const second = await follow(topic, groupId)
  await second.until(() => second.taken.length === 2)
  await send(topic, [4])
  await second.until(() => second.taken.length === 3)
  expect(second.taken.map(({ record }) => record.offset)).toEqual([0, 2, 4])
  await second.consumer.stop()
})

test('every second record of thousands is open: reading waits before what is done is more than a commit can say', async () => {
  const records = 6_000
  const { topic, groupId } = await topicWith(Array.from({ length: records }, (_, index) => index))
  const isDone = (offset: number): boolean => offset % 2 === 1
  const first = await follow(topic, groupId)
  // Finished as they come, but for every second one: thousands would be open without an end to what is taken.
  let finished = 0
  const finishDone = (): boolean => {
    for (; finished < first.taken.length; finished++) {
      const one = first.taken[finished]!
      if (isDone(one.record.offset)) one.partition.finish(one.open, false)
    }
    return first.commits.at(-1)?.metadata.length === lastLength && lastLength > 3_900
  }
  let lastLength = 0
  await first.until(() => {
    lastLength = first.commits.at(-1)?.metadata.length ?? 0
    return finishDone()
  })
  const taken = first.taken.map(({ record }) => record.offset)
  expect(taken.length).toBeLessThan(records)
  await first.consumer.stop()

  const second = await follow(topic, groupId)
  const again = () => second.taken.map(({ record }) => record.offset).filter((offset) => offset <= taken.at(-1)!)
  const finishAll = (): void => {
    for (const one of second.taken.splice(0)) one.partition.finish(one.open, false)
  }
  await second.until(() => again().length >= taken.length / 2)
  expect(again()).toEqual(taken.filter((offset) => !isDone(offset)))
  // Once what is open is finished, reading goes on to the end.
  await second.until(() => {
    finishAll()
    return second.commits.at(-1)?.offset === records
  })
  await second.consumer.stop()
})

test('a member that joins gets a part; what the other had open there is lost to it and comes again', async () => {
  const { topic, groupId } = await topicWith([], 2)
  await Promise.all([send(topic, [0, 1], 0), send(topic, [0, 1], 1)])
  const first = await follow(topic, groupId)
  await first.until(() => first.taken.length === 4)
  const second = await follow(topic, groupId)
  await second.until(() => second.taken.length === 2)
  const moved = second.taken[0]?.record.partition
  const lost = first.taken.filter(({ record }) => record.partition === moved)
  const kept = first.taken.filter(({ record }) => record.partition !== moved)
  expect([lost.map(({ partition }) => partition.lost), kept.map(({ partition }) => partition.lost)]).toEqual([
    [true, true],
    [false, false],
  ])
  // What the first still finishes there is not committed; what it kept is not read again.
  for (const { partition, open: record } of lost) partition.finish(record, true)
  for (const { partition, open: record } of kept) partition.finish(record, true)
  await first.until(() => first.commits.some(({ partition, offset }) => partition !== moved && offset === 2))
  const committed = await first.kafka.admin.committed(groupId, [topic])
  expect(committed.find(({ partition }) => partition === moved)?.offset).toBe(0)
  expect(first.taken).toHaveLength(4)
  await Promise.all([first.consumer.stop(), second.consumer.stop()])
})

test('what ends while the group waits for a rejoin is committed before it, and no other member does it again', async () => {
  const { topic, groupId } = await topicWith([], 2)
  await Promise.all([send(topic, [0, 1], 0), send(topic, [0, 1], 1)])
  const first = await follow(topic, groupId, undefined, async () => {
    for (const { partition, open: record } of first.taken) partition.finish(record, false)
  })
  await first.until(() => first.taken.length === 4)
  const second = await follow(topic, groupId)
  await Promise.all([send(topic, [2], 0), send(topic, [2], 1)])
  await second.until(() => second.taken.length === 1)
  expect(second.taken[0]?.record.offset).toBe(2)
  await Promise.all([first.consumer.stop(), second.consumer.stop()])
})

test('who was asleep for longer than the session time-out writes nothing any more, and reads its records again', async () => {
  const { topic, groupId } = await topicWith([0, 1])
  const { consumer, taken, until, kafka } = await follow(topic, groupId, undefined, undefined, 2_000)
  await until(() => taken.length === 2)
  // Asleep: nothing of this process runs, as under SIGSTOP.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
  expect(taken.map(({ partition }) => partition.lost)).toEqual([true, true])
  for (const { partition, open: record } of taken) partition.finish(record, true)
  await until(() => taken.length === 4)
  expect(taken.slice(2).map(({ record, partition }) => [record.offset, partition.lost])).toEqual([
    [0, false],
    [1, false],
  ])
  expect(await kafka.admin.committed(groupId, [topic])).toMatchObject([{ offset: 0 }])
  await consumer.stop()
})

test('a partition that is paused and sought back hands the same record over again when it is resumed', async () => {
  const { topic, groupId } = await topicWith([0, 1, 2])
  const kafka = connectKafka({ brokers: testBrokers(), clientId: randomName('test'), logger: silent })
  open.push(kafka)
  const seen: number[] = []
  const enough = Promise.withResolvers<void>()
  const consumer = createTrackedConsumer({
    kafka,
    groupId,
    topics: [topic],
    sessionTimeoutMs: 10_000,
    generation: noGeneration,
    startPlace: (_at, found) => startPlaceWithoutLives(found),
    onNoPlace: () => {},
    onRecords(partition, records) {
      for (const record of records) {
        seen.push(record.offset)
        if (record.offset === 1 && seen.filter((offset) => offset === 1).length === 1) {
          partition.pause()
          partition.seek(1)
          setImmediate(() => partition.resume())
          return
        }
        const taking = partition.take(record.offset)
        if (taking !== null) partition.finish(taking, false)
        if (record.offset === 2) enough.resolve()
      }
    },
    onPlaced: () => {},
    keepsAllDone: true,
    onFailed: (failure) => enough.reject(new Error(failure.message)),
    logger: silent,
  })
  await consumer.start()
  await enough.promise
  expect(seen).toEqual([0, 1, 1, 2])
  await consumer.stop()
})
