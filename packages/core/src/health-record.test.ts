import { expect, test } from 'vitest'
import { healthKey, healthValue, parseHealth, presenceKey } from './health-record.ts'
import type { HealthRecord } from './health-record.ts'

const record: HealthRecord = {
  subscription: 'orders',
  process: 'barnabas-1',
  generation: 7,
  endpoint: 'x1',
  failing: { since: 5, events: ['a', 'b'] },
  lastSuccess: 4,
  ended: null,
  probation: { cause: 'Busy', failingSince: 1, since: 2, until: 3, lengthMs: 1 },
  parkedIn: 12,
  parkedOut: 2,
  takenOver: ['barnabas-0'],
}

test('what a process says is read as it was written', () => {
  const read = parseHealth(healthKey('orders', 'barnabas-1'), healthValue(record))
  expect(read).toEqual({ kind: 'health', subscription: 'orders', process: 'barnabas-1', record })
  expect(parseHealth(healthKey('orders', 'barnabas-1'), null)).toMatchObject({ kind: 'health', record: null })
})

test('a process says that it lives under a key without a subscription', () => {
  expect(parseHealth(presenceKey('barnabas-1'), Buffer.from('{}'))).toEqual({
    kind: 'presence',
    process: 'barnabas-1',
    isThere: true,
  })
  expect(parseHealth(presenceKey('barnabas-1'), null)).toMatchObject({ isThere: false })
})

test.each([
  ['no key', null, healthValue(record)],
  ['a key without a process', Buffer.from('orders/'), healthValue(record)],
  ['a key of another kind', Buffer.from('orders'), healthValue(record)],
  ["another's record", healthKey('orders', 'barnabas-2'), healthValue(record)],
])('%s says nothing', (_what, key, value) => {
  expect(parseHealth(key, value)).toBeNull()
})

test.each([
  ['no JSON', '{'],
  ['no object', '[1]'],
  ['no count', JSON.stringify({ ...record, parkedIn: -1 })],
  ['an outcome that is none', JSON.stringify({ ...record, probation: { ...record.probation, cause: 'Rain' } })],
  ['a time that is none', JSON.stringify({ ...record, lastSuccess: 'yesterday' })],
  ['a time that no calendar has', JSON.stringify({ ...record, probation: { ...record.probation, until: 8.7e15 } })],
  ['too many events', JSON.stringify({ ...record, failing: { since: 1, events: Array(1_001).fill('a') } })],
])('a value with %s counts as none', (_what, value) => {
  expect(parseHealth(healthKey('orders', 'barnabas-1'), Buffer.from(value))).toMatchObject({ record: null })
})
