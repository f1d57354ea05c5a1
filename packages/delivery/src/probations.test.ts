import { newDeliveryState, parseSubscription } from '@barnabas/core'
import type { AttemptResult, HealthRecord, Outcome, Subscription } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createProbations } from './probations.ts'
import type { Probations } from './probations.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const second = 1_000

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

function subscriptionOf(fields: Record<string, unknown> = {}): Subscription {
  const parsed = parseSubscription({ id: 'orders', topics: ['orders'], sink: 'https://example.com/', ...fields })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems[0]?.message)
  return { ...parsed.subscription, generation: 7, revision: 1 }
}

/** Processes that hear each other when they are told to. */
function cluster(first = subscriptionOf()) {
  let subscription: Subscription | null = first
  const topic = new Map<string, HealthRecord>()
  const processes = new Map<string, Probations>()
  const asked: string[] = []
  const gone = new Set<string>()

  function write(process: string): void {
    const record = processes.get(process)?.recordOf('orders')
    if (record == null) return
    topic.set(process, record)
    for (const probations of processes.values()) probations.heard({ subscription: 'orders', process, isThere: true })
  }

  function remove(process: string): void {
    topic.delete(process)
    for (const probations of processes.values()) probations.heard({ subscription: 'orders', process, isThere: false })
  }

  function join(process: string): Probations {
    const probations = createProbations({
      process,
      now: Date.now,
      subscriptionOf: () => subscription,
      health: {
        of: () => [...topic.values()],
        subscriptions: () => ['orders'],
        changed: (_id, withinMs) => void asked.push(`${process} within ${withinMs}`),
        flush: async () => {
          write(process)
          return true
        },
        remove: async (_id, of) => remove(of),
        isGone: (each) => gone.has(each),
      },
    })
    processes.set(process, probations)
    return probations
  }

  return {
    join,
    write,
    remove,
    asked,
    gone,
    topic,
    replace: (next: Subscription | null) => {
      subscription = next
      for (const probations of processes.values()) probations.changed('orders')
    },
    get subscription() {
      return subscription!
    },
  }
}

let offset = 0
function attempt(probations: Probations, subscription: Subscription, outcome: Outcome): void {
  const result: AttemptResult = {
    outcome,
    status: null,
    error: null,
    responseBody: null,
    startedAt: Date.now(),
    endedAt: Date.now(),
  }
  probations.observe(subscription, { topic: 'orders', partition: 0, offset: offset++ }, result)
}

function failTen(probations: Probations, subscription: Subscription, outcome: Outcome = 'Busy'): void {
  for (let index = 0; index < 10; index += 1) {
    vi.advanceTimersByTime(1)
    attempt(probations, subscription, outcome)
  }
}

test('A12: ten failures begin it, it is told at once, and its end wakes those that wait', () => {
  const { join, asked, subscription } = cluster()
  const probations = join('one')
  const told: string[] = []
  probations.attach('orders', {
    window: {
      inFlight: 0,
      limitChanged: () => void told.push(`window: ${probations.limitOf(subscription, { inFlight: 0 })}`),
    },
    onChange: () => void told.push('changed'),
  })
  failTen(probations, subscription)
  expect(probations.restOf(subscription)).toMatchObject({ cause: 'Busy', until: Date.now() + 10 * second })
  expect(asked.at(-1)).toBe('one within 0')
  expect(told).toEqual(['changed', 'window: 0'])
  vi.advanceTimersByTime(10 * second)
  expect(told.slice(2)).toEqual(['changed', 'window: 1'])
  expect(probations.restOf(subscription)).toBeNull()
})

test('A12: it is told only once it stands in the topic, so that whoever comes after a `kill -9` knows what was told', () => {
  const { join, write, subscription } = cluster()
  const probations = join('one')
  let told: (number | undefined)[] = []
  probations.attach('orders', { onChange: () => void told.push(probations.probationOf('orders')?.until) })
  failTen(probations, subscription)
  expect(probations.limitOf(subscription, { inFlight: 0 })).toBe(0)
  expect(told).toEqual([undefined])
  write('one')
  const first = probations.restOf(subscription)!.until
  expect(told).toEqual([undefined, first])

  vi.advanceTimersByTime(10 * second)
  told = []
  attempt(probations, subscription, 'Busy')
  write('one')
  expect(told).toEqual([first, first + 60 * second])
  attempt(probations, subscription, 'Delivered')
  expect(probations.probationOf('orders')).toBeNull()
})

test('at its end one trial, then twice as many with every success, shared by the windows of the process', () => {
  const { join, subscription } = cluster(subscriptionOf({ concurrency: 8 }))
  const probations = join('one')
  const windows = [
    { inFlight: 0, limitChanged() {} },
    { inFlight: 0, limitChanged() {} },
  ] satisfies [object, object]
  for (const window of windows) probations.attach('orders', { window })
  const limit = () => probations.limitOf(subscription, windows[0])
  failTen(probations, subscription)
  vi.advanceTimersByTime(10 * second)
  expect(limit()).toBe(1)
  windows[1].inFlight = 1
  expect(limit()).toBe(0)
  windows[1].inFlight = 0
  const limits = [1, 2, 3, 4].map(() => {
    attempt(probations, subscription, 'Delivered')
    return limit()
  })
  expect(limits).toEqual([2, 4, 8, 8])
  expect(probations.probationOf('orders')).toBeNull()
})

test('A12: a trial that fails lengthens it', () => {
  const { join, subscription } = cluster()
  const probations = join('one')
  failTen(probations, subscription)
  vi.advanceTimersByTime(10 * second)
  attempt(probations, subscription, 'Busy')
  expect(probations.restOf(subscription)).toMatchObject({ lengthMs: 60 * second, until: Date.now() + 60 * second })
  expect(probations.limitOf(subscription, { inFlight: 0 })).toBe(0)
})

test('another process begins it and another one ends it, for all', () => {
  const { join, write, asked, subscription } = cluster()
  const [one, other, third] = [join('one'), join('other'), join('third')]
  failTen(one, subscription)
  write('one')
  expect(other.restOf(subscription)).toEqual(one.restOf(subscription))
  vi.advanceTimersByTime(10 * second)
  expect(third.limitOf(subscription, { inFlight: 0 })).toBe(1)
  attempt(other, subscription, 'Delivered')
  expect(asked.at(-1)).toBe('other within 0')
  write('other')
  expect([one, other, third].map((each) => each.probationOf('orders'))).toEqual([null, null, null])
  // Each begins with its own trial all the same.
  expect(third.limitOf(subscription, { inFlight: 0 })).toBe(1)
  expect(other.limitOf(subscription, { inFlight: 0 })).toBe(2)
})

test('successes are told only to those who say that something failed', () => {
  const { join, write, asked, subscription } = cluster()
  const [one, other] = [join('one'), join('other')]
  attempt(one, subscription, 'Delivered')
  expect(asked).toEqual([])
  vi.advanceTimersByTime(1)
  attempt(other, subscription, 'Busy')
  write('other')
  attempt(one, subscription, 'Delivered')
  attempt(one, subscription, 'Delivered')
  expect(asked).toEqual(['other within 1000', 'one within 1000'])
})

test('ended by hand, it is over everywhere, and every process begins with one trial', () => {
  const { join, write, subscription } = cluster()
  const [one, other] = [join('one'), join('other')]
  failTen(one, subscription, 'NotFound')
  write('one')
  other.end(subscription, Date.now())
  write('other')
  expect(one.probationOf('orders')).toBeNull()
  expect(one.restOf(subscription)).toBeNull()
  expect(one.limitOf(subscription, { inFlight: 0 })).toBe(1)
  other.end(subscription, Date.now())
  expect(one.probationOf('orders')).toBeNull()
})

test('`probation: none` and another sink end it; a new life knows nothing of it', () => {
  for (const next of [
    subscriptionOf({ probation: 'none' }),
    subscriptionOf({ sink: 'https://example.com/other' }),
    { ...subscriptionOf(), generation: 8 },
  ]) {
    const { join, write, replace, subscription } = cluster()
    const [one, other] = [join('one'), join('other')]
    failTen(one, subscription)
    write('one')
    replace(next)
    expect([one, other].map((each) => each.restOf(next))).toEqual([null, null])
    expect(other.limitOf(next, { inFlight: 0 })).toBe(64)
    // What was under way says nothing any more.
    failTen(one, subscription)
    expect(one.restOf(next)).toBeNull()
  }
})

test('whoever comes later says at once what the others know', () => {
  const { join, write, subscription } = cluster()
  const one = join('one')
  failTen(one, subscription)
  const fresh = newDeliveryState(subscription, { topic: 'orders', partition: 0, offset: 1 }, start)
  one.count({ ...fresh, attempts: 1 }, { kind: 'retry', dueAt: 1 })
  write('one')
  expect(join('two').parkedOf('orders')).toBe(1)
  expect(join('three').probationOf('orders')).toEqual(one.probationOf('orders'))
})

test('what is parked is counted over all processes, and taken over from one that is gone', async () => {
  const { join, write, gone, topic, remove, subscription } = cluster()
  const [one, other] = [join('one'), join('other')]
  const fresh = newDeliveryState(subscription, { topic: 'orders', partition: 0, offset: 1 }, start)
  const parked = { ...fresh, attempts: 1, hops: 1 }
  for (let count = 0; count < 5; count += 1) one.count({ ...fresh, attempts: 1 }, { kind: 'retry', dueAt: 1 })
  one.count({ ...fresh, attempts: 1 }, { kind: 'done' })
  write('one')
  other.count(parked, { kind: 'park', dueAt: 1 })
  other.count(parked, { kind: 'retry', dueAt: 1 })
  other.count(parked, { kind: 'done' })
  other.count(parked, { kind: 'dead-letter', reason: 'TimeToLiveExceeded' })
  write('other')
  expect([one.parkedOf('orders'), other.parkedOf('orders')]).toEqual([3, 3])

  failTen(one, subscription)
  write('one')
  gone.add('one')
  await other.takeOver('orders')
  expect([...topic.keys()]).toEqual(['other'])
  expect(other.parkedOf('orders')).toBe(3)
  expect(other.restOf(subscription)).not.toBeNull()
  write('other')
  expect(topic.get('other')?.takenOver).toEqual([])

  // It was not gone: what it counted stays taken over, and it goes on from nothing.
  one.count({ ...fresh, attempts: 1 }, { kind: 'retry', dueAt: 1 })
  write('one')
  expect([one.parkedOf('orders'), other.parkedOf('orders')]).toEqual([4, 4])
  remove('one')
  expect(topic.get('one')).toBeUndefined()
})

test('a process that was killed between taking over and removing leaves nothing that is counted twice', async () => {
  const { join, write, gone, topic, subscription } = cluster()
  const [one, other, third] = [join('one'), join('other'), join('third')]
  const fresh = newDeliveryState(subscription, { topic: 'orders', partition: 0, offset: 1 }, start)
  one.count({ ...fresh, attempts: 1 }, { kind: 'retry', dueAt: 1 })
  write('one')
  other.count({ ...fresh, attempts: 1 }, { kind: 'retry', dueAt: 1 })
  write('other')
  const own = topic.get('other')!
  topic.set('other', { ...own, parkedIn: own.parkedIn + 1, takenOver: ['one'] })
  gone.add('one').add('other')
  await third.takeOver('orders')
  expect(third.parkedOf('orders')).toBe(2)
  expect([...topic.keys()]).toEqual(['third'])
})

test('A21: how a subscription stands is seen in every process, and no more of one that is gone', () => {
  const { join, subscription, write, replace } = cluster()
  const [one, other] = [join('one'), join('other')]
  expect([...one.standings()]).toEqual([{ subscription: 'orders', isOnProbation: false, parked: 0 }])
  failTen(one, subscription)
  const waiting = {
    ...newDeliveryState(subscription, { topic: 'orders', partition: 0, offset: 1 }, start),
    attempts: 1,
  }
  one.count(waiting, { kind: 'retry', dueAt: start })
  write('one')
  const standing = { subscription: 'orders', isOnProbation: true, parked: 1 }
  expect([[...one.standings()], [...other.standings()]]).toEqual([[standing], [standing]])
  replace(null)
  expect([...one.standings()]).toEqual([])
})
