import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { sameSubscription } from './same-subscription.ts'

const least = { id: 'orders', topics: ['orders', 'returns'], sink: 'https://billing.example.com/hook' }

function same(one: object, other: object): boolean {
  const first = parseSubscription({ ...least, ...one })
  const second = parseSubscription({ ...least, ...other })
  if (first.kind === 'invalid' || second.kind === 'invalid') throw new Error('both are valid')
  return sameSubscription(first, second)
}

test.each([
  [{}, {}],
  [{ revision: 1 }, { revision: 2 }],
  [{}, { timeout: '30s', mode: 'binary', order: 'none', from: 'latest', filters: [] }],
  [{ timeout: '60s' }, { timeout: '1m' }],
  [{ topics: ['orders', 'returns'] }, { topics: ['returns', 'orders'] }],
  [{ types: ['a', 'b'] }, { types: ['b', 'a'] }],
  [{ retry: { neverOn: [400, 413, 400] } }, { retry: { neverOn: [413, 400] } }],
  [{ filters: [{ exact: { type: 'a', source: 'b' } }] }, { filters: [{ exact: { source: 'b', type: 'a' } }] }],
  [{}, { deadLetter: { topic: 'barnabas.dead-letter' } }],
  [
    { filters: [{ advanced: { operatorType: 'IsNotNull', key: 'data.a' } }] },
    { filters: [{ advanced: { onArrays: false, key: 'data.a', operatorType: 'IsNotNull' } }] },
  ],
  [{ filters: [{ subject: { endsWith: 'a' } }] }, { filters: [{ subject: { caseSensitive: false, endsWith: 'a' } }] }],
])('%j means the same as %j', (one, other) => {
  expect(same(one, other)).toBe(true)
})

test.each([
  [{}, { topics: ['orders'] }],
  [{}, { sink: 'https://billing.example.com/hook/' }],
  [{}, { from: 'earliest' }],
  [{}, { types: ['a'] }],
  [{}, { timeout: '31s' }],
  [{}, { mode: 'structured' }],
  [{}, { concurrency: 63 }],
  [{}, { deadLetter: 'none' }],
  [{}, { deadLetter: { responseBody: false } }],
  [{}, { retry: { schedule: 'backoff' } }],
  [{}, { retry: { maxAttempts: 29 } }],
  [{}, { endpoint: 'azure' }],
  [{}, { retry: { neverOn: [400] } }],
  [{ retry: { schedule: ['1s', '2s'] } }, { retry: { schedule: ['2s', '1s'] } }],
  [{ filters: [{ exact: { type: 'a' } }] }, { filters: [{ prefix: { type: 'a' } }] }],
])('%j means something else than %j', (one, other) => {
  expect(same(one, other)).toBe(false)
})
