import { parseSubscription, patternOperators } from '@barnabas/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { codeBlocks, differences, onlyKeys, page, tableOf } from './markdown.ts'

const eventBridge = page('docs/eventbridge.md')

test('the table of operators in docs/eventbridge.md', () => {
  const operators = onlyKeys(Object.keys(patternOperators))
  expect(differences('operators', tableOf(eventBridge, 'Patterns'), operators)).toBe('')
})

test.each(codeBlocks(eventBridge, 'Patterns').filter(({ language }) => language === 'yaml'))(
  'the example %# of a pattern validates',
  ({ text }) => {
    expect(parseSubscription(parse(text))).toMatchObject({ kind: 'valid', warnings: [] })
  },
)
