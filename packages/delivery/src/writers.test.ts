import type { OutgoingRecord } from '@barnabas/core'
import type { KafkaClient, ProduceResult } from '@barnabas/kafka'
import { expect, test, vi } from 'vitest'
import type { Owner } from './owner.ts'
import { createWriters } from './writers.ts'

const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const recordTo = (topic: string): OutgoingRecord => ({ topic, key: null, value: null, headers: {} })
const acknowledged: ProduceResult = { kind: 'acknowledged', partition: 0, offset: 1 }
const tooLarge: ProduceResult = { kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'too large' }
const unavailable: ProduceResult = { kind: 'unavailable', message: 'no broker' }

/** Writers over producers that answer from a list and write down which of them was asked for what. */
function writersThatAnswer(answers: readonly ProduceResult[]) {
  const asked: string[] = []
  const missing: string[] = []
  let producers = 0
  let next = 0
  const kafka = {
    producer() {
      const number = (producers += 1)
      return {
        async produce({ topic }: OutgoingRecord) {
          asked.push(`${number} ${topic}`)
          const result = answers[next] ?? acknowledged
          next += 1
          return result
        },
        close: async () => {},
      }
    },
  } satisfies Pick<KafkaClient, 'producer'>
  const writers = createWriters({
    kafka: kafka as unknown as KafkaClient,
    isTier: (topic) => topic.startsWith('retry.'),
    defaultDeadLetterTopic: 'letters',
    onMissing: (topic) => missing.push(topic),
    logger,
  })
  return { writers, asked, missing }
}

const ours: Owner = { lost: false, settled: undefined }

test('tiers, the default dead-letter topic and all other targets have a producer each', async () => {
  const { writers, asked } = writersThatAnswer([])
  for (const topic of ['retry.1s', 'letters', 'own', 'retry.2s', 'other']) await writers.write([recordTo(topic)], ours)
  expect(asked).toEqual(['1 retry.1s', '2 letters', '3 own', '1 retry.2s', '3 other'])
})

test('what can pass is tried again until it is acknowledged: a record is never given up', async () => {
  vi.useFakeTimers()
  const { writers, asked } = writersThatAnswer([
    unavailable,
    unavailable,
    { kind: 'refused', code: 'NOT_AUTHORIZED', message: '' },
  ])
  const written = writers.write([recordTo('letters')], ours)
  await vi.runAllTimersAsync()
  expect(await written).toEqual({ kind: 'written', form: 0 })
  expect(asked).toHaveLength(4)
  vi.useRealTimers()
})

test('only what is too large goes on to the next form', async () => {
  const { writers } = writersThatAnswer([tooLarge, tooLarge, acknowledged])
  const forms = [recordTo('letters'), recordTo('letters'), recordTo('letters')]
  expect(await writers.write(forms, ours)).toEqual({ kind: 'written', form: 2 })
})

test('no form fits', async () => {
  const { writers } = writersThatAnswer([tooLarge, tooLarge])
  expect(await writers.write([recordTo('letters'), recordTo('letters')], ours)).toEqual({ kind: 'too-large' })
})

test('a lost partition’s record is not tried again', async () => {
  vi.useFakeTimers()
  const { writers, asked } = writersThatAnswer([unavailable, unavailable, unavailable])
  const owner = { lost: false, settled: undefined }
  const written = writers.write([recordTo('letters')], owner)
  owner.lost = true
  await vi.runAllTimersAsync()
  expect(await written).toEqual({ kind: 'abandoned' })
  expect(asked).toHaveLength(1)
  vi.useRealTimers()
})

test.each([
  { becomes: 'ours', written: { kind: 'written', form: 0 }, asks: 1 },
  { becomes: 'lost', written: { kind: 'abandoned' }, asks: 0 },
])(
  'while it is not known whose the partition is nothing is written; then it is $becomes',
  async ({ becomes, written, asks }) => {
    const { writers, asked } = writersThatAnswer([])
    const assignment = Promise.withResolvers<void>()
    const owner: { lost: boolean; settled: Promise<void> | undefined } = { lost: false, settled: assignment.promise }
    const writing = writers.write([recordTo('letters')], owner)
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toEqual([])
    Object.assign(owner, { lost: becomes === 'lost', settled: undefined })
    assignment.resolve()
    expect(await writing).toEqual(written)
    expect(asked).toHaveLength(asks)
  },
)

test('a topic that does not exist is told of with each try, and its record is written when it does', async () => {
  vi.useFakeTimers()
  const isMissing = { kind: 'unavailable', message: 'topic letters does not exist', isMissing: true } as const
  const { writers, asked, missing } = writersThatAnswer([unavailable, isMissing, isMissing])
  const written = writers.write([recordTo('letters')], ours)
  await vi.runAllTimersAsync()
  expect(await written).toEqual({ kind: 'written', form: 0 })
  expect([asked.length, missing]).toEqual([4, ['letters', 'letters']])
  vi.useRealTimers()
})
