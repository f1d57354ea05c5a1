import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPoster } from '@barnabas/webhook'
import type { Poster } from '@barnabas/webhook'
import { onTestFinished } from 'vitest'

/** A request as it came. */
export interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface HttpTarget {
  readonly seen: readonly Seen[]
  /** `127.0.0.1:PORT` */
  readonly authority: string
  readonly endpoint: string
  readonly poster: Poster
}

/** A server on a free port of loopback, and what posts to it; both end with the test. */
export async function httpTarget(
  answer: (response: ServerResponse, seen: readonly Seen[]) => void,
): Promise<HttpTarget> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      const { method, url, headers } = request
      seen.push({ method, url, headers, body: Buffer.concat(chunks) })
      answer(response, seen)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const poster = createPoster()
  onTestFinished(async () => {
    await poster.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { seen, authority, endpoint: `http://${authority}`, poster }
}

/** What an HTTP client adds by itself, and no signature covers. */
export function withoutOwnHeaders(headers: Seen['headers']): Seen['headers'] {
  const own = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'user-agent', 'accept-encoding'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)))
}
