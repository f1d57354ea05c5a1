import { expect, test } from 'vitest'
import { createOldestParked } from './oldest-parked.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const agesAt = (parked: ReturnType<typeof createOldestParked>, at: number) => [...parked.ages(at)]

test('A21: the oldest event counts that still waits', () => {
  const parked = createOldestParked()
  parked.add('orders', now - 5_000, now + 1_000, now)
  parked.add('orders', now - 9_000, now + 500, now)
  parked.add('orders', now - 1_000, now + 2_000, now)
  parked.add('returns', now + 60_000, now + 9_000, now)
  expect(agesAt(parked, now)).toEqual([
    ['orders', 9_000],
    // Its producer's clock is ahead of ours.
    ['returns', 0],
  ])
  expect(agesAt(parked, now + 600)).toEqual([
    ['orders', 5_600],
    ['returns', 0],
  ])
  expect(agesAt(parked, now + 1_500)[0]).toEqual(['orders', 2_500])
  expect(agesAt(parked, now + 2_000)[0]).toEqual(['orders', null])
  expect(agesAt(parked, now + 2_000)).toEqual([['returns', 0]])
})

test('of very many the oldest are kept, and those that are over make room', () => {
  const parked = createOldestParked()
  for (let index = 0; index < 1_000; index += 1) parked.add('orders', now - index, now + 1_000, now)
  expect(agesAt(parked, now)).toEqual([['orders', 999]])
  for (let index = 0; index < 8; index += 1) parked.add('orders', now, now + 5_000, now + 1_000)
  expect(agesAt(parked, now + 1_000)).toEqual([['orders', 1_000]])
  parked.forget('orders')
  expect(agesAt(parked, now)).toEqual([])
})
