import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as a receiver saw it. `time` is when its head had arrived, ms since the epoch. */
export interface ReceivedRequest {
  readonly time: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** From `barnabas-attempt`. */
  readonly attempt: number
  /** From `ce-id`, or the `id` of a structured event; of a batch, that of its first event; empty without any. */
  readonly eventId: string
  /** Of all events in it. */
  readonly eventIds: readonly string[]
}

/** What a receiver does with a request: a status, or something worse. */
export type Answer =
  | number
  | 'hang'
  | 'reset'
  | { readonly status: number; readonly body?: string | Buffer; readonly headers?: Record<string, string> }
  /** These bytes on the connection, whether HTTP or not, and its end. */
  | { readonly raw: string }

export interface Receiver {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Resolves as soon as what was received satisfies the predicate. */
  until(isEnough: (requests: readonly ReceivedRequest[]) => boolean): Promise<readonly ReceivedRequest[]>
  /** Those of one event, in order of arrival. */
  of(eventId: string): readonly ReceivedRequest[]
  /** Resets every connection: what hangs is cut off. */
  cutOff(): void
  close(): Promise<void>
}

/** A webhook receiver on a free port of 127.0.0.1 that answers each request by the script, when that has decided. */
export async function startReceiver(script: (request: ReceivedRequest) => Answer | Promise<Answer>): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const waiters = new Set<() => void>()

  async function onRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const time = Date.now()
    const body = Buffer.concat(await incoming.toArray())
    const request = toRequest(time, incoming, body)
    requests.push(request)
    for (const check of waiters) check()
    answer(await script(request), incoming, response)
  }

  const server: Server = createServer((incoming, response) => {
    onRequest(incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    until(isEnough) {
      return new Promise((resolve) => {
        const check = () => {
          if (!isEnough(requests)) return
          waiters.delete(check)
          resolve(requests)
        }
        waiters.add(check)
        check()
      })
    },
    of: (eventId) => requests.filter(({ eventIds }) => eventIds.includes(eventId)),
    cutOff: () => server.closeAllConnections(),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function toRequest(time: number, { method = '', url = '/', headers }: IncomingMessage, body: Buffer): ReceivedRequest {
  const header = headers['ce-id']
  const eventIds = typeof header === 'string' ? [decodeURIComponent(header)] : idsOf(body)
  const attempt = Number(headers['barnabas-attempt'])
  return { time, method, path: url, headers, body, attempt, eventId: eventIds[0] ?? '', eventIds }
}

/** Of a handshake, which is no event, and of XML there is none. */
function idsOf(body: Buffer): readonly string[] {
  if (body.length === 0 || body.toString('utf8', 0, 1) === '<') return []
  const events = [JSON.parse(body.toString()) as { readonly id: string } | readonly { readonly id: string }[]].flat()
  return events.map(({ id }) => id)
}

function answer(given: Answer, incoming: IncomingMessage, response: ServerResponse): void {
  if (given === 'hang') return
  if (given === 'reset') {
    incoming.socket.resetAndDestroy()
    return
  }
  if (typeof given === 'object' && 'raw' in given) {
    incoming.socket.end(given.raw)
    return
  }
  const { status, body = '', headers = {} } = typeof given === 'number' ? { status: given } : given
  response.writeHead(status, headers).end(body)
}
