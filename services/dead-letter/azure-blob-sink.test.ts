import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAzureBlobSink } from './azure-blob-sink.ts'

test('A13: a store that hangs is one that may pass, and is said to hang', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const account = { endpoint: `http://127.0.0.1:${port}/archive`, key: Buffer.from('key').toString('base64') }
  const sink = await createAzureBlobSink({ account: 'archive', container: 'letters' }, account, 100)
  expect(await sink.write('a.json', Buffer.from('[]'), new AbortController().signal)).toEqual({
    kind: 'unavailable',
    message: 'no answer within 0.1 s',
  })
})
