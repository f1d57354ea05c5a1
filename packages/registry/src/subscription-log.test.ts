import type { KafkaRecord } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createSubscriptionLog } from './subscription-log.ts'

const fields = { topics: ['orders'], sink: 'https://billing.example.com/hook' }
const life = { generation: 1_772_000_000_000, revision: 1, startOffsets: {} }

function record(offset: number, key: string | Buffer | null, value: object | string | null): KafkaRecord {
  return {
    topic: 'barnabas.subscriptions',
    partition: 0,
    offset,
    timestamp: 0,
    key: typeof key === 'string' ? Buffer.from(key) : key,
    value: value === null ? null : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    headers: {},
  }
}

const valid = (id: string, change: object = {}) => ({ id, ...fields, ...life, ...change })
const open = () => createSubscriptionLog({ prefix: 'barnabas', timeScale: 1 })

test('created, changed, deleted, made again', () => {
  const log = open()
  expect(log.apply(record(0, 'orders', valid('orders')))).toMatchObject({ kind: 'valid', id: 'orders' })
  expect(log.get('orders')).toMatchObject({ subscription: { revision: 1, mode: 'binary' }, warnings: [] })

  expect(log.apply(record(1, 'orders', valid('orders', { revision: 2, mode: 'structured' })))).not.toBeNull()
  expect(log.get('orders')).toMatchObject({ subscription: { revision: 2, mode: 'structured' } })

  expect(log.apply(record(2, 'orders', null))).toEqual({ kind: 'deleted', id: 'orders' })
  expect(log.get('orders')).toBeUndefined()
  expect(log.all()).toEqual([])
  expect(log.stored('orders')).toEqual({ kind: 'absent' })

  expect(log.apply(record(3, 'orders', valid('orders', { generation: 1_773_000_000_000 })))).not.toBeNull()
  expect(log.all()).toMatchObject([{ id: 'orders', subscription: { generation: 1_773_000_000_000 } }])
})

test('deleting what is not there is no change', () => {
  const log = open()
  expect(log.apply(record(0, 'orders', null))).toBeNull()
  expect(log.apply(record(1, 'orders', null))).toBeNull()
})

test('prefix and time scale reach the subscriptions', () => {
  const log = createSubscriptionLog({ prefix: 'shop', timeScale: 0.1 })
  log.apply(record(0, 'orders', valid('orders')))
  expect(log.get('orders')).toMatchObject({
    subscription: { timeoutMs: 3_000, deadLetter: { topic: 'shop.dead-letter' } },
  })
})

test('lower offsets are ignored: a replay brings nothing back', () => {
  const log = open()
  const history = [
    record(0, 'orders', valid('orders')),
    record(1, 'other', valid('other')),
    record(2, 'orders', null),
    record(3, 'other', valid('other', { revision: 2 })),
  ]
  for (const each of history) log.apply(each)
  for (const each of history) expect(log.apply(each)).toBeNull()
  expect(log.all()).toMatchObject([{ id: 'other', subscription: { revision: 2 } }])
})

test('a newer revision or life counts at a lower offset: the topic was made anew', () => {
  const log = open()
  log.apply(record(50, 'orders', valid('orders', { revision: 3 })))
  expect(log.apply(record(0, 'orders', valid('orders', { revision: 3 })))).toBeNull()
  expect(log.apply(record(1, 'orders', valid('orders', { revision: 4 })))).toMatchObject({ kind: 'valid' })
  expect(log.apply(record(1, 'orders', valid('orders', { generation: life.generation + 1 })))).not.toBeNull()
  expect(log.get('orders')).toMatchObject({ subscription: { generation: life.generation + 1, revision: 1 } })
})

test.each<[string, object | string]>([
  ['no JSON', 'bananas'],
  ['nothing', ''],
  ['a list', '[]'],
  ['an object without a life', { id: 'orders', ...fields }],
  ['another id', valid('other')],
  ['a missing sink', { ...valid('orders'), sink: undefined }],
])('%s under an id is an invalid entry, and the others go on', (_, value) => {
  const log = open()
  log.apply(record(0, 'other', valid('other')))
  const change = log.apply(record(1, 'orders', value))
  expect(change).toMatchObject({ kind: 'invalid', id: 'orders', reason: expect.stringMatching(/\w/) })
  expect(log.all().map(({ kind, id }) => `${id} ${kind}`)).toEqual(['other valid', 'orders invalid'])
  expect(log.apply(record(2, 'orders', valid('orders')))).toMatchObject({ kind: 'valid' })
})

test('an invalid entry knows its life when the record carries one, else 0', () => {
  const log = open()
  expect(log.apply(record(0, 'orders', valid('orders', { mode: 5, revision: 3 })))).toMatchObject({
    kind: 'invalid',
    generation: life.generation,
    revision: 3,
    reason: 'mode: 5 is not known; one of binary, structured',
  })
  expect(log.apply(record(1, 'orders', fields))).toMatchObject({ kind: 'invalid', generation: 0, revision: 0 })
})

test('every problem is in the reason', () => {
  expect(open().apply(record(0, 'orders', valid('orders', { mode: 5, from: 6 })))).toMatchObject({
    reason: 'from: 6 is not known; one of latest, earliest; mode: 5 is not known; one of binary, structured',
  })
})

test.each([
  ['no key', null],
  ['a key of 250 bytes', 'x'.repeat(250)],
])('a record with %s belongs to nothing', (_, key) => {
  const log = open()
  expect(log.apply(record(0, key, valid('orders')))).toBeNull()
  expect(log.all()).toEqual([])
})

test.each([['__proto__'], ['toString'], ['Orders'], [''], [Buffer.from([0xff, 0xfe, 0x00])]])(
  'a record under the key %j is an invalid entry',
  (key) => {
    const log = open()
    expect(log.apply(record(0, key, valid(key.toString())))).toMatchObject({ kind: 'invalid' })
    expect(log.get('constructor')).toBeUndefined()
    expect(log.all()).toHaveLength(1)
  },
)

test('fields of a newer version are warnings', () => {
  const log = open()
  log.apply(record(0, 'orders', valid('orders', { bananas: 1 })))
  expect(log.get('orders')).toMatchObject({ kind: 'valid', warnings: [expect.stringContaining('bananas')] })
})

test('`constructor` is an id like any other', () => {
  const log = open()
  expect(log.get('constructor')).toBeUndefined()
  log.apply(record(0, 'constructor', valid('constructor')))
  expect(log.get('constructor')).toMatchObject({ kind: 'valid' })
})
