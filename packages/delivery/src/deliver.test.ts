import { decodeEvent, newDeliveryState, retryPolicyOf, tiers } from '@barnabas/core'
import type {
  AttemptReport,
  AttemptResult,
  CloudEvent,
  LateSuccess,
  OutgoingRecord,
  Subscription,
} from '@barnabas/core'
import { describe, expect, test, vi } from 'vitest'
import { createCarryOut } from './carry-out.ts'
import type { HeldTopic } from './carry-out.ts'
import { createDeliverer } from './deliver.ts'
import type { DeliveryReport } from './deliver.ts'
import type { LateSuccesses } from './late-answers.ts'
import type { Owner } from './owner.ts'
import type { Writers } from './writers.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const text = (value: OutgoingRecord['headers'][string] | undefined) =>
  value instanceof Buffer ? value.toString() : value

const headers = {
  ce_specversion: Buffer.from('1.0'),
  ce_id: Buffer.from('1'),
  ce_source: Buffer.from('/shop'),
  ce_type: Buffer.from('order.created'),
}

function eventOf(record: { value: Buffer | null; headers: typeof headers }): CloudEvent {
  const decoded = decodeEvent(record)
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return decoded.event
}

const ours: Owner = { lost: false, settled: undefined }
const record = { key: Buffer.from('k'), value: Buffer.from('{"n":1}'), headers }
const event = eventOf(record)

const subscription: Subscription = {
  id: 'orders',
  generation: 7,
  revision: 1,
  topics: ['orders'],
  sink: 'https://example.com/hook?token=secret',
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
  retry: retryPolicyOf({ schedule: { delaysMs: [1_000, 10_000], repeatLast: false } }, 1),
  handshake: 'none',
  probation: null,
  deadLetter: { topic: 'letters', responseBody: true },
}

const answered = (status: number, outcome: AttemptResult['outcome']): AttemptResult => ({
  outcome,
  status,
  error: `answered ${status}`,
  responseBody: Buffer.from('no'),
  startedAt: now - 5,
  endedAt: now,
})

/** The engine with a sender that answers as told and writers that write down what they are given. */
function engine(
  result: AttemptReport,
  refuse: (record: OutgoingRecord) => boolean = () => false,
  changed: {
    presentOf?: (each: Subscription) => Subscription | null
    write?: Writers['write']
    held?: HeldTopic
    lateSuccessOf?: LateSuccesses['lateSuccessOf']
  } = {},
) {
  const written: OutgoingRecord[] = []
  const attempts: number[] = []
  const reports: DeliveryReport[] = []
  const late: LateSuccess[] = []
  const writers: Writers = {
    async write(forms, owner) {
      if (owner.lost) return { kind: 'abandoned' }
      const form = forms.findIndex((each) => !refuse(each))
      const taken = forms[form]
      if (taken === undefined) return { kind: 'too-large' }
      written.push(taken)
      return { kind: 'written', form }
    },
    close: async () => {},
    ...(changed.write === undefined ? {} : { write: changed.write }),
  }
  const carryOut = createCarryOut({
    keepInPlace: async () => true,
    heldTopics: { find: async () => changed.held ?? { kind: 'there', topic: 'barnabas.held.orders', partitions: 4 } },
    writers,
    tiers,
    tierTopic: (tier) => `retry.${tier.name}`,
    tierPartitions: 8,
    timeScale: 1,
    now: () => now,
  })
  const deliverer = createDeliverer({
    sender: {
      async attempt(_events, { attemptNumber }) {
        attempts.push(attemptNumber)
        return result
      },
    },
    writers,
    carryOut,
    now: () => now,
    random: () => 0,
    defaultDeadLetterTopic: 'default-letters',
    presentOf: changed.presentOf ?? ((each) => each),
    onAttempt: () => {},
    report: (report) => void reports.push(report),
    lateSuccesses: {
      write: async (success) => void late.push(success),
      lateSuccessOf: changed.lateSuccessOf ?? (() => null),
    },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const state = newDeliveryState(subscription, { topic: 'orders', partition: 2, offset: 40 }, now - 100)
  const deliver = (changes: Partial<typeof state> = {}, to: Subscription = subscription, owner: Owner = ours) =>
    deliverer.deliver({
      subscription: to,
      event,
      parcel: { record, state: { ...state, ...changes } },
      dueAt: null,
      owner,
      signal: new AbortController().signal,
    })
  return { deliver, deliverer, written, attempts, reports, state, late }
}

test('a success is done without a write', async () => {
  const { deliver, written, attempts } = engine(answered(204, 'Delivered'))
  expect(await deliver()).toEqual({ kind: 'durable', wroteRecord: false, verdict: { kind: 'done' } })
  expect([written, attempts]).toEqual([[], [1]])
})

test('a failure is written to the tier of its delay, counted, with everything known', async () => {
  const { deliver, written } = engine(answered(503, 'Busy'))
  await deliver()
  const [retry] = written
  expect(retry).toMatchObject({ topic: 'retry.1s', key: record.key, value: record.value })
  expect(text(retry?.headers['barnabas-attempts'])).toBe('1')
  expect(text(retry?.headers['barnabas-hops'])).toBe('1')
  expect(text(retry?.headers['barnabas-due-time'])).toBe('2026-03-01T12:00:01.000Z')
  expect(text(retry?.headers['ce_id'])).toBe('1')
})

test('the last attempt dead-letters into the subscription’s topic, with the answer’s body and no secret', async () => {
  const { deliver, written, attempts } = engine(answered(503, 'Busy'))
  await deliver({ attempts: 2, firstAttemptTime: now - 60_000 })
  expect(attempts).toEqual([3])
  const [letter] = written
  expect(letter?.topic).toBe('letters')
  expect(text(letter?.headers['barnabas-dead-letter-reason'])).toBe('MaxDeliveryAttemptsExceeded')
  expect(text(letter?.headers['barnabas-attempts'])).toBe('3')
  expect(text(letter?.headers['barnabas-response-body'])).toBe('no')
  expect(text(letter?.headers['barnabas-destination'])).toBe('https://example.com/hook')
})

test('responseBody: false leaves the answer’s body out', async () => {
  const { deliver, written } = engine(answered(400, 'BadRequest'))
  await deliver({}, { ...subscription, deadLetter: { topic: 'letters', responseBody: false } })
  expect(written[0]?.headers['barnabas-response-body']).toBeUndefined()
})

test('A10: the time to live is looked at when the attempt falls due, and no request is made then', async () => {
  const { deliver, written, attempts } = engine(answered(204, 'Delivered'))
  await deliver({ attempts: 1, expiryTime: now })
  expect(attempts).toEqual([])
  expect(text(written[0]?.headers['barnabas-dead-letter-reason'])).toBe('TimeToLiveExceeded')
  expect(text(written[0]?.headers['barnabas-attempts'])).toBe('1')
})

test('without dead-lettering an exhausted event is dropped and reported', async () => {
  const { deliver, written, reports } = engine(answered(400, 'BadRequest'))
  expect(await deliver({}, { ...subscription, deadLetter: null })).toMatchObject({
    kind: 'durable',
    wroteRecord: false,
  })
  expect(written).toEqual([])
  expect(reports[0]?.verdict).toEqual({ kind: 'drop', reason: 'UndeliverableDueToHttpBadRequest' })
})

test('the verdict of a lost partition is not carried out, and not reported', async () => {
  const { deliver, written, reports } = engine(answered(503, 'Busy'))
  expect(await deliver({}, subscription, { lost: true, settled: undefined })).toEqual({ kind: 'abandoned' })
  expect([written, reports]).toEqual([[], []])
})

test('a retry record that no tier takes becomes a dead letter without its value', async () => {
  const { deliver, written } = engine(
    answered(503, 'Busy'),
    ({ topic, value }) => topic.startsWith('retry.') && value !== null,
  )
  expect(await deliver()).toMatchObject({ verdict: { kind: 'dead-letter', reason: 'RecordTooLarge' } })
  expect(written[0]).toMatchObject({ topic: 'letters', value: null })
  expect(text(written[0]?.headers['barnabas-dead-letter-reason'])).toBe('RecordTooLarge')
  expect(text(written[0]?.headers['barnabas-source-offset'])).toBe('40')
})

test('a dead letter that is too large becomes smaller step by step, and says so only when its value is gone', async () => {
  const isLarge = (each: OutgoingRecord) => each.headers['barnabas-response-body'] !== undefined
  const slim = engine(answered(400, 'BadRequest'), isLarge)
  await slim.deliver()
  expect(text(slim.written[0]?.headers['barnabas-dead-letter-reason'])).toBe('UndeliverableDueToHttpBadRequest')
  expect(slim.written[0]?.value).toEqual(record.value)

  const empty = engine(answered(400, 'BadRequest'), (each) => each.value !== null)
  await empty.deliver()
  expect(text(empty.written[0]?.headers['barnabas-dead-letter-reason'])).toBe('RecordTooLarge')
  expect(empty.written[0]).toMatchObject({ value: null, key: record.key })
})

test('damage goes to the default topic when the subscription has none of its own', async () => {
  const { deliverer, written, state } = engine(answered(204, 'Delivered'))
  const verdict = { kind: 'dead-letter', reason: 'EventMalformed' } as const
  const parcel = { record, state: { ...state, lastError: 'attribute id is missing' } }
  await deliverer.settle(verdict, parcel, { subscription: { ...subscription, deadLetter: null }, event: null }, ours)
  expect(written[0]?.topic).toBe('default-letters')
  expect(text(written[0]?.headers['barnabas-last-error'])).toBe('attribute id is missing')
  expect(text(written[0]?.headers['barnabas-attempts'])).toBe('0')
})

test('a lateness is reported for what had a due time', async () => {
  const { deliverer, reports, state } = engine(answered(204, 'Delivered'))
  const { signal } = new AbortController()
  const parcel = { record, state: { ...state, attempts: 1 } }
  await deliverer.deliver({ subscription, event, parcel, dueAt: now - 25, owner: ours, signal })
  expect(reports[0]?.latenessMs).toBe(20)
})

test('a dead letter that waits for its topic follows its subscription to another, and to the default one once it is gone', async () => {
  let present: Subscription | null = subscription
  const moved = { ...subscription, revision: 2, deadLetter: { topic: 'other-letters', responseBody: true } }
  const changes: (Subscription | null)[] = [moved, null]
  const tried: (string | undefined)[] = []
  const { deliver } = engine(answered(400, 'BadRequest'), () => false, {
    presentOf: () => present,
    // No topic takes it before the subscription was changed twice.
    async write([letter], owner) {
      tried.push(letter?.topic)
      const [next] = changes.splice(0, 1)
      if (next === undefined) return { kind: 'written', form: 0 }
      present = next
      return owner.lost ? { kind: 'abandoned' } : { kind: 'written', form: 0 }
    },
  })
  expect(await deliver()).toMatchObject({ kind: 'durable', wroteRecord: true })
  expect(tried).toEqual(['letters', 'other-letters', 'default-letters'])
})

test('damage is dropped where its dead letter would come back to the subscription, and a dead letter anywhere else', async () => {
  const settled = async (topics: readonly string[], deadLetter: Subscription['deadLetter']) => {
    const { deliverer, written, state } = engine(answered(204, 'Delivered'))
    const about = { subscription: { ...subscription, topics, deadLetter }, event: null }
    const parcel = { record, state }
    const verdict = { kind: 'dead-letter', reason: 'EventMalformed' } as const
    await deliverer.settle(verdict, parcel, about, ours)
    const letter = { ...record, state, damaged: {}, reason: 'DeliveryMetadataMalformed', time: now } as const
    await deliverer.settleDamaged(letter, about.subscription, ours)
    return written.map(({ topic }) => topic)
  }
  expect(await settled(['orders', 'default-letters'], null)).toEqual([])
  expect(await settled(['orders'], null)).toEqual(['default-letters', 'default-letters'])
  expect(await settled(['default-letters'], { topic: 'letters', responseBody: true })).toEqual(['letters', 'letters'])
})

test('what is dropped for damage is reported as dropped, and so counted', async () => {
  const { deliverer, reports, state } = engine(answered(204, 'Delivered'))
  const looping = { ...subscription, topics: ['default-letters'], deadLetter: null }
  const about = { subscription: looping, event: null }
  const verdict = { kind: 'dead-letter', reason: 'EventMalformed' } as const
  await deliverer.settle(verdict, { record, state }, about, ours)
  expect(reports.map(({ verdict: carried }) => carried)).toEqual([{ kind: 'drop', reason: 'EventMalformed' }])
})

test.each([
  ['a retry record', 503, 'Busy'],
  ['a dead letter', 400, 'BadRequest'],
] as const)(
  'promise 4: with %s nothing is durable, finished or reported before it is acknowledged',
  async (_name, status, outcome) => {
    const acknowledged = Promise.withResolvers<{ kind: 'written'; form: number }>()
    const asked = Promise.withResolvers<void>()
    const { deliver, reports } = engine(answered(status, outcome), undefined, {
      write() {
        asked.resolve()
        return acknowledged.promise
      },
    })
    let carried: unknown = 'nothing yet'
    const delivered = Promise.resolve(deliver()).then((result) => (carried = result))
    await asked.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect([carried, reports]).toEqual(['nothing yet', []])
    acknowledged.resolve({ kind: 'written', form: 0 })
    await delivered
    expect(carried).toMatchObject({ kind: 'durable', wroteRecord: true })
  },
)

const heldVerdict = { kind: 'hold', because: 'window-full', dueAt: now - 40 } as const
const unattempted = { subscription, event: null }

test('what is held goes to the topic of its subscription with one write, uncounted and as due as it was', async () => {
  const { deliverer, written, state, attempts } = engine(answered(204, 'Delivered'))
  const parcel = { record, state: { ...state, attempts: 2, hops: 3, expiryTime: now + 5_000 } }
  expect(await deliverer.settle(heldVerdict, parcel, unattempted, ours)).toEqual({
    kind: 'durable',
    wroteRecord: true,
    verdict: heldVerdict,
  })
  expect([written.length, attempts]).toEqual([1, []])
  expect(written[0]).toMatchObject({ topic: 'barnabas.held.orders', key: record.key, value: record.value })
  expect(written[0]?.partition).toBeLessThan(4)
  expect(text(written[0]?.headers['barnabas-attempts'])).toBe('2')
  expect(text(written[0]?.headers['barnabas-hops'])).toBe('4')
  expect(text(written[0]?.headers['barnabas-due-time'])).toBe('2026-03-01T11:59:59.960Z')
  expect(text(written[0]?.headers['barnabas-expiry-time'])).toBe('2026-03-01T12:00:05.000Z')
})

test.each([
  ['window-full', '2026-03-01T12:00:05.000Z'],
  ['stopped', '2026-03-01T12:00:35.000Z'],
] as const)('where its topic may not be made it is parked for 30 s: %s', async (because, expiry) => {
  const { deliverer, written, state } = engine(answered(204, 'Delivered'), undefined, { held: { kind: 'refused' } })
  const parcel = { record, state: { ...state, attempts: 2, expiryTime: now + 5_000 } }
  const carried = await deliverer.settle({ ...heldVerdict, because }, parcel, unattempted, ours)
  expect(carried).toMatchObject({ kind: 'durable', verdict: { kind: 'park', dueAt: now + 30_000 } })
  expect(written.map(({ topic }) => topic)).toEqual(['retry.30s'])
  expect(text(written[0]?.headers['barnabas-attempts'])).toBe('2')
  expect(text(written[0]?.headers['barnabas-expiry-time'])).toBe(expiry)
})

test('what is larger than its held topic takes is a dead letter RecordTooLarge that says where it is', async () => {
  const { deliverer, written, state } = engine(answered(204, 'Delivered'), ({ topic }) => topic.includes('held'))
  await deliverer.settle(heldVerdict, { record, state }, unattempted, ours)
  expect(written.map(({ topic, value }) => [topic, value])).toEqual([['letters', null]])
  expect(text(written[0]?.headers['barnabas-dead-letter-reason'])).toBe('RecordTooLarge')
})

test('a held record that cannot be written holds its offset: nothing is done until it is, or its partition is lost', async () => {
  let isThere = false
  const partition = { lost: false, settled: undefined }
  const write: Writers['write'] = async (_forms, owner) => {
    while (!isThere && !owner.lost) await new Promise((resolve) => setImmediate(resolve))
    return owner.lost ? { kind: 'abandoned' } : { kind: 'written', form: 0 }
  }
  const { deliverer, reports, state } = engine(answered(204, 'Delivered'), undefined, { write })
  const done: string[] = []
  const settle = () => deliverer.settle(heldVerdict, { record, state }, unattempted, partition)
  const first = settle().then(({ kind }) => done.push(kind))
  await new Promise((resolve) => setImmediate(resolve))
  expect([done, reports]).toEqual([[], []])
  isThere = true
  await first
  isThere = false
  const second = settle().then(({ kind }) => done.push(kind))
  partition.lost = true
  await second
  expect([done, reports.map(({ verdict }) => verdict.kind)]).toEqual([['durable', 'abandoned'], ['hold']])
})

describe('A7: answers after the deadline', () => {
  const timedOut = (lateAnswer: Promise<AttemptResult | null>): AttemptReport => ({
    ...answered(503, 'TimedOut'),
    status: null,
    lateAnswer,
  })

  test('a success is told to those who come to the queued retry, with the number of its attempt', async () => {
    const answer = Promise.withResolvers<AttemptResult | null>()
    const { deliver, written, late, state } = engine(timedOut(answer.promise))
    await deliver({ attempts: 1, firstAttemptTime: now })
    expect([written.length, late]).toEqual([1, []])
    answer.resolve({ ...answered(204, 'Delivered'), endedAt: now + 40_000 })
    await vi.waitFor(() => expect(late).toHaveLength(1))
    const { subscriptionId, generation, source } = state
    expect(late).toEqual([
      { subscriptionId, generation, source, redrives: 0, attempt: 2, status: 204, at: now + 40_000 },
    ])
  })

  test.each([null, answered(503, 'Busy'), answered(400, 'BadRequest')])('%j says nothing', async (answer) => {
    const { deliver, written, late } = engine(timedOut(Promise.resolve(answer)))
    await deliver()
    await new Promise((resolve) => setImmediate(resolve))
    expect([written.length, late]).toEqual([1, []])
  })

  test('an event that has come to its end waits for none', async () => {
    const { deliver, written, late } = engine(timedOut(Promise.resolve(answered(200, 'Delivered'))))
    await deliver({ attempts: 2, firstAttemptTime: now })
    await new Promise((resolve) => setImmediate(resolve))
    expect(text(written[0]?.headers['barnabas-dead-letter-reason'])).toBe('MaxDeliveryAttemptsExceeded')
    expect(late).toEqual([])
  })

  test('a retry whose event was taken is not made, though its time to live is over, and is reported as done once', async () => {
    const success = { redrives: 0 } as LateSuccess
    const { deliver, written, attempts, reports } = engine(answered(200, 'Delivered'), undefined, {
      lateSuccessOf: ({ attempts: made }) => (made === 2 ? success : null),
    })
    expect(await deliver({ attempts: 2, expiryTime: now - 1 })).toEqual({
      kind: 'durable',
      wroteRecord: false,
      verdict: { kind: 'done' },
    })
    expect([written, attempts]).toEqual([[], []])
    expect(reports).toMatchObject([{ result: null, verdict: { kind: 'done' }, state: { attempts: 2 } }])
  })

  test('a first attempt is always made', async () => {
    const { deliver, attempts } = engine(answered(200, 'Delivered'), undefined, {
      lateSuccessOf: () => ({ redrives: 0 }) as LateSuccess,
    })
    await deliver()
    expect(attempts).toEqual([1])
  })
})

const cannot: AttemptReport = { ...answered(0, 'GenericError'), status: null, error: 'no secret', isNoRequest: true }

test("A3: in Event Grid's notation what no request can be built for is a dead letter at once, and no attempt of it", async () => {
  const { deliver, written, reports } = engine(cannot)
  const cloud: Subscription = { ...subscription, notation: 'event-grid' }
  await deliver({}, cloud)
  await deliver({ attempts: 2, lastOutcome: 'Busy', lastStatus: 503 }, cloud)
  const names = ['attempts', 'last-outcome', 'last-status', 'last-error', 'last-attempt-time', 'dead-letter-reason']
  const told = written.map(({ topic, headers: all }) => [topic, ...names.map((name) => text(all[`barnabas-${name}`]))])
  expect(told).toEqual([
    ['letters', '0', undefined, undefined, 'no secret', undefined, 'DestinationInvalid'],
    ['letters', '2', 'Busy', '503', 'no secret', undefined, 'DestinationInvalid'],
  ])
  expect(reports.map(({ result }) => result)).toEqual([null, null])
  expect(await deliver({}, { ...cloud, deadLetter: null })).toMatchObject({ verdict: { kind: 'drop' } })
})

test.each(['barnabas', 'event-grid-kubernetes'] as const)(
  'B3: in the notation %s nothing is done for it',
  async (notation) => {
    const { deliver, written, reports } = engine(cannot)
    expect(await deliver({}, { ...subscription, notation })).toEqual({ kind: 'no-request', message: 'no secret' })
    expect([written, reports]).toEqual([[], []])
  },
)

describe('A12, A17: attempts that were skipped', () => {
  const policyOf = (schedule: 'event-grid' | 'event-grid-kubernetes' | 'backoff') => ({
    ...subscription,
    retry: retryPolicyOf({ schedule, maxAttempts: 3 }, 1),
  })
  const told = (letter: OutgoingRecord | undefined) =>
    ['attempts', 'skips', 'dead-letter-reason'].map((name) => text(letter?.headers[`barnabas-${name}`]))

  test.each(['event-grid', 'event-grid-kubernetes'] as const)(
    'count against the maximum of %s: before an attempt, after it, and in its steps',
    async (schedule) => {
      const { deliver, written, attempts } = engine(answered(500, 'GenericError'))
      await deliver({ attempts: 1, skips: 2 }, policyOf(schedule))
      expect(attempts).toEqual([])
      expect(told(written[0])).toEqual(['1', '2', 'MaxDeliveryAttemptsExceeded'])

      await deliver({ attempts: 1, skips: 1 }, policyOf(schedule))
      // The number of the request, and of those that were made, know nothing of the one that was not.
      expect(attempts).toEqual([2])
      expect(told(written[1])).toEqual(['2', '1', 'MaxDeliveryAttemptsExceeded'])

      await deliver({ attempts: 0, skips: 1 }, policyOf(schedule))
      expect(told(written[2])).toEqual(['1', '1', undefined])
      expect(written[2]?.topic).toBe(schedule === 'event-grid' ? 'retry.30s' : 'retry.10m')
    },
  )

  test('count for nothing elsewhere', async () => {
    const { deliver, written, attempts } = engine(answered(500, 'GenericError'))
    await deliver({ attempts: 1, skips: 20 }, policyOf('backoff'))
    expect(attempts).toEqual([2])
    expect(told(written[0])).toEqual(['2', '20', undefined])
  })
})
