import { names } from '@barnabas/core'
import type { Consumer, KafkaClient } from '@barnabas/kafka'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadLetterService } from './service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('topics that come back while their reader could not be replaced are read again', async () => {
  const existing = new Set(['a', 'b'])
  let joins = true
  const read: string[] = []
  const kafka = {
    admin: { topics: async () => existing },
    consumer: ({ topics }: { readonly topics: readonly string[] }): Partial<Consumer> => ({
      async start() {
        read.push(`${topics.join()} ${joins ? 'joined' : 'failed'}`)
        if (!joins) throw new Error('no broker answers')
      },
      stop: async () => void read.push(`${topics.join()} stopped`),
      lastHeartbeatAt: 0,
    }),
  } as unknown as KafkaClient
  const service = createDeadLetterService({
    kafka,
    names: names('barnabas'),
    topics: () => ['a', 'b'],
    onDeadLetter: () => {},
    isToldElsewhere: () => false,
    sessionTimeoutMs: 10_000,
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  })
  await service.start()
  existing.delete('b')
  joins = false
  await vi.advanceTimersByTimeAsync(5_000)
  existing.add('b')
  joins = true
  await vi.advanceTimersByTimeAsync(5_000)
  expect(read).toEqual(['a,b joined', 'a,b stopped', 'a failed', 'a,b joined'])
  await service.close()
})
