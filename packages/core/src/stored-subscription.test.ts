import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { parseStoredSubscription, storedValue } from './stored-subscription.ts'

const fields = { id: 'orders', topics: ['orders'], sink: 'https://billing.example.com/hook' }
const life = { generation: 1_772_000_000_000, revision: 2, startOffsets: { orders: { 0: 12, 1: 0 } } }
const stored = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

test('what apply wrote comes back, with its life and today’s defaults', () => {
  const parsed = parseSubscription(fields)
  if (parsed.kind === 'invalid') throw new Error('it is valid')
  const value = storedValue(parsed.written, life)
  expect(JSON.parse(value.toString())).toEqual({ ...fields, ...life })
  const read = parseStoredSubscription(value, 'orders')
  expect(read).toMatchObject({ kind: 'valid', life, written: fields, warnings: [] })
  expect(read).toMatchObject({ subscription: { ...parsed.subscription, ...life } })
})

test('null is a deletion', () => {
  expect(parseStoredSubscription(null, 'orders')).toEqual({ kind: 'absent' })
})

test('time scale and prefix reach the subscription', () => {
  const read = parseStoredSubscription(stored({ ...fields, ...life }), 'orders', { timeScale: 0.01, prefix: 'shop' })
  expect(read).toMatchObject({ subscription: { timeoutMs: 300, deadLetter: { topic: 'shop.dead-letter' } } })
})

test('a field of a newer version is a warning', () => {
  const read = parseStoredSubscription(stored({ ...fields, ...life, bananas: 1 }), 'orders')
  expect(read).toMatchObject({ kind: 'valid', warnings: ['bananas: is not a known field; it is ignored'] })
})

const byHand =
  'subscription: was not written by `apply`: generation, revision or startOffsets is missing or damaged, or createdPausedBy is'

test.each<[string, unknown, string]>([
  ['nothing', '', 'subscription: the record is not a JSON object'],
  ['damaged JSON', '{"id":', 'subscription: the record is not a JSON object'],
  ['bytes that are no text', '\u0000\ufffd', 'subscription: the record is not a JSON object'],
  ['JSON null', 'null', 'subscription: the record is not a JSON object'],
  ['a list', [fields], 'subscription: the record is not a JSON object'],
  ['an object without a life', fields, byHand],
  ['no start offsets', { ...fields, ...life, startOffsets: undefined }, byHand],
  ['damaged start offsets', { ...fields, ...life, startOffsets: { orders: { 0: -1 } } }, byHand],
  ['a generation as text', { ...fields, ...life, generation: '1772000000000' }, byHand],
  ['revision 0', { ...fields, ...life, revision: 0 }, byHand],
  ['a life in the prototype', `{"__proto__":${JSON.stringify({ ...fields, ...life })}}`, byHand],
])('%s is refused with the reason', (_, value, message) => {
  expect(parseStoredSubscription(stored(value), 'orders')).toMatchObject({
    kind: 'invalid',
    life: null,
    problems: [{ message }],
  })
})

test.each<[string, object, string]>([
  ['another id than the key', { id: 'other' }, `id: "other" is not the record's key "orders"`],
  ['a field of the wrong type', { mode: 5 }, 'mode: 5 is not known; one of binary, structured'],
  [
    'a value that a later version builds',
    { filters: [{ sql: 'a = 1' }] },
    'filters[0].sql: is not available in this version',
  ],
])('%s is refused, and the life is known', (_, change, message) => {
  expect(parseStoredSubscription(stored({ ...fields, ...life, ...change }), 'orders')).toMatchObject({
    kind: 'invalid',
    life,
    problems: [{ message }],
  })
})
