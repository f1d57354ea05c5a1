import { newDeliveryState, retryHeaders } from '@barnabas/core'
import type { KafkaRecord, OpenRecord } from '@barnabas/core'
import type { TrackedPartition } from '@barnabas/delivery'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTierLanes } from './tier-lanes.ts'
import type { WaitingRecord } from './tier-lanes.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const tier = { name: '10s', delayMs: 10_000 } as const

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

/** A partition that writes down what is asked of it. */
function recordingPartition() {
  const calls: string[] = []
  const taken: number[] = []
  const partition = {
    topic: 'barnabas.retry.10s',
    partition: 0,
    lost: false,
    settled: undefined,
    openCount: 0,
    take(offset: number): OpenRecord {
      taken.push(offset)
      return { offset, isDone: false }
    },
    finish: () => {},
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    seek: (offset: number) => void calls.push(`seek ${offset}`),
  }
  return { calls, taken, partition: partition satisfies TrackedPartition }
}

function retryRecord(offset: number, dueAt: number, appendedAt = start, value = Buffer.from('{}')): KafkaRecord {
  const state = newDeliveryState({ id: 'orders', generation: 1 }, { topic: 'orders', partition: 0, offset }, start)
  const headers = retryHeaders({}, { ...state, hops: 1 }, dueAt)
  return { topic: 'barnabas.retry.10s', partition: 0, offset, timestamp: appendedAt, key: null, value, headers }
}

function lanesThatKeep() {
  const left: { waiting: WaitingRecord; at: number }[] = []
  const heads: number[] = []
  const lanes = createTierLanes({
    tierOf: () => tier,
    timeScale: 1,
    now: () => Date.now(),
    onHead: ({ source }, dueAt) => void heads.push(source.offset, dueAt - start),
    onLeave: (waiting) => void left.push({ waiting, at: Date.now() - start }),
  })
  return { lanes, left, heads, offsets: () => left.map(({ waiting }) => waiting.record.offset) }
}

test('what leaves later than in a second stays in Kafka: the partition is paused and sought back to it', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition, calls, taken } = recordingPartition()
  lanes.onRecords(partition, [retryRecord(7, start + 10_000), retryRecord(8, start + 10_000)])
  expect(calls).toEqual(['pause', 'seek 7'])
  expect(taken).toEqual([])
  vi.advanceTimersByTime(8_999)
  expect(calls).toHaveLength(2)
  vi.advanceTimersByTime(1)
  expect(calls).toEqual(['pause', 'seek 7', 'resume'])
  expect(left).toEqual([])
})

test('a busy process, whose clock goes on between two looks, sets no timer into the past', () => {
  let clock = start
  const lanes = createTierLanes({ tierOf: () => tier, timeScale: 1, now: () => (clock += 5), onLeave: () => {} })
  const { partition, calls } = recordingPartition()
  const timers = vi.spyOn(globalThis, 'setTimeout')
  lanes.onRecords(partition, [retryRecord(1, start + 1_008)])
  expect(timers.mock.calls.map(([, delayMs]) => delayMs)).toEqual([0])
  vi.advanceTimersByTime(1)
  expect(calls).toEqual(['pause', 'seek 1', 'resume'])
})

test('what leaves within a second waits in memory, each for itself, and leaves on time', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition } = recordingPartition()
  lanes.onRecords(partition, [retryRecord(1, start + 900), retryRecord(2, start + 300), retryRecord(3, start - 5)])
  vi.advanceTimersByTime(1_000)
  expect(left.map(({ waiting, at }) => [waiting.record.offset, at])).toEqual([
    [3, 0],
    [2, 300],
    [1, 900],
  ])
})

test('a record leaves when its tier delay is over, though it is due later', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition } = recordingPartition()
  lanes.onRecords(partition, [retryRecord(1, start + 30_000, start - 9_500)])
  vi.advanceTimersByTime(499)
  expect(left).toEqual([])
  vi.advanceTimersByTime(1)
  expect(left).toHaveLength(1)
})

test('a record with damaged delivery headers leaves at once', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition } = recordingPartition()
  const record = retryRecord(1, start + 10_000)
  lanes.onRecords(partition, [{ ...record, headers: { ...record.headers, 'barnabas-due-time': Buffer.from('soon') } }])
  expect(left.map(({ waiting }) => waiting.decoded.kind)).toEqual(['malformed'])
})

test('kept records have bytes of their own, so that they do not pin their fetch response', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition } = recordingPartition()
  const response = Buffer.alloc(1_000_000, 'x')
  lanes.onRecords(partition, [retryRecord(1, start, start, response.subarray(10, 20))])
  expect(left[0]?.waiting.record.value?.buffer).not.toBe(response.buffer)
  expect(left[0]?.waiting.record.value?.toString()).toBe('xxxxxxxxxx')
})

test('beyond the memory budget records wait in Kafka until there is room', () => {
  const { lanes, left, offsets } = lanesThatKeep()
  const { partition, calls } = recordingPartition()
  const large = Buffer.alloc(7 * 1024 * 1024)
  const records = [1, 2, 3].map((offset) => retryRecord(offset, start, start, large))
  lanes.onRecords(partition, records)
  expect(offsets()).toEqual([1, 2])
  expect(calls).toEqual(['pause', 'seek 3'])
  for (const { waiting } of left) lanes.release(waiting)
  expect(calls).toEqual(['pause', 'seek 3', 'resume'])
})

test('while more than half of it is taken, only what leaves within 250 ms is read on', () => {
  const { lanes, left } = lanesThatKeep()
  const [full, other] = [recordingPartition(), recordingPartition()]
  lanes.onRecords(full.partition, [retryRecord(1, start, start, Buffer.alloc(9 * 1024 * 1024))])
  expect(lanes.isScarce).toBe(true)
  lanes.onRecords(other.partition, [retryRecord(2, start + 250), retryRecord(3, start + 251)])
  expect([other.taken, other.calls]).toEqual([[2], ['pause', 'seek 3']])
  lanes.release(left[0]!.waiting)
  expect(lanes.isScarce).toBe(false)
  lanes.onRecords(other.partition, [retryRecord(3, start + 1_000)])
  expect(other.taken).toEqual([2, 3])
})

test('a record larger than the whole budget is taken when nothing else is', () => {
  const { lanes, offsets } = lanesThatKeep()
  const { partition } = recordingPartition()
  lanes.onRecords(partition, [retryRecord(1, start, start, Buffer.alloc(70 * 1024 * 1024))])
  expect(offsets()).toEqual([1])
})

test('records of a lost partition never leave, and give their memory back', () => {
  const { lanes, left } = lanesThatKeep()
  const { partition } = recordingPartition()
  lanes.onRecords(partition, [retryRecord(1, start + 500)])
  const lost = Object.assign(partition, { lost: true })
  lanes.onLost(lost)
  vi.advanceTimersByTime(1_000)
  expect(left).toEqual([])
})

test('a lane that rests for hours is looked at every hour, and no timer is longer', () => {
  const { lanes } = lanesThatKeep()
  const { partition, calls } = recordingPartition()
  const farTier = createTierLanes({
    tierOf: () => ({ name: '12h', delayMs: 43_200_000 }),
    timeScale: 1,
    now: () => Date.now(),
    onLeave: () => {},
  })
  farTier.onRecords(partition, [retryRecord(1, start + 43_200_000)])
  vi.advanceTimersByTime(3_600_000)
  expect(calls).toEqual(['pause', 'seek 1', 'resume'])
  lanes.close()
  farTier.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('A21: the head of a lane that rests is told, and what is behind it is not', () => {
  const { lanes, heads } = lanesThatKeep()
  const { partition } = recordingPartition()
  lanes.onRecords(partition, [
    retryRecord(1, start + 500),
    retryRecord(2, start + 10_000),
    retryRecord(3, start + 10_001),
  ])
  expect(heads).toEqual([2, 10_000])
  lanes.close()
})
