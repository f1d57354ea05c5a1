import { inPlaceRecord, newDeliveryState } from '@barnabas/core'
import type { InPlaceEvent } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createInPlaceLog } from './in-place-log.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const eventAt = (topic: string, partition: number, offset: number, generation = 7): InPlaceEvent => ({
  state: newDeliveryState({ id: 'orders', generation }, { topic, partition, offset }, now),
  eventId: null,
  standing: { kind: 'waiting', dueAt: now },
  at: now,
})
const recordOf = (event: InPlaceEvent, offset: number, value: Buffer | null = inPlaceRecord(event).value) => ({
  key: inPlaceRecord(event).key,
  value,
  offset,
})

test('of one life, by topic, partition and offset; per event the highest offset counts', () => {
  const log = createInPlaceLog()
  const events = [eventAt('b', 0, 1), eventAt('a', 10, 1), eventAt('a', 2, 9), eventAt('a', 2, 10)]
  events.forEach((event, index) =>
    expect(log.apply(recordOf(event, index))).toEqual({ id: 'orders', isDamaged: false }),
  )
  log.apply(recordOf(eventAt('a', 0, 0, 8), 10))
  const places = () => log.of('orders', 7).map(({ state: { source } }) => Object.values(source).join('/'))
  expect(places()).toEqual(['a/2/9', 'a/2/10', 'a/10/1', 'b/0/1'])
  expect(log.apply(recordOf(events[0]!, 0, null))).toBeNull()
  expect(log.apply(recordOf(events[0]!, 11, null))).toEqual({ id: 'orders', isDamaged: false })
  expect(log.apply(recordOf(events[0]!, 12, null))).toBeNull()
  expect(places()).toEqual(['a/2/9', 'a/2/10', 'a/10/1'])
  expect(log.positionsOf('orders')).toHaveLength(4)
  expect(log.of('other', 7)).toEqual([])
})

test('what cannot be read takes away nothing that is known', () => {
  const log = createInPlaceLog()
  const event = eventAt('a', 0, 1)
  log.apply(recordOf(event, 0))
  expect(log.apply(recordOf(event, 1, Buffer.from('{')))).toEqual({ id: 'orders', isDamaged: true })
  expect(log.apply(recordOf(event, 2, Buffer.from('{"kind":"late-success"}')))).toBeNull()
  expect(log.apply({ key: Buffer.from('nonsense'), value: null, offset: 3 })).toBeNull()
  expect(log.apply({ key: null, value: null, offset: 4 })).toBeNull()
  expect(log.of('orders', 7)).toEqual([event])
})
