import { expect, test } from 'vitest'
import type { StatusRecord, SubscriptionStatus } from './status.ts'
import { nextStatus, parseStatus, statusHistoryMax } from './status.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const wanted = (status: SubscriptionStatus, reason: string, seconds: number, revision = 1, generation = 7) => ({
  status,
  reason,
  generation,
  revision,
  now: start + seconds * 1_000,
})

const starting = nextStatus('orders', null, wanted('Starting', 'joining its group', 0))!
const running = nextStatus('orders', starting, { ...wanted('Running', 'reading 1 topic', 1), topics: ['orders'] })!

test('the first status begins the history', () => {
  expect(starting).toEqual({
    id: 'orders',
    status: 'Starting',
    reason: 'joining its group',
    since: '2026-03-01T12:00:00.000Z',
    generation: 7,
    revision: 1,
    startedTopics: [],
    missedTopics: [],
    topicIds: {},
    skippedOffsets: 0,
    handshake: null,
    probation: null,
    parked: 0,
    blocked: [],
    started: null,
    paused: null,
    history: [{ time: '2026-03-01T12:00:00.000Z', from: null, to: 'Starting', reason: 'joining its group' }],
  })
})

test('skipped offsets are written when they are more, without an entry in the history, and kept by who does not know', () => {
  const again = { ...wanted('Running', 'reading 1 topic', 2), topics: ['orders'] }
  const skipped = nextStatus('orders', running, { ...again, skippedOffsets: 12 })!
  expect(skipped).toEqual({ ...running, skippedOffsets: 12 })
  expect(nextStatus('orders', skipped, { ...again, skippedOffsets: 12 })).toBeNull()
  expect(nextStatus('orders', skipped, again)).toBeNull()
  expect(nextStatus('orders', skipped, wanted('Paused', 'by hand', 3))?.skippedOffsets).toBe(12)
  expect(nextStatus('orders', skipped, wanted('Starting', 'a new life', 3, 1, 8))?.skippedOffsets).toBe(0)
})

test('the ids of its topics are kept until others are told', () => {
  const again = { ...wanted('Running', 'reading 1 topic', 2), topics: ['orders'] }
  const known = nextStatus('orders', running, { ...again, topicIds: new Map([['orders', 'one']]) })!
  expect(known).toEqual({ ...running, topicIds: { orders: 'one' } })
  expect(nextStatus('orders', known, { ...again, topicIds: new Map([['orders', 'one']]) })).toBeNull()
  expect(nextStatus('orders', known, { ...again, topicIds: new Map([['orders', 'two']]) })?.topicIds).toEqual({
    orders: 'two',
  })
  expect(nextStatus('orders', known, wanted('Start Failed', 'gone', 3))?.topicIds).toEqual({ orders: 'one' })
})

test('a status of before skipped offsets were counted is read', () => {
  const {
    skippedOffsets: _,
    topicIds: __,
    probation: ___,
    parked: ____,
    started: _____,
    paused: ______,
    ...before
  } = running
  expect(parseStatus(Buffer.from(JSON.stringify(before)), 'orders')).toEqual(running)
})

test('the topics it ran on are remembered', () => {
  expect(running).toMatchObject({
    status: 'Running',
    since: '2026-03-01T12:00:01.000Z',
    startedTopics: ['orders'],
  })
  expect(running.history.map(({ from, to }) => [from, to])).toEqual([
    [null, 'Starting'],
    ['Starting', 'Running'],
  ])
})

test('nothing is written when nothing changes, whatever the time', () => {
  expect(nextStatus('orders', running, wanted('Running', 'reading 1 topic', 100))).toBeNull()
})

test('another reason keeps `since` and is an entry in the history', () => {
  const next = nextStatus('orders', running, wanted('Running', 'reading 2 topics', 5))!
  expect(next.since).toBe(running.since)
  expect(next.history.at(-1)).toEqual({
    time: '2026-03-01T12:00:05.000Z',
    from: 'Running',
    to: 'Running',
    reason: 'reading 2 topics',
  })
})

test('another revision in the same status is written but is no entry in the history', () => {
  const next = nextStatus('orders', running, wanted('Running', 'reading 1 topic', 5, 2))!
  expect(next).toEqual({ ...running, revision: 2 })
})

test('the history is bounded, and the first run outlives the bound', () => {
  let record: StatusRecord = running
  for (let turn = 0; turn < 50; turn++) {
    const failed = turn % 2 === 0
    record = nextStatus('orders', record, wanted(failed ? 'Start Failed' : 'Running', `turn ${turn}`, 10 + turn))!
  }
  expect(record.history).toHaveLength(statusHistoryMax)
  expect(record.history[0]).toMatchObject({ reason: 'turn 30' })
  expect(record.history.at(-1)).toMatchObject({ reason: 'turn 49' })
  expect(record.startedTopics).toEqual(['orders'])
})

test('another generation has run never, and has no history', () => {
  const next = nextStatus('orders', running, wanted('Starting', 'joining its group', 9, 1, 8))!
  expect(next).toMatchObject({ generation: 8, startedTopics: [] })
  expect(next.history).toEqual([
    { time: '2026-03-01T12:00:09.000Z', from: null, to: 'Starting', reason: 'joining its group' },
  ])
})

test('a record is read back as it was written', () => {
  expect(parseStatus(Buffer.from(JSON.stringify(running)), 'orders')).toEqual(running)
})

test('fields of later versions are left out', () => {
  expect(parseStatus(Buffer.from(JSON.stringify({ ...running, blocked: [] })), 'orders')).toEqual(running)
})

test.each([
  ['a tombstone', null],
  ['nothing', ''],
  ['no JSON', '{'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a number', '5'],
  ['another id', JSON.stringify({ ...running, id: 'other' })],
  ['an unknown status', JSON.stringify({ ...running, status: 'Dancing' })],
  ['a missing field', JSON.stringify({ ...running, since: undefined })],
  ['a generation as text', JSON.stringify({ ...running, generation: '7' })],
  [
    'a change at no time',
    JSON.stringify({ ...running, history: [{ time: 'soon', from: null, to: 'Running', reason: '' }] }),
  ],
  ['a prototype name', '{"__proto__":{"id":"orders"}}'],
])('%s is no status', (_, text) => {
  expect(parseStatus(text === null ? null : Buffer.from(text), 'orders')).toBeNull()
})

test('a topic that was missing is remembered until the subscription leaves it', () => {
  const failed = nextStatus('orders', running, { ...wanted('Start Failed', 'no topic', 5), missing: ['orders'] })!
  expect(failed).toMatchObject({ startedTopics: [], missedTopics: ['orders'] })
  const again = nextStatus('orders', failed, { ...wanted('Running', 'reading 1 topic', 6), topics: ['orders'] })!
  expect(again).toMatchObject({ startedTopics: ['orders'], missedTopics: ['orders'] })
  const without = nextStatus('orders', again, { ...wanted('Running', 'reading 1 topic', 7, 2), topics: ['bills'] })!
  expect(without).toMatchObject({ startedTopics: ['bills'], missedTopics: [] })
})

test('a handshake is part of the status, and stays with its life', () => {
  const handshake = {
    kind: 'succeeded',
    form: 'cloudevents',
    revision: 1,
    validation: null,
    at: '2026-03-01T12:00:00.000Z',
    allowedRate: 120,
  } as const
  const said = { status: 'Running', reason: 'reading 1 topic', generation: 7, revision: 1, now: 0 } as const
  const first = nextStatus('orders', null, { ...said, handshake })
  expect(first?.handshake).toEqual(handshake)
  expect(parseStatus(Buffer.from(JSON.stringify(first)), 'orders')).toEqual(first)
  expect(nextStatus('orders', first, { ...said, handshake: { ...handshake } })).toBeNull()
  expect(nextStatus('orders', first, { ...said, revision: 2 })?.handshake).toEqual(handshake)
  expect(nextStatus('orders', first, { ...said, handshake: { ...handshake, allowedRate: null } })).not.toBeNull()
  expect(nextStatus('orders', first, { ...said, generation: 8 })?.handshake).toBeNull()
})

test.each([{ handshake: { kind: 'danced' } }, { handshake: 7 }, {}])('a status with %j has no handshake', (change) => {
  const said = { status: 'Running', reason: '', generation: 7, revision: 1, now: 0 } as const
  const { handshake: _handshake, ...status } = nextStatus('orders', null, said)!
  expect(parseStatus(Buffer.from(JSON.stringify({ ...status, ...change })), 'orders')?.handshake).toBeNull()
})

test('A12: why its endpoint rests and how much is parked are facts beside it, kept until somebody says otherwise', () => {
  const reading = nextStatus('orders', null, wanted('Running', 'reading', 1))!
  const probation = { cause: 'Busy', since: 2_000, until: 12_000 }
  const resting = nextStatus('orders', reading, { ...wanted('Running', 'reading', 2), probation, parked: 12 })!
  expect(resting).toEqual({
    ...reading,
    parked: 12,
    probation: { cause: 'Busy', since: '1970-01-01T00:00:02.000Z', until: '1970-01-01T00:00:12.000Z' },
  })
  expect(nextStatus('orders', resting, { ...wanted('Running', 'reading', 3), probation, parked: 12 })).toBeNull()
  expect(nextStatus('orders', resting, wanted('Running', 'reading', 3))).toBeNull()
  const longer = { ...probation, until: 60_000 }
  expect(nextStatus('orders', resting, { ...wanted('Running', 'reading', 3), probation: longer })).not.toBeNull()
  expect(nextStatus('orders', resting, { ...wanted('Running', 'reading', 3), probation: null })).toMatchObject({
    probation: null,
    parked: 12,
  })
})

test('that a start was taken up stands beside it, whatever the status is then', () => {
  const failed = nextStatus('orders', null, wanted('Start Failed', 'no topic', 1))!
  const started = '2026-03-01T12:00:00.000Z'
  const said = { started, paused: null }
  const again = nextStatus('orders', failed, { ...wanted('Start Failed', 'no topic', 2), said })!
  expect(again).toEqual({ ...failed, started })
  expect(nextStatus('orders', again, { ...wanted('Start Failed', 'no topic', 3), said })).toBeNull()
  expect(nextStatus('orders', again, wanted('Running', 'reading', 3))?.started).toBe(started)
})

test('one that is paused stays so, whatever is wanted, until a start is said that came later', () => {
  const pausedAt = (at: string) => ({ started: null, paused: { at, by: 'ada' } })
  const said = pausedAt('2026-03-01T12:00:01.000Z')
  const paused = nextStatus('orders', running, { ...wanted('Running', 'reading 1 topic', 2), said })!
  expect(paused).toMatchObject({ status: 'Paused', reason: 'paused by ada', paused: said.paused })
  expect(paused.history.at(-1)).toMatchObject({ from: 'Running', to: 'Paused', reason: 'paused by ada' })
  // Who has not heard it, or another revision.
  expect(nextStatus('orders', paused, wanted('Starting', 'joining its group', 3))).toBeNull()
  expect(nextStatus('orders', paused, wanted('Running', 'reading 1 topic', 3, 2))).toMatchObject({
    revision: 2,
    status: 'Paused',
  })
  expect(nextStatus('orders', paused, wanted('Start Failed', 'no topic', 3))).toMatchObject({
    status: 'Paused',
    reason: 'paused by ada; once started: no topic',
  })
  const later = {
    ...wanted('Running', 'reading 1 topic', 4),
    said: { started: '2026-03-01T12:00:02.000Z', paused: null },
  }
  const again = nextStatus('orders', paused, later)!
  expect(again).toMatchObject({ status: 'Running', paused: null })
  // The pause that is over is heard again, from the beginning of the commands.
  expect(nextStatus('orders', again, { ...wanted('Running', 'reading 1 topic', 5), said })).toBeNull()
  expect(parseStatus(Buffer.from(JSON.stringify(paused)), 'orders')).toEqual(paused)
  // Deleted, and created anew.
  expect(nextStatus('orders', paused, wanted('Starting', 'joining its group', 6, 1, 8))).toMatchObject({
    status: 'Starting',
    paused: null,
  })
})
