import { deadLetterRecords, names } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { TransactionResult, Transactor } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { readSelection } from '../dead-letter-selection.ts'
import { Refusal } from '../refusal.ts'
import { createOffsetSet } from './offset-set.ts'
import { redrive } from './redrive.ts'
import type { RedriveRun } from './redrive.ts'

const topic = 'letters'
const own = names('barnabas')
type Written = Parameters<Transactor['write']>[0]

function letter(offset: number, { valueBytes = 10, timestamp = Date.now() } = {}): KafkaRecord {
  const [{ key, value, headers }] = deadLetterRecords({
    topic,
    key: null,
    value: Buffer.alloc(valueBytes, 'v'),
    headers: {},
    state: {
      subscriptionId: 'billing',
      generation: 1,
      source: { topic: 'orders', partition: 0, offset },
      publishTime: 0,
      attempts: 3,
    },
    reason: 'TimeToLiveExceeded',
    time: timestamp,
  })
  return { topic, partition: 0, offset, timestamp, key, value, headers }
}

/** Sends these records; every piece that is read holds `pieceRecords`. */
async function run(
  records: readonly KafkaRecord[],
  changes: Partial<RedriveRun> = {},
  { pieceRecords = 5_000, answers = [] as readonly TransactionResult[] } = {},
) {
  const transactions: Written[] = []
  const left = [...answers]
  const tally = await redrive({
    cluster: {
      names: own,
      kafka: {
        async *readRange({ from, to }) {
          for (let at = from; at < to; at += pieceRecords) {
            const nextOffset = Math.min(at + pieceRecords, to)
            yield await Promise.resolve({ records: records.slice(at, nextOffset), nextOffset })
          }
        },
      },
    },
    partitions: [{ topic, partition: 0, low: 0, high: records.length }],
    topicIds: new Map([[topic, 'an-id']]),
    selection: readSelection({}, Date.now()),
    inputOf: () => null,
    marks: createOffsetSet(),
    transactor: {
      write(written) {
        transactions.push(written)
        return Promise.resolve(left.shift() ?? { kind: 'committed' })
      },
    },
    plan: {
      recipientOf: (id, generation) => ({ id, generation }),
      redrivesMax: 5,
      to: { topic: own.retryTopic('now'), partitions: 4 },
    },
    recordBytesMax: Infinity,
    marksKeptMs: Infinity,
    perSecond: null,
    by: 'somebody',
    onProgress: () => undefined,
    ...changes,
  }).catch((error: unknown) => error as Refusal)
  return { tally, transactions }
}

const letters = (count: number) => Array.from({ length: count }, (_, offset) => letter(offset))
const counts = (transactions: readonly Written[]) => transactions.map(({ length }) => length / 2)

test('B8: a transaction holds at most 1,000 dead letters, each with its mark, and what was read at once', async () => {
  const { tally, transactions } = await run(letters(2_700), {}, { pieceRecords: 1_500 })
  expect(counts(transactions)).toEqual([1_000, 500, 1_000, 200])
  expect(tally).toMatchObject({ records: 2_700, readRecords: 2_700, selected: 2_700, sent: 2_700, alreadySent: 0 })
  const keys = transactions.flat().flatMap(({ topic: to, key }) => (to === own.redrives ? [key?.toString()] : []))
  expect(keys).toEqual(Array.from({ length: 2_700 }, (_, offset) => `${topic}/0/${offset}`))
})

test('many bytes make it end earlier, so that memory stays flat', async () => {
  const large = Array.from({ length: 6 }, (_, offset) => letter(offset, { valueBytes: 3 * 1024 * 1024 }))
  expect(counts((await run(large)).transactions)).toEqual([2, 2, 2])
})

test('what is marked is not sent', async () => {
  const marks = createOffsetSet()
  for (let offset = 0; offset < 8; offset++) if (offset !== 3) marks.add(topic, 0, offset)
  const { tally, transactions } = await run(letters(8), { marks })
  expect(tally).toMatchObject({ selected: 8, sent: 1, alreadySent: 7 })
  expect(transactions[0]?.map(({ key }) => key?.toString())).toContain(`${topic}/0/3`)
})

test('a dry run writes nothing and counts what would be sent', async () => {
  const { tally, transactions } = await run(letters(3), { transactor: null })
  expect({ tally, transactions }).toMatchObject({ tally: { sent: 3 }, transactions: [] })
})

test('what may have lost its mark, and what the tier does not take, is left and named', async () => {
  const day = 86_400_000
  const records = [
    letter(0, { timestamp: Date.now() - 15 * day }),
    letter(1, { timestamp: Date.now() - 14 * day }),
    letter(2, { valueBytes: 5_000 }),
  ]
  const { tally } = await run(records, { marksKeptMs: 15 * day, recordBytesMax: 2_000 })
  if (tally instanceof Error) throw tally
  expect(tally.sent).toBe(1)
  expect([...tally.left]).toMatchObject([
    ['too-old', { count: 1, first: `${topic}/0/0` }],
    ['too-large', { count: 1, first: `${topic}/0/2` }],
  ])
})

test('`--rate` makes smaller transactions and waits between them', async () => {
  const startedAt = Date.now()
  const { transactions } = await run(letters(20), { perSecond: 100 }, { pieceRecords: 10 })
  expect(counts(transactions)).toEqual([10, 10])
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(195)
})

test.each<[TransactionResult, RegExp]>([
  [{ kind: 'fenced' }, /another redrive has begun.* after it has sent 1,?000\. /],
  [{ kind: 'failed', message: 'no broker' }, /^no broker; this redrive ends, after it has sent 1,?000 for certain/],
])('%j ends it with what was sent, and what to do', async (answer, message) => {
  const { tally, transactions } = await run(letters(3_000), {}, { answers: [{ kind: 'committed' }, answer] })
  expect(tally).toBeInstanceOf(Refusal)
  expect((tally as Refusal).message).toMatch(message)
  expect((tally as Refusal).message).toContain('Saying it again goes on')
  expect(transactions).toHaveLength(2)
})
