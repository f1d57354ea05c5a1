import { expect, test } from 'vitest'
import { parseCommand } from './command.ts'

const callback = {
  subscription: 'orders',
  command: 'callback',
  validation: 'ab'.repeat(32),
  allowedRate: 120,
  by: '127.0.0.1',
  at: '2026-12-02T10:00:00.000Z',
}
const fail = {
  subscription: 'orders',
  command: 'fail',
  generation: 7,
  revision: 2,
  reason: 'sink: …',
  by: 'barnabas-1',
  at: '2026-12-02T10:00:00.000Z',
}
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

test('a command is what was written', () => {
  expect(parseCommand(bytes(callback))).toEqual(callback)
  expect(parseCommand(bytes({ ...callback, later: true }))).toEqual(callback)
  expect(parseCommand(bytes(fail))).toEqual(fail)
})

test.each([
  ['a tombstone', null],
  ['no JSON', Buffer.from('{')],
  ['no object', bytes(7)],
  ['a command of a later version', bytes({ ...callback, command: 'dance' })],
  ['no subscription', bytes({ ...callback, subscription: '' })],
  ['a time that is none', bytes({ ...callback, at: 'now' })],
  ['a time that is not in UTC', bytes({ ...callback, at: '2026-12-02T10:00:00.000+01:00' })],
  ['a pause of no life', bytes({ ...callback, command: 'pause', generation: 'x' })],
  ['a validation that is no hash', bytes({ ...callback, validation: 'AB' })],
  ['a rate of nothing', bytes({ ...callback, allowedRate: 0 })],
  ['a rate that is no whole number', bytes({ ...callback, allowedRate: 1.5 })],
  ['an end without a revision', bytes({ ...fail, revision: undefined })],
  ['an end with a page of reasons', bytes({ ...fail, reason: 'x'.repeat(2_001) })],
])('%s is no command', (_, value) => {
  expect(parseCommand(value)).toBeNull()
})

const by = { by: 'somebody', at: '2026-12-02T10:00:00.000Z' }

test.each([
  [{ ...by, command: 'redrive', subscription: null, selection: { since: '2h' }, sent: null }],
  [{ ...by, command: 'redrive', subscription: 'orders', selection: {}, sent: 17 }],
  [{ ...by, command: 'delete', subscription: 'orders' }],
  [{ ...by, command: 'pause', subscription: 'orders' }],
  [{ ...by, command: 'pause', subscription: 'orders', generation: 7 }],
])('B8: what operators did is on record: %j', (command) => {
  expect(parseCommand(bytes(command))).toEqual(command)
})
