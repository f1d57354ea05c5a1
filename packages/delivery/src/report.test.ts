import { newDeliveryState } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createReporter } from './report.ts'

const subscription = { id: 'orders', generation: 7 }

test('the sentence of a failed attempt names its subscription, and the next attempt (row A21)', () => {
  const told: string[] = []
  const info = (_fields: object, message: string) => void told.push(message)
  const counts = { attempt() {}, verdict() {}, deadLettered() {}, dropped() {}, late() {} }
  const report = createReporter({ debug() {}, info, warn() {}, error() {} }, counts)
  const endedAt = Date.parse('2026-03-01T12:00:00.000Z')
  report({
    state: { ...newDeliveryState(subscription, { topic: 't', partition: 0, offset: 1 }, 0), attempts: 1 },
    event: null,
    subscription: null,
    result: {
      outcome: 'Busy',
      status: 503,
      error: 'answered 503',
      responseBody: null,
      startedAt: endedAt - 5,
      endedAt,
    },
    verdict: { kind: 'retry', dueAt: endedAt + 1_000 },
    latenessMs: null,
  })
  expect(told).toEqual(['orders: attempt 1: Busy (503), next attempt at 2026-03-01T12:00:01.000Z'])
})
