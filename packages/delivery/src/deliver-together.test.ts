import { decodeEvent, newDeliveryState, retryPolicyOf, tiers } from '@barnabas/core'
import type { AttemptReport, DeliveryState, OutgoingRecord, Subscription } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createCarryOut } from './carry-out.ts'
import type { CarriedOut, NoRequest } from './carry-out.ts'
import { createDeliverer } from './deliver.ts'
import type { Delivery, DeliveryReport } from './deliver.ts'
import type { Owner } from './owner.ts'
import type { Rates } from './rates.ts'

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
  mode: 'structured',
  headers: [],
  concurrency: 64,
  batch: { maxEvents: 5_000, preferredBytes: 65_536 },
  retry: retryPolicyOf({ schedule: 'event-grid', maxAttempts: 3 }, 1),
  handshake: 'none',
  probation: null,
  deadLetter: { topic: 'letters', responseBody: true },
}

interface Named extends Delivery {
  readonly name: string
}

/** Who answers: the names of those in a request, and its number of the attempt. Null: no request can be built. */
type Answers = (names: readonly string[], attemptNumber: number) => number | null

interface Setting {
  draws?: readonly number[]
  /** Resolves when a record may be written. */
  writes?: (record: OutgoingRecord) => Promise<void>
  onAttempt?: (change: number) => void
  rates?: Pick<Rates, 'turn' | 'giveBack'>
}

function engine(answers: Answers, { draws = [0], writes = async () => {}, onAttempt = () => {}, rates }: Setting = {}) {
  const requests: (readonly [string, number])[] = []
  const written: OutgoingRecord[] = []
  const reports: DeliveryReport[] = []
  const ends: string[] = []
  const splits: string[] = []
  const results: string[] = []
  const left = [...draws]
  const writers = {
    async write([form]: readonly OutgoingRecord[], owner: Owner) {
      if (owner.lost || form === undefined) return { kind: 'abandoned' } as const
      await writes(form)
      written.push(form)
      return { kind: 'written', form: 0 } as const
    },
    close: async () => {},
  }
  const deliverer = createDeliverer({
    sender: {
      async attempt(events, { attemptNumber }): Promise<AttemptReport> {
        const names = events.map(({ attributes }) => attributes.get('id') ?? '')
        const status = answers(names, attemptNumber)
        requests.push([names.join(' '), attemptNumber])
        const outcome = status === 200 ? 'Delivered' : status === 413 ? 'PayloadTooLarge' : 'Busy'
        const result = { outcome, status, responseBody: null, startedAt: now - 5, endedAt: now } as const
        return status === null
          ? { ...result, error: 'cannot', isNoRequest: true }
          : { ...result, error: `answered ${status}` }
      },
    },
    writers,
    carryOut: createCarryOut({
      keepInPlace: async () => true,
      heldTopics: { find: async () => ({ kind: 'refused' }) },
      writers,
      tiers,
      tierTopic: (tier) => `retry.${tier.name}`,
      tierPartitions: 8,
      timeScale: 1,
      now: () => now,
    }),
    now: () => now,
    random: () => left.shift() ?? 0,
    defaultDeadLetterTopic: 'default-letters',
    presentOf: (each) => each,
    onAttempt: (_id, change) => onAttempt(change),
    onResult: (_subscription, { offset }, { outcome }) => void results.push(`${offset} ${outcome}`),
    onSplit: (id) => void splits.push(id),
    report: (report) => void reports.push(report),
    ...(rates === undefined ? {} : { rates }),
    lateSuccesses: { write: async () => {}, lateSuccessOf: () => null },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const batch = (
    members: readonly string[],
    states: Record<string, Partial<DeliveryState>> = {},
    owner?: Owner,
    to: Subscription = subscription,
  ) =>
    deliverer.deliverTogether(
      members.map((name, index) => ({ ...deliveryOf(name, index, states[name], owner), subscription: to })),
      ({ name }, carried) => void ends.push(`${name} ${endOf(carried)}`),
    )
  return { batch, requests, written, reports, ends, splits, results }
}

function deliveryOf(name: string, offset: number, changes: Partial<DeliveryState> = {}, owner?: Owner): Named {
  const headers = {
    ce_specversion: Buffer.from('1.0'),
    ce_id: Buffer.from(name),
    ce_source: Buffer.from('/shop'),
    ce_type: Buffer.from('order.created'),
  }
  const record = { key: null, value: Buffer.from('{}'), headers }
  const decoded = decodeEvent(record)
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  const state = newDeliveryState(subscription, { topic: 'orders', partition: 0, offset }, now - 100)
  return {
    name,
    subscription,
    event: decoded.event,
    parcel: { record, state: { ...state, ...changes } },
    dueAt: null,
    owner: owner ?? { lost: false, settled: undefined },
    signal: new AbortController().signal,
  }
}

const endOf = (carried: CarriedOut | NoRequest): string =>
  carried.kind === 'durable' ? carried.verdict.kind : carried.kind
const headerOf = (record: OutgoingRecord | undefined, name: string) => String(record?.headers[name])

test('a batch is one request, and one place of the subscription', async () => {
  const changes: number[] = []
  const { batch, requests, ends, reports } = engine(() => 200, { onAttempt: (change) => changes.push(change) })
  await batch(['a', 'b', 'c'])
  expect([requests, ends, changes]).toEqual([[['a b c', 1]], ['a done', 'b done', 'c done'], [1, -1]])
  expect(reports.map(({ state }) => state.attempts)).toEqual([1, 1, 1])
})

test('A11: all or none, and each event of a failed batch is retried with its own number of attempts', async () => {
  const { batch, requests, written, ends } = engine(() => 503)
  await batch(['first', 'second', 'third'], {
    second: { attempts: 1, firstAttemptTime: now - 60_000 },
    third: { attempts: 2, firstAttemptTime: now - 90_000 },
  })
  // Barnabas-Attempt is the lowest of the batch (interface, "What a webhook receives").
  expect(requests).toEqual([['first second third', 1]])
  expect(ends.toSorted()).toEqual(['first retry', 'second retry', 'third dead-letter'])
  const names = ['ce_id', 'barnabas-attempts', 'barnabas-source-offset'] as const
  const facts = written.map((record) => [...names.map((name) => headerOf(record, name)), record.topic].join(' '))
  expect(facts.toSorted()).toEqual(['first 1 0 retry.30s', 'second 2 1 retry.30s', 'third 3 2 letters'])
})

test('what failed together falls due together: one draw for all of an attempt', async () => {
  const { batch, written } = engine(() => 503, { draws: [0.5, 0.25] })
  await batch(['a', 'b', 'c'])
  const due = new Set(written.map((record) => headerOf(record, 'barnabas-due-time')))
  expect(due.size).toBe(1)
})

test('A10: those whose time to live or attempts are over get their verdict, and the others their attempt', async () => {
  const { batch, requests, ends } = engine(() => 200)
  await batch(['fresh', 'late', 'tired'], { late: { attempts: 1, expiryTime: now }, tired: { attempts: 3 } })
  expect(requests).toEqual([['fresh', 1]])
  expect(ends.toSorted()).toEqual(['fresh done', 'late dead-letter', 'tired dead-letter'])
})

test('a 413 splits a batch until the guilty stands alone: it is the outcome of nobody else, and no attempt of theirs', async () => {
  const { batch, requests, ends, written, reports, splits } = engine((names) => (names.includes('large') ? 413 : 200))
  await batch(['a', 'b', 'large', 'c', 'd'], { large: { attempts: 1 }, c: { attempts: 2 } })
  expect(requests).toEqual([
    ['a b large c d', 1],
    ['a b large', 1],
    ['a b', 1],
    ['large', 2],
    ['c d', 1],
  ])
  // The guilty one, once it stands alone, splits nothing.
  expect(splits).toEqual(['orders', 'orders'])
  expect(ends).toEqual(['a done', 'b done', 'large dead-letter', 'c done', 'd done'])
  expect(written.map((record) => headerOf(record, 'barnabas-dead-letter-reason'))).toEqual([
    'UndeliverableDueToHttpRequestEntityTooLarge',
  ])
  expect(reports.map(({ event, state }) => [event?.attributes.get('id'), state.attempts])).toEqual([
    ['a', 1],
    ['b', 1],
    ['large', 2],
    ['c', 3],
    ['d', 1],
  ])
})

test('a receiver that answers everything with 413 is asked less than twice as often as there are events', async () => {
  const { batch, requests, ends } = engine(() => 413)
  const names = Array.from({ length: 1_000 }, (_, index) => `event-${index}`)
  await batch(names)
  expect(requests).toHaveLength(2 * 1_000 - 1)
  expect(ends).toEqual(names.map((name) => `${name} dead-letter`))
})

test('each event is told of as soon as its own record is written', async () => {
  const stuck = Promise.withResolvers<void>()
  const { batch, ends } = engine(() => 503, {
    writes: (record) => (headerOf(record, 'ce_id') === 'stuck' ? stuck.promise : Promise.resolve()),
  })
  let isOver = false
  const over = batch(['stuck', 'a', 'b']).then(() => (isOver = true))
  await expect.poll(() => ends).toEqual(['a retry', 'b retry'])
  expect(isOver).toBe(false)
  stuck.resolve()
  await over
  expect(ends).toEqual(['a retry', 'b retry', 'stuck retry'])
})

test('what was lost while a batch was split is attempted no more', async () => {
  let isLost = false
  const owner: Owner = {
    get lost() {
      return isLost
    },
    settled: undefined,
  }
  const { batch, requests, ends } = engine(() => {
    isLost = true
    return 413
  })
  await batch(['a', 'b'], {}, owner)
  expect([requests, ends]).toEqual([[['a b', 1]], ['a abandoned', 'b abandoned']])
})

test('where requests are limited each half of a split batch waits for its turn, and a stop leaves the rest', async () => {
  const turns = [true, true, false]
  const asked: number[] = []
  const turn = async () => {
    asked.push(requests.length)
    return turns.shift() ?? true
  }
  const { batch, requests, ends } = engine((names) => (names.length > 1 ? 413 : 200), {
    rates: { turn, giveBack: () => {} },
  })
  await batch(['a', 'b', 'c'])
  expect(requests.map(([names]) => names)).toEqual(['a b c', 'a b', 'a', 'c'])
  expect(asked).toEqual([1, 2, 3, 3])
  expect(ends).toEqual(['a done', 'b abandoned', 'c done'])
})

test('a batch of which nothing is left to attempt makes no request, and gives its turn back', async () => {
  const given: string[] = []
  const giveBack = (id: string) => void given.push(id)
  const { batch, requests } = engine(() => 200, { rates: { turn: async () => true, giveBack } })
  await batch(['late'], { late: { attempts: 1, expiryTime: now } })
  expect(given).toHaveLength(1)
  await batch([])
  expect(given).toHaveLength(1)
  expect(requests).toEqual([])
})

test('A3: one event that no request can be built for fails no other of its batch', async () => {
  const { batch, requests, written, ends, splits, results } = engine((names) => (names.includes('c') ? null : 200))
  await batch(['a', 'b', 'c', 'd'], {}, undefined, { ...subscription, notation: 'event-grid' })
  expect(requests.map(([names]) => names)).toEqual(['a b c d', 'a b', 'c d', 'c', 'd'])
  expect(ends).toEqual(['a done', 'b done', 'c dead-letter', 'd done'])
  expect(headerOf(written[0], 'barnabas-dead-letter-reason')).toBe('DestinationInvalid')
  // It was no 413, and says nothing of the receiver.
  expect([splits, results]).toEqual([[], ['0 Delivered', '3 Delivered']])
})

test('B3: elsewhere that one alone is left, for its subscription to stop at it', async () => {
  const { batch, written, ends, reports } = engine((names) => (names.includes('b') ? null : 200))
  await batch(['a', 'b', 'c'])
  expect(ends).toEqual(['a done', 'b no-request', 'c done'])
  expect([written, reports.length]).toEqual([[], 2])
})
