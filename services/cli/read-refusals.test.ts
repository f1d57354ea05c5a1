import { names, targetRefusalRecord } from '@barnabas/core'
import type { KafkaRecord, TargetRefusal } from '@barnabas/core'
import { expect, test } from 'vitest'
import type { Cluster } from './cluster.ts'
import { refusalTable } from './format/refusal.ts'
import { readRefusals } from './read-refusals.ts'

const refusal: TargetRefusal = {
  target: 'mns://1.local/letters',
  topic: 'barnabas.dead-letter',
  partition: 0,
  offset: 7,
  subscription: null,
  code: 'QueueNotExist',
  message: 'the queue does not exist',
  at: '2026-12-01T08:00:00.000Z',
}

function clusterWith(records: readonly { readonly key: Buffer | null; readonly value: Buffer | null }[] | null) {
  const offsets = async (topics: readonly string[]) => {
    expect(topics).toEqual(['barnabas.refusals'])
    return records === null ? [] : [{ topic: topics[0]!, partition: 0, low: 0, high: records.length }]
  }
  async function* readRange() {
    yield { records: (records ?? []) as readonly KafkaRecord[], nextOffset: records?.length ?? 0 }
  }
  return { names: names('barnabas'), kafka: { admin: { offsets }, readRange } } as unknown as Cluster
}

test('B7: each refusal is listed once, in the order of their times, past what is none', async () => {
  const earlier = { ...refusal, offset: 9, subscription: 'orders', at: '2026-12-01T07:00:00.000Z' }
  const damaged = { key: Buffer.from('x'), value: Buffer.from('{"target": 7}') }
  const again = { ...refusal, at: '2026-12-01T09:00:00.000Z' }
  const written = [targetRefusalRecord(refusal), damaged, targetRefusalRecord(earlier), targetRefusalRecord(again)]
  const listed = await readRefusals(clusterWith([...written, { key: null, value: null }]))
  expect(listed).toEqual([earlier, again])
  expect(
    refusalTable(listed)
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['TIME', 'SUBSCRIPTION', 'TARGET', 'POSITION', 'CODE', 'MESSAGE'],
    [earlier.at, 'orders', refusal.target, 'barnabas.dead-letter/0/9', 'QueueNotExist', refusal.message],
    [again.at, '-', refusal.target, 'barnabas.dead-letter/0/7', 'QueueNotExist', refusal.message],
  ])
})

test('a topic that is not there yet holds none', async () => {
  expect(await readRefusals(clusterWith(null))).toEqual([])
})
