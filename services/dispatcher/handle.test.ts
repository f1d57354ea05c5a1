import { newDeliveryState, retryPolicyOf } from '@barnabas/core'
import type { KafkaRecord, Subscription } from '@barnabas/core'
import { createReadBudget, createWindow } from '@barnabas/delivery'
import type { CarriedOut, Deliverer, HoldablePartition, NoRequest } from '@barnabas/delivery'
import { expect, test } from 'vitest'
import { createHandle } from './handle.ts'
import { createOrderLanes } from './order-lanes.ts'

const single: Subscription = {
  id: 'orders',
  generation: 7,
  revision: 1,
  topics: ['orders'],
  sink: 'https://example.com/hook',
  startOffsets: {},
  input: 'cloudevents',
  inputSchemaMapping: {},
  types: [],
  filters: [],
  timeoutMs: 30_000,
  rate: null,
  notation: 'barnabas',
  schema: 'CloudEventSchemaV1_0',
  mode: 'structured',
  headers: [],
  concurrency: 1,
  batch: { maxEvents: 1, preferredBytes: 65_536 },
  retry: retryPolicyOf({ schedule: 'event-grid' }, 1),
  handshake: 'none',
  probation: null,
  deadLetter: null,
}
const batched: Subscription = { ...single, batch: { maxEvents: 10, preferredBytes: 4_096 } }

const done: CarriedOut = { kind: 'durable', wroteRecord: false, verdict: { kind: 'done' } }

/** Hands records over to a subscription whose attempts end when they are told to, and writes down what comes of them. */
function handling(first: Subscription, outcome: CarriedOut | NoRequest = done) {
  const steps: string[] = []
  const attempts: (() => void)[] = []
  let subscription = first
  let isLost = false
  let nextOffset = 0
  const idOf = (offset: number) => `event-${offset}`
  const ended = () => new Promise<void>((resolve) => attempts.push(resolve))
  const deliverer: Deliverer = {
    async deliver({ event }) {
      steps.push(`${event.attributes.get('id')} alone`)
      await ended()
      return outcome
    },
    async deliverTogether(deliveries, onCarriedOut) {
      if (deliveries.length === 0) return
      const names = deliveries.map(
        ({ event, subscription: { revision } }) => `${event.attributes.get('id')}/${revision}`,
      )
      steps.push(names.join(' '))
      await ended()
      for (const delivery of deliveries) onCarriedOut(delivery, outcome)
    },
    async settle(verdict) {
      steps.push(verdict.kind)
      return { kind: 'durable', wroteRecord: true, verdict }
    },
    skip: () => Promise.reject(new Error('only retries are skipped')),
    settleDamaged: () => Promise.reject(new Error('a source record has no delivery headers')),
  }
  const window = createWindow({
    limit: () => subscription.concurrency,
    bytesMax: 1_000_000,
    budget: createReadBudget(1_000_000),
  })
  const partition: HoldablePartition = {
    topic: 'orders',
    partition: 0,
    get lost() {
      return isLost
    },
    settled: undefined,
    openCount: 0,
    take: (offset) => ({ offset, isDone: false }),
    finish: ({ offset }, wroteRecord) => void steps.push(`${idOf(offset)} finished${wroteRecord ? ' by a write' : ''}`),
    pause() {},
    resume() {},
    seek() {},
    start: 0,
    wasDone: () => false,
    committedAll: async () => true,
    hold() {},
    release() {},
    finishAt() {},
    handBack() {},
  }
  const handle = createHandle({
    subscription: () => subscription,
    window,
    deliverer,
    cancel: new AbortController().signal,
    onFiltered: () => void steps.push('filtered out'),
    onNoRequest: ({ revision }, message) => void steps.push(`revision ${revision} stops: ${message}`),
    inPlace: { holds: () => false, hold: () => {}, claim: () => false, keep: () => void steps.push('kept') },
    lanes: (begin) => createOrderLanes({ begin, copyOf: (waiting) => waiting, budget: createReadBudget(1_000_000) }),
    onNothingBegun: () => {},
  })
  return {
    steps,
    attempts,
    window,
    lose: () => void (isLost = true),
    change: (next: Subscription) => void (subscription = next),
    /** An event that stays where it is, of this size, is due. */
    due(size: number) {
      const source = { topic: 'orders', partition: 0, offset: nextOffset }
      const record = sourceRecord(nextOffset, idOf(nextOffset), size)
      const state = newDeliveryState({ id: 'orders', generation: 7 }, source, 0)
      const event = { state, eventId: null, standing: { kind: 'waiting', dueAt: 0 }, at: 0 } as const
      nextOffset += 1
      handle.attempt(
        { partition, record, event },
        () => {},
        () => {},
      )
    },
    /** Events of these sizes, all of them in one turn of the event loop; 0 for a record that is no event. */
    hand(sizes: readonly number[]) {
      for (const size of sizes) {
        handle(partition, sourceRecord(nextOffset, idOf(nextOffset), size))
        nextOffset += 1
      }
    },
  }
}

function sourceRecord(offset: number, id: string, size: number): KafkaRecord {
  const json = JSON.stringify({ specversion: '1.0', id, source: '/shop', type: 'order.created', data: '' })
  const value = Buffer.from(size === 0 ? 'no event' : `${json.slice(0, -2)}${'x'.repeat(size - json.length)}"}`)
  return { topic: 'orders', partition: 0, offset, timestamp: 0, key: null, value, headers: {} }
}

test('without batches each event is an attempt of its own', async () => {
  const { hand, steps, attempts } = handling(single)
  hand([200, 200])
  await expect.poll(() => attempts.length).toBe(1)
  expect(steps).toEqual(['event-0 alone'])
})

test('A11: what is there goes together as far as it fits, and what is larger than the target goes alone', async () => {
  const { hand, steps, attempts } = handling(batched)
  hand([2_000, 2_000, 2_000, 9_000, 100, 100])
  for (const index of [0, 1, 2, 3]) {
    await expect.poll(() => attempts.length).toBe(index + 1)
    attempts[index]?.()
  }
  await expect.poll(() => steps.length).toBe(10)
  expect(steps.filter((step) => !step.includes('finished'))).toEqual([
    'event-0/1 event-1/1',
    'event-2/1',
    'event-3/1',
    'event-4/1 event-5/1',
  ])
})

test('an event waits for others for as long as the window of time says, but one that is due again does not', async () => {
  const { hand, due, steps, window } = handling({ ...batched, batch: { ...batched.batch, windowMs: 15_000 } })
  hand([200])
  await new Promise((resolve) => setImmediate(resolve))
  expect([steps, window.waiting]).toEqual([[], 1])
  due(200)
  await expect.poll(() => steps).toEqual(['event-0/1 event-1/1'])
})

test('what is no event becomes a dead letter, and takes nothing from those around it', async () => {
  const { hand, steps, attempts } = handling(batched)
  hand([200, 0, 200])
  await expect.poll(() => attempts.length).toBe(1)
  attempts[0]?.()
  await expect.poll(() => steps.length).toBe(5)
  expect(steps.toSorted()).toEqual([
    'dead-letter',
    'event-0 finished',
    'event-0/1 event-2/1',
    'event-1 finished by a write',
    'event-2 finished',
  ])
})

test('a batch goes by the revision that counts when it begins', async () => {
  const { hand, steps, attempts, change, window } = handling(batched)
  hand([200])
  await expect.poll(() => attempts.length).toBe(1)
  hand([200, 200, 200])
  await expect.poll(() => window.waiting).toBe(3)
  change({ ...batched, revision: 2, batch: { maxEvents: 2, preferredBytes: 4_096 } })
  attempts[0]?.()
  await expect.poll(() => attempts.length).toBe(2)
  expect(steps.at(-1)).toBe('event-1/2 event-2/2')
})

test('what was filtered out waits for nobody', async () => {
  const { hand, steps } = handling({ ...batched, types: ['another'] })
  hand([200])
  expect(steps).toEqual(['filtered out', 'event-0 finished'])
})

test('of a lost partition nothing is attempted', async () => {
  const { hand, steps, window, lose } = handling(batched)
  hand([200, 0, 200])
  lose()
  await expect.poll(() => window.waiting).toBe(0)
  await window.idle()
  expect(steps).toEqual([])
})

test.each([
  ['alone', single, ['event-0 alone']],
  ['in a batch', batched, ['event-0/1']],
])(
  'B3: an event that no request can be built for, %s, keeps its place, and its subscription stops',
  async (_, subscription, attempted) => {
    const { hand, steps, attempts, window } = handling(subscription, { kind: 'no-request', message: 'no secret' })
    hand([200])
    await expect.poll(() => attempts.length).toBe(1)
    attempts[0]?.()
    await window.idle()
    expect(steps).toEqual([...attempted, 'revision 1 stops: no secret'])
  },
)
