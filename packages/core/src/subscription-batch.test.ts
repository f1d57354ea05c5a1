import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { batchOf } from './subscription-batch.ts'

const least = { id: 'orders', topics: ['orders'], sink: 'https://example.com/hook' }
const kibibyte = 1_024

test.each([
  ['nothing is set', undefined, 1, 64 * kibibyte],
  ['neither of the two is set', {}, 1, 64 * kibibyte],
  ['only the count', { maxEvents: 100 }, 100, 64 * kibibyte],
  ['only the count, 1: off', { maxEvents: 1 }, 1, 64 * kibibyte],
  ['only the size', { preferredSize: '1024KB' }, 10, 1_024 * kibibyte],
  ['only the size, that of the default', { preferredSize: '64KB' }, 10, 64 * kibibyte],
  ['both, at their least', { maxEvents: 1, preferredSize: '1KB' }, 1, kibibyte],
  ['both, at their most', { maxEvents: 10_000, preferredSize: '1024KB' }, 10_000, 1_024 * kibibyte],
  ['a size in another unit', { maxEvents: 2, preferredSize: '1MB' }, 2, 1_024 * kibibyte],
])('A11, C1: %s', (_what, batch, maxEvents, preferredBytes) => {
  const parsed = parseSubscription({ ...least, mode: 'structured', ...(batch && { batch }) })
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  expect(parsed.subscription.batch).toEqual({ maxEvents, preferredBytes })
  expect(parsed.warnings).toEqual([])
})

test.each([
  ['event-grid-kubernetes', { maxEvents: 20 }, { maxEvents: 20, preferredBytes: 1_058_576 }],
  ['event-grid-kubernetes', { preferredSize: '2KB' }, { maxEvents: 10, preferredBytes: 2_048 }],
  ['event-grid-kubernetes', {}, { maxEvents: 1, preferredBytes: 1_058_576 }],
  ['event-grid', { maxEvents: 20 }, { maxEvents: 20, preferredBytes: 65_536 }],
] as const)('C1: with notation %s, %j is %j', (notation, written, expected) => {
  expect(batchOf(written, notation)).toEqual(expected)
})

const ofEngine = { batchMaxEvents: 7, batchPreferredBytes: 2_048 }

test.each([
  ['event-grid', { maxEvents: 20 }, { maxEvents: 20, preferredBytes: 2_048 }],
  ['event-grid', { preferredSize: '3KB' }, { maxEvents: 7, preferredBytes: 3_072 }],
  ['event-grid', { maxEvents: 20, preferredSize: '3KB' }, { maxEvents: 20, preferredBytes: 3_072 }],
  ['event-grid', undefined, { maxEvents: 1, preferredBytes: 2_048 }],
  ['event-grid-kubernetes', { maxEvents: 20 }, { maxEvents: 20, preferredBytes: 2_048 }],
  ['event-grid-kubernetes', { preferredSize: '3KB' }, { maxEvents: 7, preferredBytes: 3_072 }],
  ['barnabas', { maxEvents: 20 }, { maxEvents: 20, preferredBytes: 65_536 }],
  ['barnabas', { preferredSize: '3KB' }, { maxEvents: 10, preferredBytes: 3_072 }],
] as const)("A11, C1: an engine's own defaults: with notation %s, %j is %j", (notation, written, expected) => {
  expect(batchOf(written, notation, ofEngine)).toEqual(expected)
})

test("A11: an engine's own defaults count for Event Grid's JSON, and one that names no size leaves it to the notation", () => {
  const eventGrid = { maxAttempts: 30, timeToLiveMs: 86_400_000, batchMaxEvents: 7, batchPreferredBytes: null }
  const endpointUrl = 'https://example.com/hook'
  const batchWith = (notation: string, properties: Readonly<Record<string, number>>) => {
    const destination = { endpointType: 'WebHook', properties: { endpointUrl, ...properties } }
    const eventDeliverySchema = 'CloudEventSchemaV1_0'
    const body = { id: 'orders', topics: ['orders'], notation, properties: { destination, eventDeliverySchema } }
    const parsed = parseSubscription(body, { eventGrid })
    return parsed.kind === 'valid' ? parsed.subscription.batch : parsed.problems
  }
  const size = { preferredBatchSizeInKilobytes: 2 }
  const count = { maxEventsPerBatch: 20 }
  expect(batchWith('event-grid', size)).toEqual({ maxEvents: 7, preferredBytes: 2_048 })
  expect(batchWith('event-grid', count)).toEqual({ maxEvents: 20, preferredBytes: 65_536 })
  expect(batchWith('event-grid-kubernetes', size)).toEqual({ maxEvents: 7, preferredBytes: 2_048 })
  expect(batchWith('event-grid-kubernetes', count)).toEqual({ maxEvents: 20, preferredBytes: 1_058_576 })
})

test.each([
  [{ window: '15s' }, { maxEvents: 10, windowMs: 150 }],
  [{ window: '0s' }, { maxEvents: 1 }],
  [{ maxEvents: 2, window: '0s' }, { maxEvents: 2 }],
  [
    { maxEvents: 1, window: '1s' },
    { maxEvents: 1, windowMs: 10 },
  ],
])('the window of %j, with a time scale of 0.01, is %j', (batch, expected) => {
  const parsed = parseSubscription({ ...least, batch }, { timeScale: 0.01 })
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  expect(parsed.subscription.batch).toEqual({ preferredBytes: 65_536, ...expected })
})

test.each([
  [{ maxEvents: 0 }, 'batch.maxEvents: 0 is not a whole number from 1 to 10000'],
  [{ maxEvents: 10_001 }, 'batch.maxEvents: 10001 is not a whole number from 1 to 10000'],
  [{ maxEvents: 1.5 }, 'batch.maxEvents: 1.5 is not a whole number from 1 to 10000'],
  [{ maxEvents: '10' }, 'batch.maxEvents: "10" is not a whole number from 1 to 10000'],
  [{ maxEvents: null }, 'batch.maxEvents: null is not a whole number from 1 to 10000'],
  [{ preferredSize: '0KB' }, 'batch.preferredSize: "0KB" is not a size from 1KB to 1024KB, such as 64KB'],
  [{ preferredSize: '1023B' }, 'batch.preferredSize: "1023B" is not a size from 1KB to 1024KB, such as 64KB'],
  [{ preferredSize: '1025KB' }, 'batch.preferredSize: "1025KB" is not a size from 1KB to 1024KB, such as 64KB'],
  [{ preferredSize: 64 }, 'batch.preferredSize: 64 is not a size from 1KB to 1024KB, such as 64KB'],
  [{ maxEvent: 5 }, 'batch.maxEvent: is not a known field (did you mean maxEvents?)'],
  [5, 'batch: 5 is not a mapping of fields to values'],
  ['none', 'batch: "none" is not a mapping of fields to values'],
  [[], 'batch: [] is not a mapping of fields to values'],
])('the batch %j is refused by name', (batch, message) => {
  const parsed = parseSubscription({ ...least, batch })
  expect(parsed.kind === 'invalid' && parsed.problems.map((problem) => problem.message)).toEqual([message])
})

test('batches of several in binary mode are accepted, and whoever applies them is told how they travel', () => {
  const parsed = parseSubscription({ ...least, batch: { maxEvents: 10 } })
  expect(parsed.kind === 'valid' && parsed.warnings).toEqual([
    expect.stringMatching(/^batch: .*application\/cloudevents-batch\+json.* no batch in binary mode/),
  ])
  const off = parseSubscription({ ...least, batch: { maxEvents: 1 } })
  expect(off.kind === 'valid' && off.warnings).toEqual([])
})
