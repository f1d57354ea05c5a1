import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health, HealthReport } from './health.ts'
import type { Metrics } from './metrics.ts'

export interface HealthServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly health: Health
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Answers paths that are none of these; null for one that it does not know either. */
  readonly others?: (request: HttpRequest) => Promise<HttpAnswer | null>
}

export interface HttpRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
}

/** `failed` carries a sentence for a person. */
export type HealthServerStart =
  | { readonly kind: 'listening'; readonly port: number; readonly url: string; readonly close: () => Promise<void> }
  | { readonly kind: 'failed'; readonly reason: string }

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const limits = { connectionsMax: 1_000, headerBytesMax: 8 * 1024, requestMs: 5_000, keepAliveMs: 5_000 } as const

/** `GET /livez`, `/readyz` and `/metrics`, and what `others` answers. `close` ends open connections too and never rejects. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServerStart> {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: 1_000,
  })
  server.maxConnections = limits.connectionsMax
  const answers: Answers = {
    '/livez': async () => healthAnswer(options.health.live()),
    '/readyz': async () => healthAnswer(options.health.ready()),
    '/metrics': async () => ({
      status: 200,
      contentType: options.metrics.contentType,
      body: await options.metrics.text(),
    }),
  }
  server.on('request', (request, response) => void respond(answers, options.others, request, response))
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    else socket.destroy()
  })
  const error = await listening(server, options.host, options.port)
  if (error !== null) return { kind: 'failed', reason: whyNot(error, options) }
  // After listening, an error of the server (no more file handles …) must not end the process.
  server.on('error', () => {})

  const { port } = server.address() as AddressInfo
  return {
    kind: 'listening',
    port,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Answers = Readonly<Record<string, () => Promise<HttpAnswer>>>

async function respond(
  answers: Answers,
  others: HealthServerOptions['others'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerTo(answers, others, request).catch((error: unknown): HttpAnswer =>
    text(500, `${String(error)}\n`),
  )
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : answer.body)
}

async function answerTo(answers: Answers, others: HealthServerOptions['others'], request: IncomingMessage) {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
  if (answer === undefined) {
    const { method = '', headers, socket } = request
    const other = await others?.({ method, path, headers, remoteAddress: socket.remoteAddress ?? '' })
    if (other !== undefined && other !== null) return other
  }
  if (answer === undefined) return text(404, `Not found. Paths: ${Object.keys(answers).join(', ')}\n`)
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'Allowed are GET and HEAD.\n')
  return await answer()
}

function healthAnswer(report: HealthReport): HttpAnswer {
  const body = { status: report.isOk ? 'ok' : 'failing', checks: report.checks }
  return {
    status: report.isOk ? 200 : 503,
    contentType: 'application/json; charset=utf-8',
    body: `${JSON.stringify(body)}\n`,
  }
}

const text = (status: number, body: string): HttpAnswer => ({ status, contentType: 'text/plain; charset=utf-8', body })

function listening(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.listen(port, host, () => {
      server.off('error', resolve)
      resolve(null)
    })
  })
}

function whyNot(error: NodeJS.ErrnoException, { host, port }: HealthServerOptions): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use; set BARNABAS_HTTP_PORT to another one (0 for any free one)`
    case 'EACCES':
      return `port ${port} on ${host} needs more rights than this process has; set BARNABAS_HTTP_PORT to one above 1023`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine; set BARNABAS_HTTP_HOST to one, such as 127.0.0.1`
    default:
      return `cannot listen on ${host}, port ${port}: ${error.message}`
  }
}
