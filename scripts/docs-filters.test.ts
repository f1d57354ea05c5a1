import { advancedOperators, parseSubscription } from '@barnabas/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { codeBlocks, differences, page, rowsOf, tableOf } from './markdown.ts'

test('the table of advanced operators in docs/event-grid.md', () => {
  const actual = rowsOf(
    Object.entries(advancedOperators),
    ([name]) => name,
    ([, { operand, field, whenMissing, onKubernetes }]) => ({
      operands: field === null ? 'none' : `\`${field}\`: ${operand}${field === 'values' ? 's' : ''}`,
      'a missing key': whenMissing ? 'passes' : 'does not pass',
      'on Kubernetes': onKubernetes ? 'yes' : 'no',
    }),
  )
  expect(differences('operators', tableOf(page('docs/event-grid.md'), 'Filters'), actual)).toBe('')
})

test.each(codeBlocks(page('docs/event-grid.md'), 'Filters').filter(({ language }) => language === 'yaml'))(
  'the example %# of a subscription validates',
  ({ text }) => {
    expect(parseSubscription(parse(text))).toMatchObject({ kind: 'valid', warnings: [] })
  },
)
