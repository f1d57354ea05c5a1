import type { KafkaRecord, TargetRefusal } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTargetWriter, targetPauses } from './target-writer.ts'
import type { TargetWrite } from './target.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const accepted: TargetWrite = { kind: 'accepted' }
const away: TargetWrite = { kind: 'unavailable', message: 'connect ECONNREFUSED' }
const tooLarge: TargetWrite = { kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'the record is too large' }

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

function letter(offset: number): KafkaRecord {
  const headers: KafkaRecord['headers'] = offset === 9 ? {} : { 'barnabas-subscription': Buffer.from('orders') }
  return { topic: 'letters', partition: 1, offset, timestamp: start, key: null, value: null, headers }
}

/** `answer` is asked for each dead letter of each try. */
function writerOn(answer: (offset: number, tries: number) => TargetWrite | undefined) {
  const tries: { readonly atMs: number; readonly offsets: readonly number[] }[] = []
  const told: string[] = []
  const tell = (level: string) => (fields: object, message: string) =>
    void told.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const stop = new AbortController()
  let isLost = false
  const refusals: TargetRefusal[] = []
  const writer = createTargetWriter({
    target: 'kafka://audit/letters',
    to: {
      async write(letters) {
        tries.push({ atMs: Date.now() - start, offsets: letters.map(({ offset }) => offset) })
        return letters.flatMap(({ offset }) => answer(offset, tries.length) ?? [])
      },
    },
    counts: {
      carried: (target, letters) => void told.push(`carried ${letters} to ${target}`),
      refusedByTarget: (target, id) => void told.push(`refused one of ${id} by ${target}`),
    },
    refusals: { write: async (refusal) => (refusals.push(refusal), !stop.signal.aborted) },
    now: Date.now,
    logger: { debug: () => {}, info: tell('info'), warn: tell('warn'), error: tell('error') },
  })
  return {
    tries,
    told,
    refusals,
    stop,
    lose: () => (isLost = true),
    write: (...offsets: number[]) => writer.write(offsets.map(letter), () => isLost, stop.signal),
  }
}

test('what is accepted is done, and counted', async () => {
  const writer = writerOn(() => accepted)
  expect(await writer.write(1, 2, 3)).toBe(true)
  expect(writer.told).toEqual(['carried 3 to kafka://audit/letters'])
})

test('B7: a target that is away is tried without end, later each time, and told of once', async () => {
  let isBack = false
  const writer = writerOn(() => (isBack ? accepted : away))
  const written = writer.write(1)
  await vi.advanceTimersByTimeAsync(7 * 24 * 3_600_000)
  const gaps = writer.tries.map(({ atMs }, index) => (atMs - (writer.tries[index - 1]?.atMs ?? 0)) / 1_000)
  expect(gaps.slice(0, 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60])
  expect(gaps.at(-1)).toBe(targetPauses.longestMs / 1_000)
  isBack = true
  await vi.advanceTimersByTimeAsync(targetPauses.longestMs)
  expect(await written).toBe(true)
  expect(writer.told).toEqual([
    expect.stringMatching(/^warn cannot carry dead letters to kafka:\/\/audit\/letters: connect ECONNREFUSED; trying/),
    'carried 1 to kafka://audit/letters',
    expect.stringMatching(/^info dead letters are carried to kafka:\/\/audit\/letters again/),
  ])
})

test('B7: what is refused for good stops none of its followers, and is counted and told of with the error', async () => {
  const writer = writerOn((offset) => (offset === 2 || offset === 9 ? tooLarge : accepted))
  expect(await writer.write(1, 2, 3, 9)).toBe(true)
  expect(writer.tries).toHaveLength(1)
  expect(writer.told).toEqual([
    'refused one of orders by kafka://audit/letters',
    expect.stringMatching(
      /^error kafka:\/\/audit\/letters refuses the dead letter letters\/1\/2 of orders for good: the record is too large; it stays in its topic .*"code":"RECORD_TOO_LARGE"/,
    ),
    'refused one of (unknown) by kafka://audit/letters',
    expect.stringContaining('letters/1/9'),
    'carried 2 to kafka://audit/letters',
  ])
  const common = { target: 'kafka://audit/letters', topic: 'letters', partition: 1, at: '2026-03-01T12:00:00.000Z' }
  const why = { code: 'RECORD_TOO_LARGE', message: 'the record is too large' }
  expect(writer.refusals).toEqual([
    { ...common, offset: 2, subscription: 'orders', ...why },
    { ...common, offset: 9, subscription: null, ...why },
  ])
})

test('a refusal that our own stop keeps from its list is left to the next one', async () => {
  const writer = writerOn(() => (writer.stop.abort(), tooLarge))
  expect(await writer.write(1)).toBe(false)
  expect(writer.told).toEqual([])
})

test('only what was not taken is tried again, and soon while some of it gets through', async () => {
  const writer = writerOn((offset, tries) => (offset <= tries ? accepted : away))
  const written = writer.write(1, 2, 3)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await written).toBe(true)
  expect(writer.tries).toEqual([
    { atMs: 0, offsets: [1, 2, 3] },
    { atMs: 1_000, offsets: [2, 3] },
    { atMs: 2_000, offsets: [3] },
  ])
})

test('a target that answers for too few has not taken the others', async () => {
  const writer = writerOn((offset, tries) => (tries === 1 && offset === 2 ? undefined : accepted))
  const written = writer.write(1, 2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await written).toBe(true)
  expect(writer.tries.map(({ offsets }) => offsets)).toEqual([[1, 2], [2]])
})

test.each(['stopped', 'lost'])('whoever is %s leaves the rest to the next one', async (how) => {
  const writer = writerOn(() => away)
  const written = writer.write(1)
  await vi.advanceTimersByTimeAsync(500)
  if (how === 'stopped') writer.stop.abort()
  else writer.lose()
  await vi.advanceTimersByTimeAsync(500)
  expect(await written).toBe(false)
  expect(writer.tries).toHaveLength(1)
})

test('what was accepted before the stop is done', async () => {
  const writer = writerOn(() => (writer.stop.abort(), accepted))
  expect(await writer.write(1)).toBe(true)
})
