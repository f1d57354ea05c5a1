import { expect, test } from 'vitest'
import { parseTargetRefusal, targetRefusalRecord } from './target-refusal.ts'

const refusal = {
  target: 'mns://1.local/letters',
  topic: 'barnabas.dead-letter',
  partition: 3,
  offset: 17,
  subscription: 'billing',
  code: 'QueueNotExist',
  message: 'the queue does not exist',
  at: '2026-12-01T08:00:00.000Z',
}

test('B7: a refusal says which target refuses which dead letter, and why', () => {
  const { key, value } = targetRefusalRecord(refusal)
  expect(key.toString()).toBe('mns://1.local/letters barnabas.dead-letter/3/17')
  expect(parseTargetRefusal(value)).toEqual(refusal)
  expect(parseTargetRefusal(targetRefusalRecord({ ...refusal, subscription: null }).value)).toMatchObject({
    subscription: null,
  })
})

test.each([null, '', 'not JSON', 'null', '[]', '{}', JSON.stringify({ ...refusal, offset: -1 }), '{"target": 7}'])(
  '%j is none',
  (value) => {
    expect(parseTargetRefusal(value === null ? null : Buffer.from(value))).toBe(null)
  },
)
