import { blobLimits, createOffsetTracker, deadLetterRecords, unknownShape } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { CommittingPartition } from '@barnabas/delivery'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBlobLanes } from './blob-lanes.ts'
import type { Blob } from './blob-window.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const minute = 60_000

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

/** What the broker knows of a partition: a log, and what is committed of it. It outlives its readers. */
function logOf(records: readonly KafkaRecord[], partition = 0) {
  return { partition, records: [...records], committed: { offset: 0, done: [] as { from: number; to: number }[] } }
}
type Log = ReturnType<typeof logOf>

/** A reader of logs with lanes, which may die at any moment. `write` gets each blob, and says when it is there. */
function readerOf(logs: readonly Log[], write: (blob: Blob) => Promise<boolean> | boolean = () => true) {
  const blobs: Blob[] = []
  let isDead = false
  const lanes = createBlobLanes({
    target: 'archive/letters',
    shapeOf: () => unknownShape,
    timeScale: 1,
    now: () => Date.now(),
    writer: {
      async write(blob) {
        if (isDead) return new Promise(() => {})
        blobs.push(blob)
        const written = await write(blob)
        return isDead ? new Promise(() => {}) : written
      },
    },
  })
  const fed = logs.map((log) => {
    const tracker = createOffsetTracker(log.committed.offset, log.committed.done)
    let position = tracker.next
    let isPaused = false
    let isLost = false
    const steps: string[] = []
    const partition: CommittingPartition = {
      topic: 'barnabas.dead-letter',
      partition: log.partition,
      get lost() {
        return isLost
      },
      settled: undefined,
      take: (offset) => tracker.take(offset),
      finish: (open) => tracker.finish(open),
      wasDone: (offset) => tracker.wasDone(offset),
      async committedAll() {
        if (isLost) return false
        if (!isDead) log.committed = { offset: tracker.committable, done: [...tracker.doneBeyond()] }
        return !isDead
      },
      pause: () => void (isPaused = true),
      resume: () => void (isPaused = false),
      seek: (offset) => void (position = offset),
      get openCount() {
        return tracker.openCount
      },
    }
    /** One fetch of so many records. */
    function fetch(recordsMax = Infinity): void {
      if (isPaused || isDead) return
      const fresh = log.records.filter(({ offset }) => offset >= position).slice(0, recordsMax)
      if (fresh.length === 0) return
      position = fresh.at(-1)!.offset + 1
      lanes.onRecords(partition, fresh)
    }
    return { partition, fetch, steps, tracker, lose: () => ((isLost = true), lanes.onLost(partition)) }
  })
  return {
    lanes,
    blobs,
    fed,
    offsets: () =>
      blobs.map(({ body }) => (JSON.parse(body.toString()) as { id: string }[]).map(({ id }) => Number(id))),
    async fetch(recordsMax?: number) {
      for (const each of fed) each.fetch(recordsMax)
      await vi.advanceTimersByTimeAsync(0)
    },
    die() {
      isDead = true
      lanes.close()
    },
  }
}

/** A dead letter of so many ms after the start. */
function letter(offset: number, afterMs = 0, more: { subscription?: string; blob?: string; data?: string } = {}) {
  const { subscription = 'orders', blob = 'archive/letters', data = '1' } = more
  const headers = { ce_specversion: '1.0', ce_id: String(offset), ce_source: '/s', ce_type: 't' }
  const [written] = deadLetterRecords({
    topic: 'barnabas.dead-letter',
    key: null,
    value: Buffer.from(data),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    state: { subscriptionId: subscription },
    reason: 'TimeToLiveExceeded',
    time: start + afterMs,
    blob,
  })
  return { ...written, partition: 0, offset, timestamp: start + afterMs } satisfies KafkaRecord
}

const foreign = (offset: number): KafkaRecord => ({ ...letter(offset), headers: {} })

describe('A13: about five minutes after the last attempt, several in a blob', () => {
  test('the head waits in Kafka, and those that are due within a minute after it go along', async () => {
    const log = logOf([letter(0), letter(1, 30_000), letter(2, 60_000), letter(3, 90_000), letter(4, 91_000)])
    const reader = readerOf([log])
    await reader.fetch()
    expect(reader.fed[0]!.tracker).toMatchObject({ next: 0, openCount: 0 })
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs - 1)
    await reader.fetch()
    expect(reader.offsets()).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await reader.fetch()
    // Whoever gains a partition begins with one.
    expect(reader.offsets()).toEqual([[0]])
    await vi.advanceTimersByTimeAsync(30_000)
    await reader.fetch()
    await reader.fetch()
    expect(reader.offsets()).toEqual([[0], [1, 2, 3]])
    await vi.advanceTimersByTimeAsync(61_000)
    await reader.fetch()
    expect(reader.offsets()).toEqual([[0], [1, 2, 3], [4]])
    expect(reader.fed[0]!.tracker).toMatchObject({ committable: 5, openCount: 0 })
  })

  test('each subscription has a blob of its own, and records of others are passed over', async () => {
    const others = [foreign(1), letter(2, 0, { blob: 'archive/others' }), letter(3, 0, { subscription: '../up' })]
    const log = logOf([
      foreign(0),
      letter(4),
      ...others,
      letter(5, 0, { subscription: 'bills' }),
      foreign(6),
      letter(7),
    ])
    log.records.sort((one, other) => one.offset - other.offset)
    const reader = readerOf([log])
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await reader.fetch()
    await reader.fetch()
    expect(reader.blobs.map(({ subscriptionId }) => subscriptionId)).toEqual(['orders', 'bills', 'orders'])
    expect(reader.offsets()).toEqual([[4], [5], [7]])
    expect(reader.fed[0]!.tracker.committable).toBe(8)
  })

  test('a blob has its limits, and a larger dead letter is alone', async () => {
    const large = letter(1, 0, { data: `"${'x'.repeat(1024 * 1024)}"` })
    const many = Array.from({ length: blobLimits.eventsMax + 1 }, (_, index) => letter(index + 2))
    const reader = readerOf([logOf([letter(0), large, ...many])])
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    for (let fetches = 0; fetches < 5; fetches++) await reader.fetch()
    expect(reader.offsets().map(({ length }) => length)).toEqual([1, 1, blobLimits.eventsMax, 1])
  })

  test.each([
    ['in the year 9999', '9999-01-01T00:00:00.000Z'],
    ['that is none', 'soon'],
  ])('a time %s keeps nobody waiting for longer', async (_, time) => {
    const record = letter(0, 10 * 365 * 24 * 60 * minute)
    const headers = { ...record.headers, 'barnabas-dead-letter-time': Buffer.from(time) }
    const reader = readerOf([logOf([{ ...record, headers }])])
    await reader.fetch()
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await reader.fetch()
    expect(reader.offsets()).toEqual([[0]])
  })
})

describe('a crash writes nothing twice and loses nothing', () => {
  const records = [letter(0), letter(1), foreign(2), letter(3, 0, { subscription: 'bills' }), letter(4)]

  test('between the decision and the write: whoever reads on forms the same blobs, whatever came since', async () => {
    const log = logOf(records)
    const dying = readerOf(
      [log],
      (blob) => (blob.events === 1 && blob.position.endsWith('/0')) || new Promise(() => {}),
    )
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await dying.fetch()
    await dying.fetch()
    expect(dying.offsets()).toEqual([[0], [1, 4]])
    dying.die()
    expect(log.committed).toEqual({ offset: 1, done: [{ from: 2, to: 5 }] })
    log.records.push(letter(5), letter(6))
    const next = readerOf([log])
    await next.fetch()
    expect(next.blobs.slice(0, 1)).toEqual(dying.blobs.slice(1))
    await next.fetch()
    expect(next.offsets()).toEqual([[1, 4], [3], [5, 6]])
  })

  test('the rest of what was decided may come later', async () => {
    const log = logOf(records)
    const dying = readerOf([log], (blob) => blob.position.endsWith('/0') || new Promise(() => {}))
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await dying.fetch()
    await dying.fetch()
    dying.die()
    const next = readerOf([log])
    await next.fetch(2)
    expect(next.blobs).toEqual([])
    await next.fetch(1)
    await next.fetch(1)
    expect(next.blobs[0]).toEqual(dying.blobs[1])
  })

  test('or never, where retention was faster: then there is what there is', async () => {
    const log = logOf(records)
    log.committed = { offset: 0, done: [{ from: 1, to: 5 }] }
    log.records.splice(3)
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    const reader = readerOf([log])
    await reader.fetch()
    expect(reader.blobs).toEqual([])
    await vi.advanceTimersByTimeAsync(30_000)
    expect(reader.offsets()).toEqual([[0, 1]])
    expect(reader.fed[0]!.tracker.openCount).toBe(0)
  })

  test('a window of one record that was written is written again alone', async () => {
    const log = logOf([letter(0)])
    const dying = readerOf([log], () => new Promise(() => {}))
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await dying.fetch()
    dying.die()
    log.records.push(letter(1), letter(2))
    const next = readerOf([log])
    await next.fetch()
    expect(next.blobs[0]).toEqual(dying.blobs[0])
    await next.fetch()
    expect(next.offsets()).toEqual([[0], [1, 2]])
  })

  test('whenever it happens, each dead letter is in exactly one blob', async () => {
    const all = Array.from({ length: 40 }, (_, index) =>
      index % 7 === 3 ? foreign(index) : letter(index, 0, { subscription: index % 3 === 0 ? 'bills' : 'orders' }),
    )
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    for (let dieAfterBlobs = 0; dieAfterBlobs < 12; dieAfterBlobs++) {
      const log = logOf(all.slice(0, 20))
      const store = new Map<string, string>()
      const put = (blob: Blob) => void (store.has(blob.path) || store.set(blob.path, blob.body.toString()))
      for (let reads = 0, life = 0; life < 4; life++, reads = 0) {
        const reader = readerOf([log], (blob) => {
          put(blob)
          // Dies after the write, before it knows of it.
          return ++reads <= dieAfterBlobs || life === 3 || new Promise(() => {})
        })
        for (let fetches = 0; fetches < 20; fetches++) await reader.fetch(1 + ((fetches * 5 + life) % 9))
        reader.die()
        if (life === 1) log.records.push(...all.slice(20))
      }
      const ids = [...store.values()].flatMap((body) =>
        (JSON.parse(body) as { id: string }[]).map(({ id }) => Number(id)),
      )
      const wanted = all.filter(({ headers }) => headers['ce_id'] !== undefined).map(({ offset }) => offset)
      expect(ids.toSorted((one, other) => one - other)).toEqual(wanted)
    }
  })
})

describe('a store that is away', () => {
  test('memory holds one window; the other partitions wait in Kafka, and go on afterwards', async () => {
    const logs = [0, 1, 2].map((partition) =>
      logOf(
        [letter(0)].map((each) => ({ ...each, partition })),
        partition,
      ),
    )
    let release = (_written: boolean) => {}
    const reader = readerOf(logs, () => new Promise<boolean>((resolve) => (release = resolve)))
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await reader.fetch()
    await reader.fetch()
    expect(reader.blobs).toHaveLength(1)
    expect(reader.fed.map(({ tracker }) => tracker.openCount)).toEqual([1, 0, 0])
    release(true)
    await reader.fetch()
    await reader.fetch()
    expect(reader.blobs).toHaveLength(2)
  })

  test('a partition that is lost meanwhile is the next owner’s, and gives way', async () => {
    const logs = [0, 1].map((partition) => logOf([{ ...letter(0), partition }], partition))
    let release = (_written: boolean) => {}
    const reader = readerOf(logs, () => new Promise<boolean>((resolve) => (release = resolve)))
    await vi.advanceTimersByTimeAsync(blobLimits.delayMs)
    await reader.fetch()
    reader.fed[0]!.lose()
    release(false)
    await vi.advanceTimersByTimeAsync(0)
    await reader.fetch()
    expect(logs[0]!.committed.offset).toBe(0)
    expect(reader.blobs.map(({ position }) => position)).toEqual([
      'barnabas.dead-letter/0/0',
      'barnabas.dead-letter/1/0',
    ])
  })
})
