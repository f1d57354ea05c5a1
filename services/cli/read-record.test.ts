import { expect, test } from 'vitest'
import { parsePosition } from './read-record.ts'

test('a position is topic, partition and offset', () => {
  expect(parsePosition('barnabas.dead-letter/3/17')).toEqual({
    topic: 'barnabas.dead-letter',
    partition: 3,
    offset: 17,
  })
})

test.each([
  '',
  '/',
  'topic',
  'topic/1',
  'topic/1/',
  'topic/-1/2',
  'topic/1/x',
  'a/b/1/2',
  'to pic/1/2',
  '../1/2/3',
  '/1/2',
])('%j is none', (text) => {
  expect(() => parsePosition(text)).toThrow(/is not a position; write TOPIC\/PARTITION\/OFFSET/)
})
