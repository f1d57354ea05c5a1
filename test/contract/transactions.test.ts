import { expect, onTestFinished, test } from 'vitest'
import type { KafkaClient, RangePiece } from '@barnabas/kafka'
import { plainKafka, randomName, readTopic } from '../support/kafka.ts'
import { connectPort, newTopic } from './port-under-test.ts'

/** What the port promises of transactions and of ranges, on a real broker. */
const record = (topic: string, text: string, partition = 0) => {
  return { topic, partition, key: null, value: Buffer.from(text), headers: { name: Buffer.from('value'), none: null } }
}

async function startTransactor(port: KafkaClient, transactionalId: string) {
  const transactor = port.transactor({ transactionalId, timeoutMs: 10_000 })
  await transactor.start()
  return transactor
}

const valuesOf = async (topic: string) => (await readTopic(plainKafka(), topic)).map(({ value }) => String(value))

/** A transaction is committed when the broker says so, and to be read once its markers are written, a moment later. */
const untilRead = (topic: string, values: readonly string[]) =>
  expect.poll(async () => (await valuesOf(topic)).toSorted(), { timeout: 10_000 }).toEqual(values)

test('a transaction is written to several topics, and its start takes back what another had left open', async () => {
  const port = connectPort()
  const [one, two] = [await newTopic(port, 2), await newTopic(port)]
  const transactionalId = randomName('transactor')
  // As a process leaves it that was killed in the middle.
  const killed = plainKafka().producer({ transactionalId, maxInFlightRequests: 1 })
  await killed.connect()
  onTestFinished(() => killed.disconnect())
  const open = await killed.transaction()
  await open.send({ topic: one, messages: [{ value: 'left open', partition: 0 }], acks: -1 })

  const transactor = await startTransactor(port, transactionalId)
  expect(await transactor.write([record(one, 'a', 0), record(two, 'a'), record(one, 'b', 1)])).toEqual({
    kind: 'committed',
  })
  expect(await transactor.write([record(one, 'c', 0)])).toEqual({ kind: 'committed' })
  await untilRead(one, ['a', 'b', 'c'])
  await untilRead(two, ['a'])
  const [read] = await readTopic(plainKafka(), two)
  expect(read?.headers).toMatchObject({ name: Buffer.from('value'), none: null })
})

test('the second one with an id ends the first: what that writes then is never read', async () => {
  const port = connectPort()
  const topic = await newTopic(port)
  const transactionalId = randomName('transactor')
  const first = await startTransactor(port, transactionalId)
  expect(await first.write([record(topic, 'first')])).toEqual({ kind: 'committed' })
  const second = await startTransactor(port, transactionalId)
  expect(await first.write([record(topic, 'too late')])).toEqual({ kind: 'fenced' })
  expect(await second.write([record(topic, 'second')])).toEqual({ kind: 'committed' })
  await untilRead(topic, ['first', 'second'])
  await expect(first.write([record(topic, 'again')])).rejects.toThrow(/was not started, or has failed/)
})

test('a transaction that the broker refuses is taken back as a whole', async () => {
  const port = connectPort()
  const [small, other] = [await newTopic(port, 1, { 'max.message.bytes': '1000' }), await newTopic(port)]
  const transactor = await startTransactor(port, randomName('transactor'))
  const refused = await transactor.write([record(other, 'a'), record(small, 'x'.repeat(5_000))])
  expect(refused).toMatchObject({ kind: 'failed' })
  const later = await startTransactor(port, randomName('transactor'))
  expect(await later.write([record(other, 'later')])).toEqual({ kind: 'committed' })
  await untilRead(other, ['later'])
})

test('a range is read in pieces, from its beginning to its end, without what was taken back', async () => {
  const port = connectPort()
  const topic = await newTopic(port)
  const transactionalId = randomName('transactor')
  const transactor = await startTransactor(port, transactionalId)
  const large = 'x'.repeat(400_000)
  for (const name of ['a', 'b', 'c', 'd']) await transactor.write([record(topic, `${name}${large}`)])
  const [range] = await port.admin.offsets([topic])
  const read = async (from: number, to: number) => {
    const pieces: RangePiece[] = []
    for await (const piece of port.readRange({ topic, partition: 0, from, to })) pieces.push(piece)
    const values = pieces.flatMap(({ records }) => records.map(({ value }) => value?.toString().slice(0, 1)))
    return { values, pieces: pieces.length, end: pieces.at(-1)?.nextOffset }
  }
  // Each transaction takes an offset for its end.
  expect(await read(0, range!.high)).toMatchObject({ values: ['a', 'b', 'c', 'd'], end: 8 })
  expect((await read(0, range!.high)).pieces).toBeGreaterThan(1)
  expect((await read(2, 5)).values).toEqual(['b', 'c'])
  expect((await read(8, 8)).values).toEqual([])
  await port.admin.deleteRecords([{ topic, partition: 0, offset: 4 }])
  expect((await read(0, range!.high)).values).toEqual(['c', 'd'])
  // The topic is shorter than it was: nothing of the range is there.
  expect((await read(100, 120)).values).toEqual([])
})
