import { newDeliveryState } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createDoubledRecords } from './doubled-records.ts'

const state = {
  ...newDeliveryState({ id: 'orders', generation: 7 }, { topic: 'orders', partition: 1, offset: 40 }, 0),
  attempts: 2,
  hops: 3,
}
const at = (offset: number, topic = 'barnabas.retry.10s') => ({ topic, partition: 0, offset })

test('the same write at another offset, or in another tier, is doubled', () => {
  const records = createDoubledRecords()
  expect(records.isDoubled(state, at(5), 0)).toBe(false)
  expect(records.isDoubled(state, at(6), 1)).toBe(true)
  expect(records.isDoubled(state, at(5, 'barnabas.retry.30s'), 1)).toBe(true)
})

test('the same record read again (after a rebalance) is not', () => {
  const records = createDoubledRecords()
  records.isDoubled(state, at(5), 0)
  expect(records.isDoubled(state, at(5), 1)).toBe(false)
  expect(records.isDoubled(state, at(6), 2)).toBe(true)
})

test.each([
  ['a re-parking', { hops: 4 }],
  ['the next attempt', { attempts: 3, hops: 4 }],
  ['a redrive', { redrives: 1 }],
  ['another life of the subscription', { generation: 8 }],
  ['another subscription', { subscriptionId: 'bills' }],
  ['the event at the same offset of a topic that was made anew', { publishTime: 1 }],
  ['another event', { source: { topic: 'orders', partition: 1, offset: 41 } }],
])('%s is a legal write', (_name, change) => {
  const records = createDoubledRecords()
  records.isDoubled(state, at(5), 0)
  expect(records.isDoubled({ ...state, ...change }, at(6), 1)).toBe(false)
})

test('what was seen is forgotten after ten minutes', () => {
  const records = createDoubledRecords()
  records.isDoubled(state, at(5), 0)
  expect(records.isDoubled(state, at(6), 599_999)).toBe(true)
  expect(records.isDoubled(state, at(6), 600_000)).toBe(false)
})

test('memory is bounded: the oldest are forgotten first', () => {
  const records = createDoubledRecords(2)
  const writes = [1, 2, 3, 4].map((hops) => ({ ...state, hops }))
  for (const [index, write] of writes.entries()) records.isDoubled(write, at(index), index)
  expect(records.isDoubled(writes[0]!, at(10), 5)).toBe(false)
  expect(records.isDoubled(writes[3]!, at(11), 6)).toBe(true)
})
