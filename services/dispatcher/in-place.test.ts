import { newDeliveryState, progressKey, retryPolicyOf } from '@barnabas/core'
import type { InPlaceEvent, KafkaRecord, Subscription, Verdict } from '@barnabas/core'
import type { CarriedOut, HoldablePartition, NoRequest } from '@barnabas/delivery'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createInPlace } from './in-place.ts'

const prohibited = {
  id: 'orders',
  generation: 7,
  revision: 1,
  topics: ['orders'],
  retry: retryPolicyOf({ schedule: 'backoff' }, 1),
  faultTolerance: 'prohibited',
  deadLetter: null,
} as unknown as Subscription

const record: KafkaRecord = {
  topic: 'orders',
  partition: 0,
  offset: 4,
  timestamp: 50,
  key: null,
  value: Buffer.from('x'),
  headers: {},
}
const stateAt = (offset: number) => newDeliveryState(prohibited, { topic: 'orders', partition: 0, offset }, 50)
const waiting = (dueAt: number, attempts = 1, offset = 4): InPlaceEvent => ({
  state: { ...stateAt(offset), attempts },
  eventId: 'A1',
  standing: { kind: 'waiting', dueAt },
  at: 0,
})
const blocked = (since = 1, offset = 4): InPlaceEvent => ({
  ...waiting(0, 4, offset),
  standing: { kind: 'blocked', reason: 'MaxDeliveryAttemptsExceeded', since },
})

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** One partition, whose records can be read as long as they are there. */
function running() {
  const steps: string[] = []
  const known: InPlaceEvent[] = []
  let subscription = prohibited
  let mayAttempt = true
  let isThere = true
  let resolution: 'start' | 'skip' | null = null
  let conclude: ((carried: CarriedOut | NoRequest) => void) | null = null
  let drop = () => {}
  const partition = {
    topic: 'orders',
    partition: 0,
    lost: false,
    start: 2,
    hold: () => void steps.push('held'),
    release: () => void steps.push('released'),
    finishAt: (offset: number) => void steps.push(`${offset} finished`),
    handBack: (offset: number) => void steps.push(`${offset} handed back`),
    wasDone: (offset: number) => offset === 3,
    committedAll: async () => {
      steps.push('committed')
      return true
    },
  } as unknown as HoldablePartition
  const inPlace = createInPlace({
    subscription: () => subscription,
    status: () => null,
    events: {
      inPlaceOf: () => known,
      async keepInPlace({ state, standing }) {
        steps.push(`written ${standing.kind} ${state.attempts} redrives ${state.redrives}`)
        return true
      },
      removeInPlace: (at) => void steps.push(`removed ${progressKey(at)}`),
    },
    mayAttempt: () => mayAttempt,
    resolutionOf: () => resolution,
    attempt({ event }, concluded, onDropped) {
      steps.push(`attempt after ${event.state.attempts}`)
      conclude = concluded
      drop = onDropped
    },
    async settle(verdict: Verdict, due) {
      const reason = 'reason' in verdict ? verdict.reason : ''
      steps.push(`${verdict.kind} ${reason} ${due.record.value === null ? 'without its value' : ''}`.trim())
      return { kind: 'durable', wroteRecord: true, verdict }
    },
    readRecord: async () => (isThere ? record : null),
    onOver: (_partition, lane) => void steps.push(`lane ${lane} is over`),
    copyOf: (kept) => kept,
    bytesOf: () => 1_000_000,
    now: () => Date.now(),
    logger: { warn: () => {} },
  })
  return {
    steps,
    known,
    inPlace,
    partition,
    kept: (event: InPlaceEvent): CarriedOut => ({ kind: 'in-place', verdict: { kind: 'done' }, event }),
    conclude: (carried: CarriedOut | NoRequest) => conclude?.(carried),
    drop: () => drop(),
    say: (word: 'start' | 'skip') => void (resolution = word),
    change: (next: object) => void (subscription = { ...subscription, ...next }),
    stopAttempts: (may: boolean) => void (mayAttempt = may),
    remove: () => void (isThere = false),
  }
}

const done: CarriedOut = { kind: 'durable', wroteRecord: false, verdict: { kind: 'done' } }

test('B5: what failed holds its partition until it is delivered, and is attempted when it is due', async () => {
  const run = running()
  run.inPlace.hold(run.partition)
  expect(run.inPlace.holds(run.partition)).toBe(true)
  run.inPlace.keep(run.partition, record, waiting(4_000), null)
  await vi.advanceTimersByTimeAsync(3_999)
  expect(run.steps).toEqual(['held'])
  await vi.advanceTimersByTimeAsync(1)
  expect(run.steps.splice(0)).toEqual(['held', 'attempt after 1'])
  run.conclude(run.kept(waiting(6_000, 2)))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(run.steps.splice(0)).toEqual(['attempt after 2'])
  run.conclude(done)
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).toEqual(['4 finished', 'committed', 'released', 'removed orders/7/orders/0/4'])
  expect(run.inPlace.holds(run.partition)).toBe(false)
})

test('a partition goes on only when nothing of it is left, and nothing is about to stay', async () => {
  const run = running()
  run.inPlace.hold(run.partition)
  run.inPlace.hold(run.partition)
  run.inPlace.keep(run.partition, record, waiting(0), null)
  await vi.advanceTimersByTimeAsync(0)
  run.conclude(done)
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).not.toContain('released')
  run.inPlace.keep(run.partition, { ...record, offset: 5 }, waiting(0, 1, 5), null)
  await vi.advanceTimersByTimeAsync(0)
  run.conclude(done)
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).toContain('released')
})

test('B5: what an earlier owner has left goes on: the rest of a wait, a block; what was done meanwhile is removed', async () => {
  const run = running()
  run.known.push(blocked(1, 1), waiting(0, 1, 3), waiting(9_000, 2, 4))
  run.inPlace.gained(run.partition)
  expect(run.steps.splice(0)).toEqual(['removed orders/7/orders/0/1', 'removed orders/7/orders/0/3', 'held'])
  await vi.advanceTimersByTimeAsync(8_999)
  expect(run.steps).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(run.steps).toEqual(['attempt after 2'])
})

test('B5: skip is a dead letter, then a commit, then the end of the block; the record may be gone', async () => {
  for (const isThere of [true, false]) {
    const run = running()
    if (!isThere) run.remove()
    run.known.push(blocked())
    run.inPlace.gained(run.partition)
    await vi.advanceTimersByTimeAsync(10_000_000)
    expect(run.steps.splice(0)).toEqual(['held'])
    run.say('skip')
    run.inPlace.look()
    run.inPlace.look()
    await vi.advanceTimersByTimeAsync(0)
    expect(run.steps).toEqual(
      isThere
        ? ['dead-letter SkippedByOperator', '4 finished', 'committed', 'released', 'removed orders/7/orders/0/4']
        : [
            'dead-letter SkippedByOperator without its value',
            '4 handed back',
            'removed orders/7/orders/0/4',
            'released',
          ],
    )
  }
})

test('B5: start begins at no attempts, counts a redrive, and is written before it is attempted', async () => {
  const run = running()
  run.known.push(blocked())
  run.inPlace.gained(run.partition)
  run.say('start')
  run.inPlace.look()
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).toEqual(['held', 'written waiting 0 redrives 1', 'attempt after 0'])
})

test('B4: a change to allowed goes on without what it was blocked at', async () => {
  const run = running()
  run.known.push(blocked())
  run.inPlace.gained(run.partition)
  run.change({ faultTolerance: undefined, deadLetter: { topic: 'dead', responseBody: true } })
  run.inPlace.look()
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).toContain('dead-letter MaxDeliveryAttemptsExceeded')
  expect(run.steps).toContain('released')
})

test('what is due while nothing may be attempted waits, and so does what was dropped from the window', async () => {
  const run = running()
  run.stopAttempts(false)
  run.inPlace.keep(run.partition, record, waiting(1_000), null)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(run.steps).toEqual(['held'])
  run.stopAttempts(true)
  run.inPlace.look()
  await vi.advanceTimersByTimeAsync(0)
  run.drop()
  run.inPlace.look()
  await vi.advanceTimersByTimeAsync(0)
  expect(run.steps).toEqual(['held', 'attempt after 1', 'attempt after 1'])
})

test('what retention has removed while it waited is handed back to reading, which counts it, and its partition goes on', async () => {
  const run = running()
  run.remove()
  run.inPlace.keep(run.partition, record, waiting(1_000), null)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(run.steps).toEqual(['held', '4 handed back', 'removed orders/7/orders/0/4', 'released'])
})

test('a lost partition is another owner’s: nothing more is done', async () => {
  const run = running()
  run.inPlace.keep(run.partition, record, waiting(1_000), null)
  run.inPlace.lost(run.partition)
  await vi.advanceTimersByTimeAsync(60_000)
  run.inPlace.close()
  expect(run.steps).toEqual(['held'])
})
