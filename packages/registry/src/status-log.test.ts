import { nextStatus } from '@barnabas/core'
import type { SubscriptionStatus } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createStatusLog } from './status-log.ts'

function record(offset: number, id: string, status: SubscriptionStatus | null) {
  const wanted = { status: status ?? 'Ready', reason: 'because', generation: 1, revision: 1, now: 0 }
  const value = status === null ? null : Buffer.from(JSON.stringify(nextStatus(id, null, wanted)))
  return { key: Buffer.from(id), value, offset }
}

test('the highest offset of an id counts, whether it was read or written', () => {
  const log = createStatusLog()
  expect(log.apply(record(5, 'orders', 'Starting'))).toBe('orders')
  expect(log.apply(record(7, 'orders', 'Running'))).toBe('orders')
  expect(log.apply(record(6, 'orders', 'Start Failed'))).toBeNull()
  expect(log.apply(record(7, 'orders', 'Running'))).toBeNull()
  expect(log.get('orders')).toMatchObject({ status: 'Running' })
  expect(log.apply(record(1, 'other', 'Starting'))).toBe('other')
  expect(log.all().map(({ id }) => id)).toEqual(['orders', 'other'])
})

test('a tombstone removes, and an older record does not bring it back', () => {
  const log = createStatusLog()
  log.apply(record(5, 'orders', 'Running'))
  expect(log.has('orders')).toBe(true)
  expect(log.apply(record(9, 'orders', null))).toBe('orders')
  expect(log.apply(record(8, 'orders', 'Running'))).toBeNull()
  expect(log.get('orders')).toBeNull()
  expect(log.has('orders')).toBe(false)
})

test('what is damaged is there, but says nothing', () => {
  const log = createStatusLog()
  expect(log.apply({ key: Buffer.from('orders'), value: Buffer.from('{'), offset: 0 })).toBe('orders')
  expect(log.get('orders')).toBeNull()
  expect(log.has('orders')).toBe(true)
  expect(log.apply({ key: null, value: Buffer.from('{}'), offset: 1 })).toBeNull()
  expect(log.get('constructor')).toBeNull()
})
