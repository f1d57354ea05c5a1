import { parseTargetRefusal } from '@barnabas/core'
import type { OutgoingRecord } from '@barnabas/core'
import type { KafkaClient, ProduceResult } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { openRefusalLog } from './refusal-log.ts'

const refusal = {
  target: 'mns://1.local/letters',
  topic: 'barnabas.dead-letter',
  partition: 0,
  offset: 7,
  subscription: 'orders',
  code: 'QueueNotExist',
  message: 'the queue does not exist',
  at: '2026-12-01T08:00:00.000Z',
}
const unavailable: ProduceResult = { kind: 'unavailable', message: 'no broker answers' }
const never = new AbortController().signal

function logOf(...answers: readonly ProduceResult[]) {
  const written: OutgoingRecord[] = []
  const warnings: string[] = []
  const next = answers.values()
  const kafka = {
    producer: () => ({
      produce: async (record: OutgoingRecord) => {
        written.push(record)
        return next.next().value ?? { kind: 'acknowledged', partition: 0, offset: 0 }
      },
      close: async () => {},
    }),
  } as unknown as Pick<KafkaClient, 'producer'>
  const logger = {
    debug() {},
    info() {},
    warn: (_: object, message: string) => void warnings.push(message),
    error() {},
  }
  const log = openRefusalLog({ kafka, names: { refusals: 'barnabas.refusals' }, logger, pauseMs: 1 })
  return { log, written, warnings }
}

test('B7: a refusal is written, again while Kafka is away', async () => {
  const { log, written } = logOf(unavailable, unavailable)
  expect(await log.write(refusal, never)).toBe(true)
  expect(written).toHaveLength(3)
  expect(written[0]).toMatchObject({ topic: 'barnabas.refusals' })
  expect(parseTargetRefusal(written[2]!.value)).toEqual(refusal)
  await log.close()
})

test('what Kafka refuses is told and keeps nothing up, and our own stop ends the trying', async () => {
  const { log, written, warnings } = logOf({ kind: 'refused', code: 'NOT_AUTHORIZED', message: 'no right' })
  expect(await log.write(refusal, never)).toBe(true)
  expect(await log.write(refusal, AbortSignal.abort())).toBe(false)
  expect(written).toHaveLength(1)
  expect(warnings).toEqual(['a refusal of mns://1.local/letters cannot be listed: no right'])
})
