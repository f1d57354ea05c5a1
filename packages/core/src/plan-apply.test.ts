import { expect, test } from 'vitest'
import type { ValidSubscription } from './parse-subscription.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { ApplyInput } from './plan-apply.ts'
import { planApply } from './plan-apply.ts'
import { parseStoredSubscription, storedValue } from './stored-subscription.ts'

const now = 1_772_000_000_000
const least = { id: 'orders', topics: ['orders'], sink: 'https://billing.example.com/hook' }
const offsets = [
  { topic: 'orders', partition: 0, low: 5, high: 12 },
  { topic: 'orders', partition: 1, low: 0, high: 0 },
  { topic: 'returns', partition: 0, low: 3, high: 40 },
  { topic: 'foreign', partition: 0, low: 1, high: 2 },
]
const absent = { kind: 'absent' } as const

function parsed(change: object = {}): ValidSubscription {
  const result = parseSubscription({ ...least, ...change })
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems))
  return result
}

function plan(change: Partial<ApplyInput>) {
  return planApply({ parsed: parsed(), stored: absent, formerGeneration: null, offsets, now, force: false, ...change })
}

/** A stored record of revision 4 that started somewhere else than the topics stand now. */
const life = { generation: 1_771_000_000_000, revision: 4, startOffsets: { orders: { 0: 2 } } }
const stored = (change: object = {}) => parseStoredSubscription(storedValue(parsed(change).written, life), 'orders')

test('a new subscription starts where its topics end', () => {
  const created = plan({})
  expect(created).toMatchObject({
    kind: 'created',
    life: { generation: now, revision: 1, startOffsets: { orders: { 0: 12, 1: 0 } } },
  })
  if (created.kind !== 'created') return
  expect(JSON.parse(created.value.toString())).toEqual({ ...least, ...created.life })
})

test('or where they begin', () => {
  expect(plan({ parsed: parsed({ from: 'earliest' }) })).toMatchObject({
    kind: 'created',
    life: { startOffsets: { orders: { 0: 5, 1: 0 } } },
  })
})

test('a topic that does not exist yet is read from its beginning', () => {
  expect(plan({ offsets: [] })).toMatchObject({ kind: 'created', life: { startOffsets: { orders: {} } } })
})

test.each([
  [null, now],
  [now - 1, now],
  [now, now + 1],
  [now + 5_000, now + 5_001],
])('after generation %s comes %d, so that no life repeats another', (formerGeneration, generation) => {
  expect(plan({ formerGeneration })).toMatchObject({ kind: 'created', life: { generation } })
})

test('the same again changes nothing', () => {
  expect(plan({ stored: stored() })).toEqual({ kind: 'unchanged', life })
  expect(plan({ stored: stored(), parsed: parsed({ timeout: '30s' }) })).toEqual({ kind: 'unchanged', life })
})

test('a change is another revision of the same life, and goes on where it was', () => {
  expect(plan({ stored: stored(), parsed: parsed({ mode: 'structured' }) })).toMatchObject({
    kind: 'changed',
    life: { generation: life.generation, revision: 5, startOffsets: { orders: { 0: 2 } } },
  })
})

test('an added topic starts as `from` says, one that goes is forgotten', () => {
  const both = { topics: ['orders', 'returns'] }
  expect(plan({ stored: stored(), parsed: parsed(both) })).toMatchObject({
    life: { startOffsets: { orders: { 0: 2 }, returns: { 0: 40 } } },
  })
  expect(plan({ stored: stored(), parsed: parsed({ ...both, from: 'earliest' }) })).toMatchObject({
    life: { startOffsets: { orders: { 0: 2 }, returns: { 0: 3 } } },
  })
  const moved = plan({ stored: stored(), parsed: parsed({ topics: ['returns'] }) })
  expect(moved.kind === 'changed' && moved.life.startOffsets).toEqual({ returns: { 0: 40 } })
})

test('a topic that was read from its beginning goes on being so', () => {
  const changed = plan({ stored: stored({ topics: ['orders', 'returns'] }), parsed: parsed({ topics: ['returns'] }) })
  expect(changed.kind === 'changed' && changed.life.startOffsets).toEqual({})
})

test('a record that somebody wrote by hand is replaced by a first life', () => {
  const byHand = parseStoredSubscription(Buffer.from(JSON.stringify(least)), 'orders')
  expect(plan({ stored: byHand })).toMatchObject({ kind: 'created', life: { generation: now, revision: 1 } })
})

test('a damaged record keeps its life', () => {
  const damaged = parseStoredSubscription(Buffer.from(JSON.stringify({ ...least, ...life, mode: 5 })), 'orders')
  expect(plan({ stored: damaged })).toMatchObject({
    kind: 'changed',
    life: { generation: life.generation, revision: 5, startOffsets: { orders: { 0: 2 } } },
  })
})

test.each<[string, object, ApplyInput['stored'], string]>([
  ['another revision', { revision: 3 }, stored(), 'the present one is 4'],
  ['another life', { revision: 4, generation: 17 }, stored(), 'deleted and created again'],
  ['none at all', { revision: 4 }, absent, 'does not exist'],
])('a file taken from %s is a conflict, and force overwrites', (_, taken, present, message) => {
  const file = parsed({ ...taken, mode: 'structured' })
  expect(plan({ parsed: file, stored: present })).toEqual({
    kind: 'conflict',
    message: expect.stringContaining(message),
  })
  expect(plan({ parsed: file, stored: present, force: true }).kind).toBe(
    present.kind === 'absent' ? 'created' : 'changed',
  )
})

test('a file taken from the present revision is none', () => {
  const file = parsed({ revision: 4, generation: life.generation, mode: 'structured' })
  expect(plan({ parsed: file, stored: stored() }).kind).toBe('changed')
  expect(plan({ parsed: parsed({ revision: 4 }), stored: stored() }).kind).toBe('unchanged')
})

test('topics with names of Object.prototype start like any other', () => {
  const strange = [{ topic: 'constructor', partition: 0, low: 1, high: 9 }]
  expect(plan({ parsed: parsed({ topics: ['constructor'] }), offsets: strange, stored: stored() })).toMatchObject({
    life: { startOffsets: { constructor: { 0: 9 } } },
  })
})

test('one that is created paused is so in its record, keeps that through changes, and one that exists is not paused so', () => {
  const created = plan({ pausedBy: 'ada' })
  if (created.kind !== 'created') throw new Error(created.kind)
  expect(created.life.createdPausedBy).toBe('ada')
  const present = parseStoredSubscription(created.value, 'orders')
  expect(present).toMatchObject({ kind: 'valid', subscription: { createdPausedBy: 'ada' } })
  expect(plan({ stored: present }).kind).toBe('unchanged')
  expect(plan({ stored: present, parsed: parsed({ timeout: '3s' }) })).toMatchObject({
    kind: 'changed',
    life: { createdPausedBy: 'ada' },
  })
  expect(plan({ stored: present, pausedBy: 'ada', force: true })).toEqual({
    kind: 'conflict',
    message: '--paused is for one that is created, and it exists; say `barnabas pause orders`',
  })
  const damaged = Buffer.from(JSON.stringify({ ...JSON.parse(created.value.toString()), createdPausedBy: 7 }))
  expect(parseStoredSubscription(damaged, 'orders')).toMatchObject({ kind: 'invalid', life: null })
})
