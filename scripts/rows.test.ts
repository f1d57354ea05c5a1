import { expect, test } from 'vitest'
import { readRows, reportRows, rowsCitedIn } from './rows.ts'

test.each([
  [`test('A6: a delay', () => {`, ['A6']],
  [`    title: 'A6, A10: a delay',`, ['A6', 'A10']],
  ['test.each(cases)(`B1: $title`, () => {', ['B1']],
  [`test('a delay (C3, C4)', () => {`, ['C3', 'C4']],
  ['/** When each attempt is made: rows A5, A6 and the interface. */', ['A5', 'A6']],
  [`// Row D4.`, ['D4']],
  [`test('the next one is as said (row A21)')`, ['A21']],
  // Nothing but a citation counts.
  [`'caf%C3%A9'`, []],
  [`/** D1 to D4 under fire */`, []],
  [`const A6 = map.get('A7')`, []],
  [`test('x', () => f(A6))`, []],
])('of %s the rows are %j', (source, rows) => {
  expect([...rowsCitedIn(source)]).toEqual(rows)
})

test('a row that works needs a test, and one that is later has none', () => {
  const rows = readRows(
    '| row | behaviour | now |\n| --- | --- | --- |\n| A1 | x | yes |\n| A2  | y | partly | z |\n| B1 | u | later |\n| D5 | v | later |',
  )
  expect(reportRows(rows, new Set(['A1', 'B1']))).toEqual({ unproved: ['A2'], noLongerLater: ['B1'], open: ['D5'] })
})

test('another word than yes, partly and later is refused by name', () => {
  expect(() => readRows('| C4 | x | soon |')).toThrow('C4: now is "soon"; one of yes, partly, later')
})
