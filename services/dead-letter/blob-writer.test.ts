import { blobLimits } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BlobWrite } from './blob-sink.ts'
import { createBlobWriter } from './blob-writer.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const hour = 3_600_000
const blob = {
  subscriptionId: 'orders',
  path: 'ORDERS/2026/3/1/12/guid.json',
  body: Buffer.from('[1,2]'),
  events: 2,
  dueAt: start,
  position: 'letters/0/4',
}
const away: BlobWrite = { kind: 'unavailable', message: '503 ServerBusy: later' }

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

function writerOn(answer: (tries: number) => BlobWrite | Error, timeScale = 1) {
  const tries: number[] = []
  const told: string[] = []
  const tell = (level: string) => (fields: object, message: string) =>
    void told.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const stop = new AbortController()
  let lost = false
  const writer = createBlobWriter({
    target: 'archive/letters',
    async sink() {
      const given = answer(tries.length + 1)
      tries.push(Date.now() - start)
      if (given instanceof Error) throw given
      return { write: async () => given }
    },
    timeScale,
    now: () => Date.now(),
    counts: {
      blobWritten: (id, events) => void told.push(`written ${id} ${events}`),
      blobGivenUp: (id, reason, events) => void told.push(`given up ${id} ${reason} ${events}`),
    },
    logger: { debug: () => {}, info: tell('info'), warn: tell('warn'), error: tell('error') },
  })
  const write = (changes: Partial<typeof blob> = {}) => writer.write({ ...blob, ...changes }, () => lost, stop.signal)
  return { tries, told, stop, write, lose: () => (lost = true) }
}

test.each([
  ['written', ['written orders 2']],
  ['there', []],
] as const)('a blob that is %s is done, and counted by whom it was written', async (kind, told) => {
  const writer = writerOn(() => ({ kind }))
  expect(await writer.write()).toBe(true)
  expect(writer.told).toEqual(told)
})

test('A13: what may pass is tried again, later each time, and told of once', async () => {
  const writer = writerOn((tries) => (tries === 10 ? { kind: 'written' } : away))
  const written = writer.write()
  await vi.advanceTimersByTimeAsync(hour)
  expect(await written).toBe(true)
  expect(writer.tries.map((at) => at / 1_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
  expect(writer.told).toEqual([
    expect.stringMatching(
      /^warn cannot write dead letters into blobs of archive\/letters: 503 ServerBusy: later; trying/,
    ),
    expect.stringMatching(/^info dead letters are written into blobs of archive\/letters again/),
    'written orders 2',
  ])
})

test.each([1, 0.001])('A13: it is given up after four hours of failure (time scale %d)', async (timeScale) => {
  const writer = writerOn(() => away, timeScale)
  const written = writer.write()
  await vi.advanceTimersByTimeAsync(blobLimits.givenUpAfterMs * timeScale + 60_000)
  expect(await written).toBe(true)
  expect(writer.tries.at(-1)).toBeGreaterThanOrEqual(blobLimits.givenUpAfterMs * timeScale)
  expect(writer.tries.at(-2)).toBeLessThan(blobLimits.givenUpAfterMs * timeScale)
  expect(writer.told.slice(1)).toEqual([
    'given up orders Unavailable 2',
    expect.stringMatching(
      /^error 2 dead letters of orders from letters\/0\/4 on get into no blob of archive\/letters: no write has succeeded for four hours: 503 ServerBusy: later; they stay in their topic/,
    ),
  ])
})

test('each has its four hours from when it was due, while the store stays away', async () => {
  const writer = writerOn(() => away)
  const first = writer.write()
  await vi.advanceTimersByTimeAsync(5 * hour)
  await first
  const tries = writer.tries.length
  const second = writer.write({ dueAt: start + hour })
  await vi.advanceTimersByTimeAsync(0)
  expect([await second, writer.tries.length - tries]).toEqual([true, 1])
  const third = writer.write({ dueAt: start + 3 * hour })
  await vi.advanceTimersByTimeAsync(2 * hour + 60_000)
  expect(await third).toBe(true)
  expect(writer.tries.at(-1)).toBeGreaterThanOrEqual(7 * hour)
})

test('one that says it is due in years is given up after four hours all the same', async () => {
  const writer = writerOn(() => away)
  const written = writer.write({ dueAt: start + 10_000 * hour })
  await vi.advanceTimersByTimeAsync(4 * hour + 60_000)
  expect(await written).toBe(true)
})

test('what was due long ago, for nobody was there, has its four hours too', async () => {
  const writer = writerOn((tries) => (tries === 3 ? { kind: 'written' } : away))
  const written = writer.write({ dueAt: start - 24 * hour })
  await vi.advanceTimersByTimeAsync(60_000)
  expect([await written, writer.tries.length]).toEqual([true, 3])
})

test('A13: without its container it is given up at once', async () => {
  const writer = writerOn(() => ({ kind: 'no-container' }))
  expect(await writer.write()).toBe(true)
  expect(writer.tries).toHaveLength(1)
  expect(writer.told).toEqual([
    'given up orders ContainerNotFound 2',
    expect.stringContaining(
      'get into no blob of archive/letters: the container does not exist; they stay in their topic',
    ),
  ])
})

test('a store that comes back without the container is not one that dead letters are written into again', async () => {
  const writer = writerOn((tries) => (tries === 1 ? away : { kind: 'no-container' }))
  const written = writer.write()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await written).toBe(true)
  expect(writer.told.map((each) => each.split(' ', 2).join(' '))).toEqual(['warn cannot', 'given up', 'error 2'])
})

test('a sink that cannot be opened is one that may pass', async () => {
  const writer = writerOn((tries) => (tries === 1 ? new Error('no such library') : { kind: 'written' }))
  const written = writer.write()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await written).toBe(true)
  expect(writer.told[0]).toContain('no such library; trying again')
})

test.each(['stopped', 'lost'])('what is %s while it waits is neither written nor given up', async (how) => {
  const writer = writerOn(() => away)
  const written = writer.write()
  await vi.advanceTimersByTimeAsync(500)
  if (how === 'lost') writer.lose()
  else writer.stop.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  expect([await written, writer.tries.length]).toEqual([false, 1])
  expect(vi.getTimerCount()).toBe(0)
})
