import { parseSubscription } from '@barnabas/core'
import type { AttemptResult } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createForbiddenAddresses } from './forbidden-addresses.ts'

const parsed = parseSubscription({ id: 'orders', topics: ['t'], sink: 'https://hook.internal/' })
if (parsed.kind === 'invalid') throw new Error('it is valid')
const { subscription } = parsed
const result: AttemptResult = {
  outcome: 'ResolutionError',
  forbiddenAddress: true,
  error: '10.1.2.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10.0.0.0/8',
  status: null,
  responseBody: null,
  startedAt: 0,
  endedAt: 0,
}
const { forbiddenAddress: _forbidden, ...other } = result

function counted(results: readonly AttemptResult[], ids: readonly string[] = ['orders']) {
  const said: string[] = []
  const addresses = createForbiddenAddresses(({ id }, reason) => said.push(`${id}: ${reason}`))
  for (const each of results) for (const id of ids) addresses.observe({ ...subscription, id }, each)
  return { said, addresses }
}

const times = (count: number) => Array.from({ length: count }, () => result)

test('the tenth in a row is told with its reason, and then every tenth', () => {
  expect(counted(times(9)).said).toEqual([])
  const { said } = counted(times(10))
  expect(said).toEqual([expect.stringMatching(/^orders: sink: 10\.1\.2\.3 is a private address; allow it with /)])
  expect(counted(times(30)).said).toHaveLength(3)
})

test('subscriptions count apart; another outcome, and a change, begin anew', () => {
  expect(counted(times(9), ['one', 'two']).said).toEqual([])
  expect(counted([...times(9), other, ...times(9)]).said).toEqual([])
  const { said, addresses } = counted(times(9))
  addresses.forget('orders')
  addresses.observe(subscription, result)
  expect(said).toEqual([])
})
