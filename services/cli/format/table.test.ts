import { expect, test } from 'vitest'
import { table } from './table.ts'

test('columns are as wide as their widest cell, what is empty is a dash, and no line ends in blanks', () => {
  const text = table(
    ['ID', 'TOPICS', 'AGE'],
    [
      ['a-long-id', 'x', '5m'],
      ['b', '', ''],
      ['c\u001b[2J\n', 'x,y', '1d'],
    ],
  )
  expect(text.split('\n')).toEqual([
    'ID            TOPICS  AGE',
    'a-long-id     x       5m',
    'b             -       -',
    'c\\u001b[2J\\n  x,y     1d',
  ])
})
