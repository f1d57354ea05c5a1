import type { OutgoingRecord } from '@barnabas/core'
import { describe, expect, test } from 'vitest'
import { BATCH_BYTES_MAX, batchLength, recordBytes } from './produce-batch.ts'

function record(bytes: number, headers: OutgoingRecord['headers'] = {}): OutgoingRecord {
  return { topic: 't', key: null, value: Buffer.alloc(bytes), headers }
}

describe('batchLength', () => {
  test.each<{ queue: OutgoingRecord[]; length: number; why: string }>([
    { queue: [], length: 0, why: 'nothing waits' },
    { queue: Array.from({ length: 700 }, () => record(10)), length: 500, why: 'at most 500 records' },
    { queue: [record(400_000), record(400_000), record(400_000)], length: 2, why: 'at most 900 KB' },
    { queue: [record(BATCH_BYTES_MAX + 1), record(1)], length: 1, why: 'a larger record goes alone' },
    { queue: [record(1), record(BATCH_BYTES_MAX + 1)], length: 1, why: 'a larger record does not join others' },
  ])('$why', ({ queue, length }) => {
    expect(batchLength(queue)).toBe(length)
  })
})

describe('recordBytes', () => {
  test('counts key, value and every value of every header', () => {
    const bare = recordBytes({ topic: 't', key: null, value: null, headers: {} })
    const full = recordBytes({
      topic: 't',
      key: Buffer.alloc(100),
      value: Buffer.alloc(1_000),
      headers: { one: Buffer.alloc(10_000), two: [Buffer.alloc(100_000), null] },
    })
    expect(full - bare).toBeGreaterThanOrEqual(111_100)
    expect(full - bare).toBeLessThan(111_200)
  })
})
