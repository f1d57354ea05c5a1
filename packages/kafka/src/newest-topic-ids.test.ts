import { expect, test } from 'vitest'
import { isRetriable } from './kafka-error.ts'
import { createNewestTopicIds } from './newest-topic-ids.ts'

const told = (ids: Record<string, string>) => new Map(Object.entries(ids))

test('the id of a topic that was made again is never taken for the former one again', () => {
  const newestOf = createNewestTopicIds()
  expect(newestOf(told({ a: '1', b: '2' }))).toEqual(told({ a: '1', b: '2' }))
  expect(newestOf(told({ a: '3' }))).toEqual(told({ a: '3' }))
  expect(newestOf(told({}))).toEqual(told({}))
  expect(() => newestOf(told({ b: '2', a: '1' }))).toThrow('a broker knows topic a as it was before')
  expect(newestOf(told({ a: '3', b: '2' }))).toEqual(told({ a: '3', b: '2' }))
})

test('a broker that is behind is asked again', () => {
  const newestOf = createNewestTopicIds()
  newestOf(told({ a: '1' }))
  newestOf(told({ a: '2' }))
  let error: unknown
  try {
    newestOf(told({ a: '1' }))
  } catch (caught) {
    error = caught
  }
  expect(isRetriable(error)).toBe(true)
})
