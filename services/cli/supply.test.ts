import { expect, test } from 'vitest'
import { supply } from './supply.ts'

const properties = { destination: {} }

test.each([
  [{ properties }, { id: 'a', topics: ['x', 'y'] }, { properties, id: 'a', topics: ['x', 'y'] }],
  [{ properties }, {}, { properties }],
  [{ id: '/subscriptions/1/x', properties }, { id: 'a' }, { id: 'a', properties }],
  [{ id: null, properties }, { id: 'a' }, { id: 'a', properties }],
  [
    { id: 'a', topics: ['y', 'x'] },
    { id: 'a', topics: ['x', 'y'] },
    { id: 'a', topics: ['x', 'y'] },
  ],
  ['text', { id: 'a' }, 'text'],
  [null, { id: 'a' }, null],
  [[], { id: 'a' }, []],
])('%j with %j is %j', (value, supplied, expected) => {
  expect(supply(value, supplied)).toEqual({ value: expected, problems: [] })
})

test.each([
  [{ id: 'b' }, { id: 'a' }, 'id: is not the "a" of --id; say it once'],
  [{ id: 7 }, { id: 'a' }, 'id: is not the "a" of --id; say it once'],
  [{ topics: ['x'] }, { topics: ['y', 'z'] }, 'topics: are not the y, z of --topic; say them once'],
  [{ topics: 'x' }, { topics: ['x'] }, 'topics: are not the x of --topic; say them once'],
])('%j contradicts %j', (value, supplied, message) => {
  expect(supply(value, supplied).problems.map((problem) => problem.message)).toEqual([message])
})
