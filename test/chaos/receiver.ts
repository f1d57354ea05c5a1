import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Attempt } from './ledger.ts'

/** Takes requests as a webhook and writes each of them down. */
export interface ChaosReceiver {
  readonly origin: string
  readonly attempts: readonly Attempt[]
  /** Cuts every connection and refuses new ones. */
  leave(): Promise<void>
  comeBack(): Promise<void>
}

/** `answer` gives the status, null for none; then nothing is written until the sender gives up. */
export async function startReceiver(answer: (id: string, attempt: number) => number | null): Promise<ChaosReceiver> {
  const attempts: Attempt[] = []
  const server = createServer(take)
  server.keepAliveTimeout = 60_000

  function take(request: IncomingMessage, response: ServerResponse): void {
    const id = String(request.headers['ce-id'])
    const number = Number(request.headers['barnabas-attempt'])
    const at = Date.now()
    request.resume()
    const status = answer(id, number)
    const index = attempts.push({ id, number, at, answeredAt: null, status: null }) - 1
    if (status === null) return
    request.on('end', () => {
      attempts[index] = { id, number, at, answeredAt: Date.now(), status }
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
    origin: `http://127.0.0.1:${port}`,
    attempts,
    async leave() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
    comeBack: () => listen(port),
  }
}
