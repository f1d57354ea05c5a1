import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Attempt } from './ledger.ts'

/** Takes requests as a webhook and writes each of them down. */
export interface ChaosReceiver {
  /** On 127.0.0.1. */
  readonly port: number
  readonly attempts: readonly Attempt[]
  /** Cuts every connection and refuses new ones. */
  leave(): Promise<void>
  comeBack(): Promise<void>
}

/** `answer` gives the status, null for none; then nothing is written until the sender gives up. */
export async function startReceiver(answer: (id: string, attempt: number) => number | null): Promise<ChaosReceiver> {
  const attempts: Attempt[] = []
  const lastOf = new WeakMap<Socket, number>()
  const server = createServer(take)
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    socket.on('close', () => {
      const last = lastOf.get(socket)
      if (last !== undefined) attempts[last] = { ...attempts[last]!, closedAt: Date.now() }
    })
  })
  // On a busy machine the receiver looks late: between two looks a request may have waited for it.
  let lookedAt = Date.now()
  let lookedBefore = lookedAt
  setInterval(() => {
    lookedBefore = lookedAt
    lookedAt = Date.now()
  }, 10).unref()

  function take(request: IncomingMessage, response: ServerResponse): void {
    const id = String(request.headers['ce-id'])
    const number = Number(request.headers['barnabas-attempt'])
    const at = Date.now()
    request.resume()
    const status = answer(id, number)
    const index =
      attempts.push({ id, number, at, notBefore: lookedBefore, answeredAt: null, closedAt: null, status: null }) - 1
    lastOf.set(request.socket, index)
    if (status === null) return
    request.on('end', () => {
      attempts[index] = { ...attempts[index]!, answeredAt: Date.now(), status }
      response.writeHead(status, { 'content-length': '0' }).end()
    })
  }

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve())
    })
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    port,
    attempts,
    async leave() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
    comeBack: () => listen(port),
  }
}
