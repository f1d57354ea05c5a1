import { expect, test } from 'vitest'
import { anchors, differences, tableOf } from './markdown.ts'

test('a row that is missing, extra or different is named', () => {
  const table = tableOf('# A\n\n| n | v |\n| - | - |\n| `a` | 1 |\n| `b` | 2 |\n', 'A')
  const actual = new Map([
    ['b', { v: '3' }],
    ['c', { v: '4' }],
  ])
  expect(differences('page', table, actual)).toBe(
    'page: the row c is missing\n' +
      'page: the row a is not in the code\n' +
      'page: b: v: the page says "2", the code "3"',
  )
})

test('tables are found by their heading and number', () => {
  const markdown = '# A\n\n| n |\n| - |\n| a |\n\ntext\n\n| n |\n| - |\n| b |\n\n## B\n\n| n |\n| - |\n| c |\n'
  expect([...tableOf(markdown, 'A', 2).keys()]).toEqual(['b'])
  expect([...tableOf(markdown, 'B').keys()]).toEqual(['c'])
  expect(() => tableOf(markdown, 'B', 2)).toThrow('there is no table 2 below "B"')
  expect(() => tableOf(markdown, 'C')).toThrow('there is no heading "C"')
  expect(() => tableOf('# A\n| n |\n| - |\n| a |\n| `a` |\n', 'A')).toThrow('the row a stands twice below "A"')
})

test('anchors are those that GitHub makes', () => {
  expect([...anchors('# What a webhook receives\n\n## Built now, and later\n')]).toEqual([
    'what-a-webhook-receives',
    'built-now-and-later',
  ])
})
