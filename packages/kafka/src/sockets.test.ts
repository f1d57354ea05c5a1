import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { sockets } from './sockets.ts'

test('a dead connection that is disconnected again and again keeps no listener of it', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')

  const socket = sockets({ host: '127.0.0.1', port, ssl: undefined as never, onConnect: () => {} })
  await new Promise((resolve) => socket.on('error', () => {}).on('close', resolve))
  const before = socket.listenerCount('connect')
  for (let times = 0; times < 20; times++) {
    socket.end()
    socket.unref()
  }
  expect(socket.listenerCount('connect')).toBe(before)
})
