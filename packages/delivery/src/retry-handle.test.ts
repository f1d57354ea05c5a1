import { newDeliveryState, retryHeaders, retryPolicyOf, decodeRetryHeaders } from '@barnabas/core'
import type { KafkaRecord, Subscription, Verdict } from '@barnabas/core'
import { expect, test, vi } from 'vitest'
import type { CarriedOut, NoRequest } from './carry-out.ts'
import { createReadBudget } from './read-budget.ts'
import { createRetryHandle } from './retry-handle.ts'
import type { Recipient } from './recipient.ts'
import type { RetryRecord } from './retry-handle.ts'
import { createWindow } from './window.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const subscription: Subscription = {
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
  mode: 'binary',
  headers: [],
  concurrency: 64,
  batch: { maxEvents: 1, preferredBytes: 65_536 },
  retry: retryPolicyOf({ schedule: 'event-grid' }, 1),
  handshake: 'none',
  probation: null,
  deadLetter: null,
}
const event = {
  ce_specversion: Buffer.from('1.0'),
  ce_id: Buffer.from('1'),
  ce_source: Buffer.from('/shop'),
  ce_type: Buffer.from('order.created'),
}

const probation = { cause: 'Busy', failingSince: 1, since: 2, until: 3, lengthMs: 1 } as const

interface Setting {
  subscription?: Subscription
  recipient?: () => Recipient
  mayWait?: () => boolean
  restMaxMs?: number
  isDoubled?: boolean
  waits?: () => Promise<boolean>
  isLost?: () => boolean
  isOnProbation?: () => boolean
  isNoRequest?: boolean
  isHeldForRate?: () => false | Promise<boolean>
  headers?: KafkaRecord['headers']
}

const cannot: NoRequest = { kind: 'no-request', message: 'no secret' }

/** A handle that writes down what becomes of the records it is given; attempts end when they are told to. */
function recordedHandle(setting: Setting = {}) {
  const steps: string[] = []
  const attempts: (() => void)[] = []
  const window = createWindow({ limit: () => 1, bytesMax: 1_000_000, budget: createReadBudget(1_000_000) })
  const durable = (verdict: Verdict): CarriedOut => ({ kind: 'durable', wroteRecord: verdict.kind !== 'done', verdict })
  const ended = setting.isNoRequest === true ? cannot : durable({ kind: 'done' })
  const handle = createRetryHandle<RetryRecord>({
    deliverer: {
      async deliver({ subscription: { revision }, dueAt }) {
        steps.push(`attempted by revision ${revision}, due ${(dueAt ?? 0) - now}`)
        await new Promise<void>((resolve) => attempts.push(resolve))
        return ended
      },
      async deliverTogether(deliveries, onCarriedOut) {
        const names = deliveries.map(({ event: { attributes } }) => attributes.get('id'))
        const revisions = new Set(deliveries.map(({ subscription: { revision } }) => revision))
        steps.push(`${names.join(' ')} attempted by revision ${[...revisions].join()}`)
        await new Promise<void>((resolve) => attempts.push(resolve))
        for (const delivery of deliveries) onCarriedOut(delivery, ended)
      },
      async skip() {
        steps.push('skipped')
        return durable({ kind: 'park', dueAt: now })
      },
      async settle(verdict) {
        steps.push(`settled: ${verdict.kind}${'because' in verdict ? ` ${verdict.because}` : ''}`)
        return durable(verdict)
      },
      async settleDamaged({ reason }) {
        steps.push(`settled: ${reason}`)
        return durable({ kind: 'dead-letter', reason })
      },
    },
    recipient: setting.recipient ?? (() => ({ kind: 'running', subscription: setting.subscription ?? subscription })),
    subscriptionOf: () => setting.subscription ?? subscription,
    windowOf: () => window,
    mayWait: setting.mayWait ?? (() => true),
    restMaxMs: () => setting.restMaxMs ?? 5_000,
    restOf: () => (setting.isOnProbation?.() === true ? probation : null),
    onNoRequest: ({ id }, message) => void steps.push(`${id} stops: ${message}`),
    isHeldForRate: setting.isHeldForRate ?? (() => false),
    cancel: new AbortController().signal,
    timeScale: 1,
    now: () => now,
    isDoubled: () => setting.isDoubled ?? false,
    waitUntil: setting.waits ?? (async () => true),
    release: () => void steps.push('released'),
  })
  const give = (dueInMs: number, id = '1') => {
    const attributes = { ...event, ce_id: Buffer.from(id) }
    const state = newDeliveryState(subscription, { topic: 'orders', partition: 0, offset: 40 }, now - 60_000)
    const headers =
      setting.headers ?? retryHeaders(id === '' ? {} : attributes, { ...state, attempts: 1, hops: 1 }, now + dueInMs)
    return handle({
      partition: {
        topic: 'barnabas.retry.10s',
        partition: 0,
        get lost() {
          return setting.isLost?.() ?? false
        },
        settled: undefined,
        openCount: 1,
        take: () => null,
        finish: (_open, wroteRecord) => void steps.push(`finished${wroteRecord ? ' by a write' : ''}`),
        pause() {},
        resume() {},
        seek() {},
      },
      open: { offset: 5, isDone: false },
      record: { topic: 'barnabas.retry.10s', partition: 0, offset: 5, timestamp: now, key: null, value: null, headers },
      decoded: decodeRetryHeaders(headers),
      bytes: 100,
    })
  }
  return { give, steps, attempts, window }
}

test('what is due is attempted, and its memory is given back when it has its place', async () => {
  const { give, steps, attempts } = recordedHandle()
  const given = give(-20)
  await expect.poll(() => attempts.length).toBe(1)
  expect(steps).toEqual(['released', 'attempted by revision 1, due -20'])
  attempts[0]?.()
  await given
  expect(steps.slice(2)).toEqual(['finished'])
})

test.each([
  ['is gone', { kind: 'gone' }, 'settled: dead-letter'],
  ['rests', { kind: 'resting', subscription }, 'settled: hold stopped'],
  ['does not validate', { kind: 'resting', subscription: null }, 'settled: hold stopped'],
] as const)('a subscription that %s: %o', async (_what, recipient, expected) => {
  const { give, steps } = recordedHandle({ recipient: () => recipient })
  await give(0)
  expect(steps).toEqual([expected, 'released', 'finished by a write'])
})

test('where requests are limited what is due is held for its turn, if it may be', async () => {
  const { give, steps } = recordedHandle({ isHeldForRate: async () => true })
  await give(0)
  expect(steps).toEqual(['settled: hold rate', 'released', 'finished by a write'])

  const here = recordedHandle({ isHeldForRate: async () => false })
  void here.give(0)
  await expect.poll(() => here.steps).toEqual(['released', 'attempted by revision 1, due 0'])

  const resting = recordedHandle({ isHeldForRate: async () => true, isOnProbation: () => true })
  await resting.give(0)
  expect(resting.steps[0]).toBe('skipped')
})

test('what may not wait for a place is held', async () => {
  const { give, steps } = recordedHandle({ mayWait: () => false })
  await give(0)
  expect(steps).toEqual(['settled: hold window-full', 'released', 'finished by a write'])
})

test.each([
  [5_000, 5_001, 'settled: park'],
  [1_000, 1_001, 'settled: park'],
  [1_000, 1_000, 'released'],
])('with %d ms that may be waited out in memory, due in %d ms: %s', async (restMaxMs, dueInMs, first) => {
  const { give, steps, attempts } = recordedHandle({ restMaxMs })
  const given = give(dueInMs)
  await expect.poll(() => steps.length).toBeGreaterThan(1)
  expect(steps[0]).toBe(first)
  attempts[0]?.()
  await given
})

test('whoever waited for a place goes by what its subscription is by then', async () => {
  let present: Recipient = { kind: 'running', subscription }
  const { give, steps, attempts, window } = recordedHandle({ recipient: () => present })
  const given = [give(0), give(0), give(0)]
  await expect.poll(() => window.waiting).toBe(2)
  present = { kind: 'running', subscription: { ...subscription, revision: 2 } }
  attempts[0]?.()
  await expect.poll(() => attempts.length).toBe(2)
  expect(steps).toContain('attempted by revision 2, due 0')
  present = { kind: 'gone' }
  attempts[1]?.()
  await Promise.all(given)
  expect(steps.filter((step) => step.startsWith('settled'))).toEqual(['settled: dead-letter'])
})

test('a record that was read at another place is done', async () => {
  const { give, steps } = recordedHandle({ isDoubled: true })
  await give(0)
  expect(steps).toEqual(['released', 'finished'])
})

test('a damaged record is a dead letter', async () => {
  const { give, steps } = recordedHandle({ headers: { ...event, 'barnabas-attempts': Buffer.from('three') } })
  await give(0)
  expect(steps).toEqual(['settled: DeliveryMetadataMalformed', 'released', 'finished by a write'])
})

test.each<[string, Setting]>([
  ['the process ends before it is due', { waits: async () => false }],
  ['nobody can say what its subscription is', { recipient: () => ({ kind: 'unknown' }) }],
  ['its partition is lost', { isLost: () => true }],
])('it is left to whoever reads it next when %s', async (_when, setting) => {
  const { give, steps } = recordedHandle(setting)
  await give(0)
  expect(steps).toEqual(['released'])
})

const batched = { ...subscription, batch: { maxEvents: 3, preferredBytes: 65_536 } }

test('with batches, those that are due share requests up to the limit', async () => {
  const { give, steps, attempts } = recordedHandle({ subscription: batched })
  const given = ['a', 'b', 'c', 'd'].map((id) => give(-20, id))
  await expect.poll(() => attempts.length).toBe(1)
  attempts[0]?.()
  await expect.poll(() => attempts.length).toBe(2)
  attempts[1]?.()
  await Promise.all(given)
  expect(steps.filter((step) => step.includes('attempted'))).toEqual([
    'a b c attempted by revision 1',
    'd attempted by revision 1',
  ])
  expect(steps.filter((step) => step === 'finished')).toHaveLength(4)
})

test('lives and revisions do not mix: each waited for its place, and goes by what its subscription is by then', async () => {
  let present: Recipient = { kind: 'running', subscription: batched }
  let asked = 0
  const next = { ...batched, revision: 2 }
  const { give, steps, attempts, window } = recordedHandle({
    subscription: batched,
    // The one in the middle is of a life that is over.
    recipient: () => (present.kind === 'running' && present.subscription === next && ++asked === 2 ? gone : present),
  })
  const gone = { kind: 'gone' } as const
  const given = [give(0, 'a')]
  await expect.poll(() => attempts.length).toBe(1)
  given.push(give(0, 'b'), give(0, 'c'), give(0, 'd'))
  await expect.poll(() => window.waiting).toBe(3)
  present = { kind: 'running', subscription: next }
  attempts[0]?.()
  await expect.poll(() => attempts.length).toBe(2)
  attempts[1]?.()
  await Promise.all(given)
  expect(steps.filter((step) => step.includes('attempted'))).toEqual([
    'a attempted by revision 1',
    'b d attempted by revision 2',
  ])
  expect(steps).toContain('settled: dead-letter')
})

test('in a batch too, what is no event is a dead letter, and the others are attempted', async () => {
  const { give, steps, attempts } = recordedHandle({ subscription: batched })
  const given = ['a', '', 'b'].map((id) => give(0, id))
  await expect.poll(() => attempts.length).toBe(1)
  attempts[0]?.()
  await Promise.all(given)
  expect(steps).toContain('a b attempted by revision 1')
  expect(steps).toContain('settled: dead-letter')
})

test('what waits for a batch when the process ends is left to whoever reads it next', async () => {
  const { give, steps, window } = recordedHandle({ subscription: batched })
  window.hold()
  const given = [give(0, 'a'), give(0, 'b')]
  await expect.poll(() => window.waiting).toBe(2)
  window.clear()
  await Promise.all(given)
  expect(steps).toEqual(['released', 'released'])
})

test('A12: what falls due on probation is skipped, also when it began while a place was waited for', async () => {
  const one = recordedHandle({ isOnProbation: () => true })
  await one.give(0)
  expect(one.steps).toEqual(['skipped', 'released', 'finished by a write'])

  let isOnProbation = false
  const other = recordedHandle({ isOnProbation: () => isOnProbation })
  const [first, second] = [other.give(0), other.give(0)]
  await vi.waitFor(() => expect(other.attempts).toHaveLength(1))
  isOnProbation = true
  other.attempts[0]!()
  await Promise.all([first, second])
  expect(other.steps.filter((step) => !step.startsWith('finished'))).toEqual([
    'released',
    'released',
    'attempted by revision 1, due 0',
    'skipped',
  ])
})

test.each([1, 10])('B3: a retry that no request can be built for is held, with %d in a batch', async (maxEvents) => {
  const { give, steps, attempts } = recordedHandle({
    isNoRequest: true,
    subscription: { ...subscription, batch: { maxEvents, preferredBytes: 65_536 } },
  })
  const given = give(0)
  await expect.poll(() => attempts.length).toBe(1)
  attempts[0]?.()
  await given
  expect(steps.slice(2)).toEqual(['orders stops: no secret', 'settled: hold stopped', 'finished by a write'])
})
