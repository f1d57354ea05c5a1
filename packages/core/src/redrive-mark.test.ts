import { expect, test } from 'vitest'
import { parseRedriveMark, redriveMarkRecord } from './redrive-mark.ts'

const mark = {
  topic: 'barnabas.dead-letter',
  partition: 3,
  offset: 17,
  topicId: 'an-id',
  subscription: 'billing',
  redrives: 1,
  by: 'somebody',
  at: '2026-12-01T08:00:00.000Z',
}

test('B8: a mark names its dead letter, and who sent it when', () => {
  const { key, value } = redriveMarkRecord(mark)
  expect(key.toString()).toBe('barnabas.dead-letter/3/17')
  expect(JSON.parse(value.toString())).toMatchObject({ by: 'somebody', at: mark.at, subscription: 'billing' })
  expect(parseRedriveMark(key, value)).toEqual({ topic: mark.topic, partition: 3, offset: 17, topicId: 'an-id' })
})

test.each([
  ['not JSON', null],
  ['{}', null],
  ['{"topicId": 7}', null],
  ['null', null],
  ['{"topicId": "x", "of a later version": []}', 'x'],
])('one with the value %s counts: what was sent must not be sent again for its damage', (value, topicId) => {
  expect(parseRedriveMark(Buffer.from('a/0/1'), Buffer.from(value))).toMatchObject({ offset: 1, topicId })
})

test.each([null, '', 'a/0', 'a/0/x', 'a/b/0/1', 'a/0/1234567890123456', '\ud800'])(
  'the key %j names nothing',
  (key) => {
    expect(parseRedriveMark(key === null ? null : Buffer.from(key), Buffer.from('{}'))).toBe(null)
  },
)

test('one that was removed stands for nothing', () => {
  expect(parseRedriveMark(Buffer.from('a/0/1'), null)).toBe(null)
})
