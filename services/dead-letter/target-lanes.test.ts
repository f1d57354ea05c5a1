import { createOffsetTracker } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { TrackedPartition } from '@barnabas/delivery'
import { expect, test } from 'vitest'
import { createTargetLanes, targetBatchLimits } from './target-lanes.ts'

const ours = 'kafka://audit/letters'

function letter(offset: number, target: string | null = ours, size = 1): KafkaRecord {
  const headers: KafkaRecord['headers'] = target === null ? {} : { 'barnabas-dead-letter-target': Buffer.from(target) }
  return { topic: 'letters', partition: 0, offset, timestamp: 0, key: null, value: Buffer.alloc(size), headers }
}

/** Lanes on logs. Each write waits in `writes` until the test ends it with what it came to. */
function lanesOn(...logs: (readonly KafkaRecord[])[]) {
  const writes: { readonly offsets: readonly number[]; readonly end: (isDone: boolean) => Promise<void> }[] = []
  const lanes = createTargetLanes({
    target: ours,
    writer: {
      write(letters, _isLost, signal) {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        signal.addEventListener('abort', () => resolve(false))
        const end = async (isDone: boolean) => {
          resolve(isDone)
          await new Promise((turn) => setImmediate(turn))
        }
        writes.push({ offsets: letters.map(({ offset }) => offset), end })
        return promise
      },
    },
  })
  const fed = logs.map((log, number) => {
    const tracker = createOffsetTracker(0, [])
    let position = 0
    let isPaused = false
    let isLost = false
    const partition: TrackedPartition = {
      topic: 'letters',
      partition: number,
      get lost() {
        return isLost
      },
      settled: undefined,
      take: (offset) => tracker.take(offset),
      finish: (open) => void (isLost || tracker.finish(open)),
      pause: () => void (isPaused = true),
      resume: () => void (isPaused = false),
      seek: (offset) => void (position = offset),
      get openCount() {
        return tracker.openCount
      },
    }
    return {
      partition,
      tracker,
      fetch() {
        const records = isPaused ? [] : log.filter(({ offset }) => offset >= position)
        if (records.length === 0) return
        position = records.at(-1)!.offset + 1
        lanes.onRecords(partition, records)
      },
      isPaused: () => isPaused,
      lose: () => ((isLost = true), lanes.onLost(partition)),
    }
  })
  return { lanes, writes, fed, offsets: () => writes.map(({ offsets }) => offsets) }
}

test('B7: an offset is done when the target has answered, and not before', async () => {
  const { fed, writes, offsets } = lanesOn([letter(0), letter(1)])
  fed[0]!.fetch()
  expect(offsets()).toEqual([[0, 1]])
  expect(fed[0]!.tracker.committable).toBe(0)
  await writes[0]!.end(true)
  expect(fed[0]!.tracker.committable).toBe(2)
})

test('what was not written stays open for whoever reads on', async () => {
  const { fed, writes } = lanesOn([letter(0)])
  fed[0]!.fetch()
  await writes[0]!.end(false)
  expect(fed[0]!.tracker).toMatchObject({ committable: 0, openCount: 1 })
})

test.each([[null], ['kafka://audit/other'], ['kafka://audit/letters '], ['']])(
  'what is for the target %j is passed over',
  (target) => {
    const { fed, offsets } = lanesOn([letter(0, target), letter(1, target)])
    fed[0]!.fetch()
    expect(offsets()).toEqual([])
    expect(fed[0]!.tracker.committable).toBe(2)
  },
)

test('memory holds one batch, of one partition: the others wait in Kafka, and go on afterwards', async () => {
  const many = Array.from({ length: targetBatchLimits.lettersMax + 1 }, (_, index) => letter(index))
  const { fed, writes, offsets } = lanesOn(many, [letter(0, null), letter(1)])
  for (const each of fed) each.fetch()
  expect(offsets().map(({ length }) => length)).toEqual([targetBatchLimits.lettersMax])
  expect(fed.map(({ isPaused }) => isPaused())).toEqual([true, true])
  // What belongs to nobody here is passed over while ours waits.
  expect(fed[1]!.tracker).toMatchObject({ committable: 1, openCount: 0 })
  await writes[0]!.end(true)
  fed[1]!.fetch()
  await writes[1]!.end(true)
  fed[0]!.fetch()
  await writes[2]!.end(true)
  expect(offsets().slice(1)).toEqual([[1], [targetBatchLimits.lettersMax]])
  expect(fed.map(({ tracker }) => tracker.committable)).toEqual([many.length, 2])
})

test('a batch has its bytes, and one that is larger is alone', async () => {
  const { bytesMax } = targetBatchLimits
  const { fed, writes, offsets } = lanesOn([letter(0, ours, bytesMax + 1), letter(1, ours, bytesMax), letter(2)])
  for (let round = 0; round < 3; round++) {
    fed[0]!.fetch()
    await writes[round]!.end(true)
  }
  expect(offsets()).toEqual([[0], [1], [2]])
})

test('the bytes are copies: what the client reuses changes nothing', () => {
  const record = letter(0)
  const seen: KafkaRecord[] = []
  const lanes = createTargetLanes({
    target: ours,
    writer: { write: async (letters) => (seen.push(...letters), false) },
  })
  const tracker = createOffsetTracker(0, [])
  const noop = () => {}
  lanes.onRecords(
    { take: (offset: number) => tracker.take(offset), pause: noop, resume: noop } as unknown as TrackedPartition,
    [record],
  )
  record.value!.fill(7)
  expect(seen[0]!.value).toEqual(Buffer.alloc(1))
})

test('a partition that is lost meanwhile keeps the others from nothing', async () => {
  const { fed, writes, offsets } = lanesOn([letter(0)], [letter(0)])
  for (const each of fed) each.fetch()
  fed[0]!.lose()
  await writes[0]!.end(false)
  expect(fed[0]!.isPaused()).toBe(true)
  fed[1]!.fetch()
  expect(offsets()).toEqual([[0], [0]])
})

test('after the end nothing is written', async () => {
  const { lanes, fed, writes, offsets } = lanesOn([letter(0)], [letter(0)])
  fed[0]!.fetch()
  lanes.close()
  await writes[0]!.end(true)
  fed[1]!.fetch()
  expect(offsets()).toEqual([[0]])
  expect(fed[0]!.tracker.committable).toBe(0)
})
