import { healthKey, healthValue, names, presenceKey } from '@barnabas/core'
import type { HealthRecord, KafkaRecord } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openHealthStore } from './health-store.ts'
import type { HealthChange } from './health-log.ts'
import type { HealthStoreOptions } from './health-store.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-03-01T12:00:00.000Z') }))
afterEach(() => void vi.useRealTimers())

const minuteMs = 60_000
const about = { generation: 1, endpoint: 'e', failing: null, lastSuccess: null, ended: null, probation: null }
const saidBy = (process: string, subscription: string): HealthRecord => ({
  ...about,
  parkedIn: 1,
  parkedOut: 0,
  takenOver: [],
  subscription,
  process,
})

/** A store on a topic in memory, in which processes that are gone have left something; and what it removes there. */
async function storeOf(
  existing: Set<string>,
  caughtUp: () => Promise<void> = async () => {},
  recordOf: HealthStoreOptions['recordOf'] = () => null,
) {
  const topic: Pick<KafkaRecord, 'key' | 'value' | 'offset'>[] = []
  const removed: string[] = []
  let onRecord: ((record: KafkaRecord) => void) | undefined
  const write = (key: Buffer, value: Buffer | null): number => {
    if (value === null) removed.push(key.toString())
    topic.push({ key, value, offset: topic.length })
    return topic.length - 1
  }
  const fake = {
    logReader(options: { onRecord: (record: KafkaRecord) => void }) {
      onRecord = options.onRecord
      return { start: async () => topic.forEach((record) => onRecord?.(record as KafkaRecord)), stop: async () => {} }
    },
    producer: () => ({
      produce: async ({ key, value }: { key: Buffer; value: Buffer | null }) => ({
        kind: 'acknowledged',
        offset: write(key, value),
      }),
      close: async () => {},
    }),
  }
  write(presenceKey('dead'), Buffer.from('{}'))
  for (const subscription of ['orders', 'deleted', 'deleted-later']) {
    write(healthKey(subscription, 'dead'), healthValue(saidBy('dead', subscription)))
  }
  const store = openHealthStore({
    kafka: fake as unknown as HealthStoreOptions['kafka'],
    names: names('barnabas'),
    process: 'me',
    recordOf,
    subscriptions: { caughtUp, get: (id) => (existing.has(id) ? {} : undefined) },
    timeScale: 1,
    now: Date.now,
    logger: { info() {}, warn() {} },
  })
  await store.start()
  return { store, removed, topic }
}

test('what is left of a process that is gone and of subscriptions that were deleted is removed, once it is surely gone', async () => {
  const existing = new Set(['orders', 'deleted-later'])
  const { store, removed } = await storeOf(existing)
  await vi.advanceTimersByTimeAsync(1.9 * minuteMs)
  expect(removed).toEqual([])
  await vi.advanceTimersByTimeAsync(2.2 * minuteMs)
  expect(removed).toEqual(['deleted/dead'])
  existing.delete('deleted-later')
  await vi.advanceTimersByTimeAsync(2 * minuteMs)
  expect(removed).toEqual(['deleted/dead', 'deleted-later/dead'])

  // The leader of the other has taken its counts over: nothing else of it is there.
  await store.remove('orders', 'dead')
  await vi.advanceTimersByTimeAsync(2 * minuteMs)
  expect(removed.slice(2)).toEqual(['orders/dead', '/dead'])
  await vi.advanceTimersByTimeAsync(10 * minuteMs)
  expect(removed).toHaveLength(4)
  await store.stop()
})

test('nothing is removed before it is known which subscriptions there are', async () => {
  const known = Promise.withResolvers<void>()
  const { store, removed } = await storeOf(new Set(['orders']), () => known.promise)
  await vi.advanceTimersByTimeAsync(5 * minuteMs)
  expect(removed).toEqual([])
  known.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(removed).toContain('deleted/dead')
  await store.stop()
})

test('one write a second for each subscription, but what is to be known at once waits for no other', async () => {
  let parkedIn = 0
  const recordOf = (subscription: string) => ({ ...saidBy('me', subscription), parkedIn: (parkedIn += 1) })
  const { store, topic } = await storeOf(new Set(['orders']), async () => {}, recordOf)
  const heard: HealthChange[] = []
  store.onChange((change) => void heard.push(change))
  const written = () => topic.filter(({ key }) => key?.equals(healthKey('orders', 'me'))).length
  store.changed('orders', 1_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(written()).toBe(1)
  store.changed('orders', 100)
  await vi.advanceTimersByTimeAsync(500)
  expect(written()).toBe(1)
  store.changed('orders', 0)
  await vi.advanceTimersByTimeAsync(0)
  expect(written()).toBe(2)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(written()).toBe(2)
  const stands = { subscription: 'orders', process: 'me', isThere: true }
  expect(heard).toEqual([stands, stands])
  await store.stop()
})
