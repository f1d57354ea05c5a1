import { expect, test } from 'vitest'
import { progressOf, sentSummary } from './sent.ts'

const one = {
  topic: 'orders',
  firstId: 'i',
  lastId: 'i',
  acknowledged: 1,
  partitions: new Map([[3, { count: 1, firstOffset: 17, lastOffset: 17 }]]),
}
const many = {
  topic: 'orders',
  firstId: 'i-1',
  lastId: 'i-1001',
  acknowledged: 1_001,
  partitions: new Map([
    [1, { count: 1_000, firstOffset: 5, lastOffset: 1_004 }],
    [0, { count: 1, firstOffset: 9, lastOffset: 9 }],
  ]),
}

test('a single event is named with its position', () => {
  expect(sentSummary(one, 5, false)).toBe('sent i to orders/3/17')
  expect(JSON.parse(sentSummary(one, 5, true))).toEqual({ id: 'i', topic: 'orders', partition: 3, offset: 17 })
})

test('of several each partition is told', () => {
  expect(sentSummary(many, 1_234, false)).toBe(
    'sent 1,001 events to orders, i-1 to i-1001, in 1.2 s\n  orders/0: 1, offset 9\n  orders/1: 1,000, offsets 5 to 1004',
  )
  expect(JSON.parse(sentSummary(many, 1_234, true))).toMatchObject({
    sent: 1_001,
    partitions: [
      { partition: 0, count: 1 },
      { partition: 1, firstOffset: 5, lastOffset: 1_004 },
    ],
  })
})

test('progress has count and rate', () => {
  expect(progressOf(12_000, 100_000, 2_000)).toBe('sent 12,000 of 100,000 (6,000/s)')
  expect(progressOf(0, 100_000, 0)).toBe('sent 0 of 100,000 (0/s)')
})
