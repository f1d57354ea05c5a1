import { expect, test } from 'vitest'
import { similarNames } from './similar-names.ts'

test.each([
  ['tow', ['two', 'orders'], ['two']],
  ['orders', ['orders-to-billing', 'orders-to-stock', 'invoices'], ['orders-to-billing', 'orders-to-stock']],
  ['Orders-To-Billing', ['orders-to-billing'], ['orders-to-billing']],
  ['b', ['one-b', 'b-two', 'orders-b'], []],
  ['x', ['orders'], []],
  ['', ['orders'], []],
  ['o'.repeat(10_000), ['orders'], []],
  ['\u001b[2J', ['orders'], []],
])('%s among %j: %j', (written, names, similar) => {
  expect(similarNames(written, names)).toEqual(similar)
})
