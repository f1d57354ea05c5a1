import { retryPolicyOf } from '@barnabas/core'
import type { StatusRecord, Subscription, SubscriptionStatus } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createRecipients } from './recipients.ts'
import type { KnownSubscription } from './recipients.ts'

const subscription: Subscription = {
  id: 'orders',
  generation: 7,
  revision: 1,
  topics: ['orders'],
  sink: 'https://example.com/hook',
  startOffsets: {},
  input: 'cloudevents',
  inputSchemaMapping: {},
  types: [],
  filters: [],
  timeoutMs: 30_000,
  rate: null,
  notation: 'barnabas',
  schema: 'CloudEventSchemaV1_0',
  mode: 'binary',
  headers: [],
  concurrency: 64,
  batch: { maxEvents: 1, preferredBytes: 65_536 },
  retry: retryPolicyOf({ schedule: 'event-grid' }, 1),
  handshake: 'none',
  probation: null,
  deadLetter: null,
}
const valid: KnownSubscription = { kind: 'valid', subscription }

function recipientsOf(
  entry: KnownSubscription | undefined,
  status: SubscriptionStatus | null,
  later = entry,
  isBlocked = false,
) {
  let present = entry
  const record = status === null ? null : ({ status, generation: 7 } as StatusRecord)
  return createRecipients(
    {
      get: () => present,
      caughtUp: async () => void (present = later),
    },
    { get: () => record },
    () => isBlocked,
  )
}

test.each([
  ['Running', 'running'],
  ['Starting', 'running'],
  [null, 'running'],
  ['Start Failed', 'resting'],
  ['Paused', 'resting'],
  ['Ready', 'resting'],
] as const)('%s: %s', (status, kind) => {
  expect(recipientsOf(valid, status)('orders', 7)).toEqual({ kind, subscription })
})

test('what does not validate rests', () => {
  const recipientOf = recipientsOf({ kind: 'invalid', generation: 7 }, null)
  expect(recipientOf('orders', 7)).toEqual({ kind: 'resting', subscription: null })
})

test('what a record without a life stands over is not given up', () => {
  const recipientOf = recipientsOf({ kind: 'invalid', generation: 0 }, null)
  expect(recipientOf('orders', 7)).toEqual({ kind: 'resting', subscription: null })
})

test('what is not known, or lives another life, is gone once the topic was read to its end', async () => {
  expect(await recipientsOf(undefined, null)('orders', 7)).toEqual({ kind: 'gone' })
  expect(await recipientsOf(valid, null)('orders', 6)).toEqual({ kind: 'gone' })
  expect(await recipientsOf(undefined, null, valid)('orders', 7)).toEqual({ kind: 'running', subscription })
})

test('nobody can say when what reads the topic was stopped', async () => {
  const recipientOf = createRecipients(
    { get: () => undefined, caughtUp: () => Promise.reject(new Error('stopped')) },
    { get: () => null },
    () => false,
  )
  expect(await recipientOf('orders', 7)).toEqual({ kind: 'unknown' })
})

test('B5: of one that is blocked nothing is attempted, though its status does not say so yet', async () => {
  expect(await recipientsOf(valid, 'Running', valid, true)('orders', 7)).toEqual({ kind: 'resting', subscription })
})
