import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { decodeEvent, type CloudEvent, type RequestShape } from '@barnabas/core'
import { onTestFinished } from 'vitest'
import { addressGuard, type AddressGuard } from './address-guard.ts'
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from './sender.ts'

/** A server on a free loopback port that ends, with all its connections, when the test does. */
export interface TestServer {
  readonly port: number
  /** `http://127.0.0.1:port` */
  readonly origin: string
  /** Every connection that was ever accepted. */
  readonly connections: readonly Socket[]
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<TestServer> {
  const connections: Socket[] = []
  server.on('connection', (socket: Socket) => {
    connections.push(socket)
    socket.on('error', () => {})
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, connections, origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}` }
}

/** A webhook receiver; requests are read before `answer` is called unless `answer` takes care of that itself. */
export function receiver(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  host?: string,
): Promise<TestServer> {
  return listen(createServer(answer), host)
}

/** A receiver that writes what it likes to the socket once the request begins to arrive. */
export function rawReceiver(answer: (socket: Socket) => void): Promise<TestServer> {
  return listen(createTcpServer((socket) => socket.once('data', () => answer(socket))))
}

/** Resolves when the other side's end of a connection is closed, in whatever way. */
export async function closed(connection: Socket | undefined): Promise<void> {
  if (connection === undefined) throw new Error('no connection was made')
  if (!connection.destroyed) await new Promise((resolve) => connection.once('close', resolve))
}

export function guardOf(...networks: string[]): AddressGuard {
  const result = addressGuard(networks)
  if (result.kind === 'invalid') throw new Error(result.message)
  return result.guard
}

/** A sender that may reach loopback and is closed with the test. */
export function loopbackSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = createWebhookSender({ addressGuard: guardOf('127.0.0.0/8', '::1/128'), ...options })
  onTestFinished(() => sender.close())
  return sender
}

export const testShape = {
  id: 'orders-to-billing',
  notation: 'barnabas',
  handshake: 'none',
  schema: 'CloudEventSchemaV1_0',
  mode: 'binary',
  headers: [],
} as const satisfies RequestShape

export const attemptOptions = {
  shape: testShape,
  attemptNumber: 1,
  timeoutMs: 10_000,
} as const

export function testEvent(
  value: Buffer | null = Buffer.from('{"a":1}'),
  attributes: Record<string, string> = {},
): CloudEvent {
  const headers: Record<string, Buffer> = { 'content-type': Buffer.from('application/json') }
  const all = { specversion: '1.0', id: '1', source: '/orders', type: 'created', ...attributes }
  for (const [name, text] of Object.entries(all)) headers[`ce_${name}`] = Buffer.from(text)
  const decoded = decodeEvent({ value, headers })
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}
