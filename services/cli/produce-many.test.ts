import type { OutgoingRecord } from '@barnabas/core'
import type { ProduceResult } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { produceMany } from './produce-many.ts'

const record: OutgoingRecord = { topic: 't', key: null, value: null, headers: {} }

function* records(count: number) {
  for (let index = 0; index < count; index++) yield record
}

test('counts what was acknowledged, by partition', async () => {
  let produced = 0
  const seen: number[] = []
  const result = await produceMany(
    {
      produce: async () => {
        const index = produced++
        return { kind: 'acknowledged', partition: index % 2, offset: 10 + Math.floor(index / 2) }
      },
    },
    records(5),
    (acknowledged) => seen.push(acknowledged),
  )
  expect(seen).toEqual([1, 2, 3, 4, 5])
  expect(result.failure).toBeNull()
  expect([...result.partitions]).toEqual([
    [0, { count: 3, firstOffset: 10, lastOffset: 12 }],
    [1, { count: 2, firstOffset: 10, lastOffset: 11 }],
  ])
})

test('after a failure nothing more is begun, and what is under way still counts', async () => {
  const results: PromiseWithResolvers<ProduceResult>[] = []
  const running = produceMany(
    {
      produce: async () => {
        const result = Promise.withResolvers<ProduceResult>()
        results.push(result)
        return await result.promise
      },
    },
    records(25_000),
  )
  const begun = results.length
  expect(begun).toBeGreaterThan(1_000)
  expect(begun).toBeLessThan(25_000)
  results.shift()?.resolve({ kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'too large' })
  results.forEach(({ resolve }) => resolve({ kind: 'acknowledged', partition: 0, offset: 0 }))
  const { acknowledged, failure } = await running
  expect(failure).toBe('too large')
  expect(acknowledged).toBe(begun - 1)
})
