import { unknownShape } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { RocketMqConnection, UnknownConnection } from '@barnabas/host'
import { expect, test } from 'vitest'
import { createRocketMqTarget } from './rocketmq-target.ts'

const letter: KafkaRecord = {
  topic: 'barnabas.dead-letter',
  partition: 3,
  offset: 7,
  timestamp: 1,
  key: null,
  value: Buffer.from('{"n": 1e2}'),
  headers: { 'barnabas-subscription': Buffer.from('orders') },
}
const never = new AbortController().signal
/** Nobody listens there. */
const away: RocketMqConnection = {
  kind: 'connection',
  endpoints: ['127.0.0.1:1'],
  isSecure: false,
  namespace: '',
  login: null,
}

function targetOf(connection: () => RocketMqConnection | UnknownConnection) {
  return createRocketMqTarget({ topic: 'letters', connection, shapeOf: () => unknownShape })
}

test('B7: what no file names, and a RocketMQ that is away, are tried again', async () => {
  let found: RocketMqConnection | UnknownConnection = { kind: 'unknown', message: 'the connection x is not known' }
  const target = targetOf(() => found)
  const unknown = { kind: 'unavailable', message: 'the connection x is not known' }
  expect(await target.write([letter, letter], never)).toEqual([unknown, unknown])
  found = away
  const refused = { kind: 'unavailable', message: expect.stringContaining('ECONNREFUSED') as string }
  expect(await target.write([letter, letter], never)).toEqual([refused, refused])
  // Another password is taken up by another connection.
  found = { ...away, login: { username: 'me', password: 'hunter2' } }
  const [write] = await target.write([letter], never)
  expect(write).toEqual(refused)
  expect(JSON.stringify(write)).not.toContain('hunter2')
  await target.close()
})

test('an address that the client does not take is no reason to end', async () => {
  const target = targetOf(() => ({ ...away, endpoints: [''] }))
  expect(await target.write([letter], never)).toMatchObject([{ kind: 'unavailable' }])
  await target.close()
})

test('our own stop cuts off what is under way', async () => {
  const target = targetOf(() => away)
  const cut = { kind: 'unavailable', message: 'cut off by our own stop' }
  expect(await target.write([letter], AbortSignal.abort())).toEqual([cut])
  await target.close()
})
