import { expect, test } from 'vitest'
import { newDeliveryState } from './delivery-state.ts'
import { claimsToBeInPlace, inPlaceRecord, parseInPlaceEvent } from './in-place-event.ts'
import type { InPlaceEvent } from './in-place-event.ts'

const at = Date.parse('2026-03-01T12:00:00.000Z')
const source = { topic: 'orders.eu_1', partition: 3, offset: 42 }
const fresh = newDeliveryState({ id: 'orders-to-billing', generation: 1_764_500_000_000 }, source, at - 5_000)
const waiting: InPlaceEvent = {
  state: {
    ...fresh,
    attempts: 2,
    firstAttemptTime: at - 900,
    lastAttemptTime: at - 1,
    lastOutcome: 'Busy',
    lastStatus: 503,
  },
  eventId: 'A 1/ö',
  standing: { kind: 'waiting', dueAt: at + 4_000 },
  at,
}
const blocked: InPlaceEvent = {
  ...waiting,
  eventId: null,
  standing: { kind: 'blocked', reason: 'TimeToLiveExceeded', since: at },
}

test.each([
  ['waits', waiting],
  ['blocks', blocked],
  ['was never attempted', { ...waiting, state: { ...fresh, redrives: 1 } }],
])('B5: one that %s is read as it was written', (_name, event) => {
  const { key, value } = inPlaceRecord(event)
  expect(key.toString()).toBe('orders-to-billing/1764500000000/orders.eu_1/3/42')
  expect(parseInPlaceEvent(key.toString(), value)).toEqual(event)
})

const written = JSON.parse(inPlaceRecord(waiting).value.toString()) as Record<string, unknown>

test.each([
  '',
  '{',
  'null',
  '[]',
  '7',
  JSON.stringify({ ...written, kind: 'other' }),
  JSON.stringify({ ...written, attempts: -1 }),
  JSON.stringify({ ...written, attempts: '2' }),
  JSON.stringify({ ...written, attempts: 1.5 }),
  JSON.stringify({ ...written, dueTime: 'soon' }),
  JSON.stringify({ ...written, dueTime: undefined }),
  JSON.stringify({ ...written, kind: 'blocked' }),
  JSON.stringify({ ...written, kind: 'blocked', since: written['at'], reason: 'Because' }),
  JSON.stringify({ ...written, lastOutcome: 'Fine' }),
  JSON.stringify({ ...written, more: 'x'.repeat(9_000) }),
  '['.repeat(5_000),
])('what is no such event is none: %s', (text) => {
  const key = inPlaceRecord(waiting).key.toString()
  expect(parseInPlaceEvent(key, Buffer.from(text))).toBeNull()
  expect(claimsToBeInPlace(Buffer.from(text))).toBe(true)
})

test('a late success under the same key is no damaged event, and no other key is one', () => {
  expect(claimsToBeInPlace(Buffer.from('{"kind":"late-success"}'))).toBe(false)
  expect(parseInPlaceEvent('orders/1/x/y/z', inPlaceRecord(waiting).value)).toBeNull()
})
