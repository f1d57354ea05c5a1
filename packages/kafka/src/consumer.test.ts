import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { connectKafka } from './index.ts'

const nothing = (): void => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

test('stopped while a broker does not answer yet: its start says so, and nothing is left unhandled', async () => {
  const mute = createServer().listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const { port } = mute.address() as AddressInfo
  const kafka = connectKafka({ brokers: [`127.0.0.1:${port}`], clientId: 'test', logger: silent })
  const consumer = kafka.consumer({
    groupId: 'g',
    topics: ['orders'],
    onRecords: nothing,
    onAssigned: nothing,
    onFailed: nothing,
  })
  const asked = once(mute, 'connection')
  const start = consumer.start().then(
    () => 'joined',
    (error: unknown) => String(error),
  )
  const [connection] = (await asked) as [Socket]
  await consumer.stop()
  expect(await start).toContain('was stopped before it had joined')
  connection.destroy()
  await kafka.close()
  mute.close()
})
