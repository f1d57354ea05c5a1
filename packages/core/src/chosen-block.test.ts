import { expect, test } from 'vitest'
import { blockedText, blocksOf } from './blocked.ts'
import { chosenBlock } from './chosen-block.ts'
import { newDeliveryState } from './delivery-state.ts'
import type { InPlaceEvent } from './in-place-event.ts'

const since = Date.parse('2026-03-01T12:00:00.000Z')
const eventAt = (offset: number, standing: InPlaceEvent['standing'], eventId: string | null = 'A1'): InPlaceEvent => ({
  state: {
    ...newDeliveryState({ id: 'billing', generation: 7 }, { topic: 'orders', partition: 0, offset }, since),
    attempts: 4,
    lastOutcome: 'Busy',
  },
  eventId,
  standing,
  at: since,
})
const blockedAt = (offset: number, eventId?: string | null) =>
  eventAt(offset, { kind: 'blocked', reason: 'MaxDeliveryAttemptsExceeded', since }, eventId)
const prohibited = { faultTolerance: 'prohibited' } as const
const one = blocksOf(prohibited, () => [eventAt(1, { kind: 'waiting', dueAt: since }), blockedAt(2)])
const two = blocksOf(prohibited, () => [blockedAt(2), blockedAt(5, 'A2')])

test('B5: a block names position, event, attempts, outcome and time; who goes on is not blocked', () => {
  const named = { topic: 'orders', partition: 0, offset: 2, eventId: 'A1', attempts: 4, lastOutcome: 'Busy' }
  expect(one).toEqual([{ ...named, since: '2026-03-01T12:00:00.000Z' }])
  expect(blocksOf({}, () => [blockedAt(2)])).toEqual([])
})

test('B5: the reason says with which command it goes on', () => {
  expect(blockedText('billing', one)).toBe(
    'blocked at event A1 (orders/0/2) after 4 attempts, the last one Busy: mend its receiver and say ' +
      '`barnabas start billing`, or go on without it with `barnabas skip billing`',
  )
  expect(blockedText('billing', two)).toContain(
    'the last one Busy, and at 1 more: mend its receiver and say `barnabas start billing --event orders/0/2`',
  )
  expect(
    blockedText(
      'billing',
      blocksOf(prohibited, () => [blockedAt(2, 'a\u001b[2Jb')]),
    ),
  ).toContain('blocked at an event (')
})

test.each([
  [one, undefined, 2],
  [one, 'orders/0/2', 2],
  [two, 'orders/0/5', 5],
])('of %j, --event %s is the one at %i', (blocked, event, offset) => {
  expect(chosenBlock(blocked, event)).toMatchObject({ kind: 'block', block: { offset } })
})

test.each([
  [[], undefined, 'it is not blocked'],
  [[], 'orders/0/2', 'it is not blocked'],
  [two, undefined, 'it is blocked at 2 events; say which with --event: orders/0/2, orders/0/5'],
  [two, 'orders/0/3', 'it is not blocked at orders/0/3, but at orders/0/2, orders/0/5'],
  [one, 'orders', '--event "orders" is not TOPIC/PARTITION/OFFSET; it is blocked at orders/0/2'],
  [one, 'a b/0/1', '--event "a b/0/1" is not TOPIC/PARTITION/OFFSET; it is blocked at orders/0/2'],
])('of %j, --event %s is refused', (blocked, event, message) => {
  expect(chosenBlock(blocked, event)).toEqual({ kind: 'refused', message })
})
