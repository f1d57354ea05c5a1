import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The demo's own webhook receiver on 127.0.0.1: each path answers in its own way. */
export interface DemoReceiver {
  readonly url: string
  close(): Promise<void>
}

/** `/delivered` takes everything, `/retried` refuses the first two attempts, `/refused` says 400, `/exhausted` always 503. */
export async function startDemoReceiver(): Promise<DemoReceiver> {
  const server = createServer((request, response) => {
    const attempt = Number(request.headers['barnabas-attempt'])
    request.resume()
    response.writeHead(statusOf(request.url ?? '/', attempt)).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function statusOf(path: string, attempt: number): number {
  switch (path) {
    case '/retried':
      return attempt <= 2 ? 503 : 200
    case '/refused':
      return 400
    case '/exhausted':
      return 503
    default:
      return 204
  }
}
