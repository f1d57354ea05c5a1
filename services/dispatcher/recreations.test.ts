import { expect, test } from 'vitest'
import { createRecreations } from './recreations.ts'

test('a topic is made again when its name has another id, also when it was missing in between', () => {
  const recreations = createRecreations()
  const livesOfBoth = () => recreations.livesOf(['a', 'b'])
  const unseen = livesOfBoth()
  expect(recreations.idsAre(new Map([['a', '1']]))).toEqual([])
  expect(recreations.idsAre(new Map(Object.entries({ a: '1', b: '2' })))).toEqual([])
  expect(livesOfBoth()).toBe(unseen)
  expect(recreations.idsAre(new Map([['b', '2']]))).toEqual([])
  expect(livesOfBoth()).toBe(unseen)
  expect(recreations.idsAre(new Map(Object.entries({ a: '3', b: '2' })))).toEqual(['a'])
  expect(livesOfBoth()).not.toBe(unseen)
  expect(recreations.livesOf(['b', 'a'])).toBe(recreations.livesOf(['b', 'a'].toReversed()))
})

test('brokers that tell no ids make nothing new', () => {
  const recreations = createRecreations()
  const before = recreations.livesOf(['a'])
  expect(recreations.idsAre(new Map())).toEqual([])
  expect(recreations.livesOf(['a'])).toBe(before)
})
