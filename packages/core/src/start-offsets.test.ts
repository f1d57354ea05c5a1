import { expect, test } from 'vitest'
import { parseStartOffsets, startOffsetOf } from './start-offsets.ts'

test('what was stored comes back', () => {
  const offsets = parseStartOffsets(JSON.parse('{"orders":{"0":12,"11":0},"empty":{}}'))!
  expect(startOffsetOf(offsets, 'orders', 0)).toBe(12)
  expect(startOffsetOf(offsets, 'orders', 11)).toBe(0)
  expect(startOffsetOf(offsets, 'orders', 1)).toBeUndefined()
  expect(startOffsetOf(offsets, 'empty', 0)).toBeUndefined()
  expect(startOffsetOf(offsets, 'other', 0)).toBeUndefined()
})

test('topics named like members of Object.prototype have offsets of their own or none', () => {
  const offsets = parseStartOffsets(JSON.parse('{"__proto__":{"0":7}}'))!
  expect(startOffsetOf(offsets, '__proto__', 0)).toBe(7)
  expect(startOffsetOf(offsets, 'constructor', 0)).toBeUndefined()
  expect(startOffsetOf(parseStartOffsets({})!, '__proto__', 0)).toBeUndefined()
})

test.each([
  [null],
  [undefined],
  ['{}'],
  [[]],
  [{ orders: null }],
  [{ orders: [1] }],
  [{ orders: 5 }],
  [{ orders: { 0: '5' } }],
  [{ orders: { 0: -1 } }],
  [{ orders: { 0: 1.5 } }],
  [{ orders: { 0: 2 ** 53 } }],
  [{ orders: { 0: null } }],
  [{ orders: { '00': 1 } }],
  [{ orders: { '-1': 1 } }],
  [{ orders: { length: 1 } }],
])('%j is damaged', (value) => {
  expect(parseStartOffsets(value)).toBeNull()
})
