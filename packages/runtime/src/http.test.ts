import { once } from 'node:events'
import { request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHealth, type Health } from './health.ts'
import { startHealthServer, type HealthServerStart } from './http.ts'

type Listening = Extract<HealthServerStart, { kind: 'listening' }>

let health: Health
let server: Listening
let metricsText: () => Promise<string>

beforeEach(async () => {
  health = createHealth()
  metricsText = () => Promise.resolve('barnabas_dropped_total 1\n')
  server = await listening()
})
afterEach(() => server.close())

async function listening(): Promise<Listening> {
  const metrics = { contentType: 'text/plain; version=0.0.4', text: () => metricsText() }
  const start = await startHealthServer({ host: '127.0.0.1', port: 0, health, metrics })
  if (start.kind === 'failed') throw new Error(start.reason)
  return start
}

/** Sends the bytes as they are and gives what comes back until the server ends the connection. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  // A reset is a fair answer to garbage.
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

const ready = { ready: true, live: true, detail: 'connected to 127.0.0.1:9092' }

test('readyz follows the checks, with their names and sentences', async () => {
  const before = await fetch(`${server.url}/readyz`)
  expect([before.status, await before.json()]).toEqual([503, { status: 'failing', checks: {} }])
  health.set('kafka', ready)
  const after = await fetch(`${server.url}/readyz?verbose`)
  expect([after.status, await after.json()]).toEqual([200, { status: 'ok', checks: { kafka: ready } }])
  expect(after.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(after.headers.get('cache-control')).toBe('no-store')
})

test('livez is well although not ready, and fails with a dead check', async () => {
  health.set('kafka', { ...ready, ready: false })
  expect((await fetch(`${server.url}/livez`)).status).toBe(200)
  health.set('kafka', { ready: false, live: false, detail: 'the consumer has stopped' })
  const dead = await fetch(`${server.url}/livez`)
  expect(dead.status).toBe(503)
  expect(await dead.text()).toContain('the consumer has stopped')
})

test('metrics come as the registry writes them, or as an error when it cannot', async () => {
  const well = await fetch(`${server.url}/metrics`)
  expect([well.status, well.headers.get('content-type'), await well.text()]).toEqual([
    200,
    'text/plain; version=0.0.4',
    'barnabas_dropped_total 1\n',
  ])
  metricsText = () => Promise.reject(new Error('broken collector'))
  const broken = await fetch(`${server.url}/metrics`)
  expect([broken.status, await broken.text()]).toEqual([500, 'Error: broken collector\n'])
})

test.each(['/', '/livez/', '/LIVEZ', '/..%2f', '/__proto__', '/constructor', '/metrics%00', '//metrics'])(
  '%s is not found, and the paths are named',
  async (path) => {
    const answer = await fetch(`${server.url}${path}`)
    expect([answer.status, await answer.text()]).toEqual([404, 'Not found. Paths: /livez, /readyz, /metrics\n'])
  },
)

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not allowed', async (method) => {
  const answer = await fetch(`${server.url}/metrics`, { method })
  expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([
    405,
    'GET, HEAD',
    'Allowed are GET and HEAD.\n',
  ])
})

test('HEAD answers as GET without the body', async () => {
  const answer = await fetch(`${server.url}/metrics`, { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '25', ''])
})

test.each([
  ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 400 /],
  ['a header without end', `GET /livez HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, /^(HTTP\/1\.1 4\d\d |$)/],
  ['a bad version', 'GET /livez HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 400 /],
  [
    'two lengths',
    'GET /livez HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    /^HTTP\/1\.1 400 /,
  ],
  ['no host', 'GET /livez HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a target that is no path', 'GET http://[ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', /^HTTP\/1\.1 404 /],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', /^$/],
  [
    'an upgrade',
    'GET /livez HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: close, upgrade\r\n\r\n',
    /^(HTTP\/1\.1 200 |$)/,
  ],
])('%s does no harm', async (_name, bytes, expected) => {
  expect(await raw(bytes)).toMatch(expected)
  expect((await fetch(`${server.url}/livez`)).status).toBe(200)
})

test('a client that goes away in the middle of an answer does no harm', async () => {
  const text = Promise.withResolvers<string>()
  const asked = Promise.withResolvers<void>()
  metricsText = () => {
    asked.resolve()
    return text.promise
  }
  const going = request(`${server.url}/metrics`)
  going.on('error', () => {})
  going.end()
  await asked.promise
  going.destroy()
  text.resolve('x'.repeat(5_000_000))
  expect((await fetch(`${server.url}/livez`)).status).toBe(200)
})

test('a port in use is an error with a sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const start = await startHealthServer({
    host: '127.0.0.1',
    port,
    health,
    metrics: { contentType: '', text: metricsText },
  })
  other.close()
  expect(start).toEqual({
    kind: 'failed',
    reason: `port ${port} on 127.0.0.1 is in use; set BARNABAS_HTTP_PORT to another one (0 for any free one)`,
  })
})

test('close ends an open connection and frees the port', async () => {
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await server.close()
  await closed
  await server.close()
  await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
})

test('a path of none of these may be answered by somebody else, who sees method, path and headers', async () => {
  await server.close()
  const asked: unknown[] = []
  const start = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    health,
    metrics: { contentType: 'text/plain', text: () => metricsText() },
    async others({ method, path, headers, remoteAddress }) {
      asked.push([method, path, headers['x-test'], remoteAddress])
      if (path === '/broken') throw new Error('broken')
      return path === '/mine' ? { status: 410, contentType: 'text/plain', body: 'gone\n' } : null
    },
  })
  if (start.kind === 'failed') throw new Error(start.reason)
  server = start
  const mine = await fetch(`${server.url}/mine?a=1`, { method: 'POST', body: 'ignored', headers: { 'x-test': 'x' } })
  expect([mine.status, await mine.text()]).toEqual([410, 'gone\n'])
  expect((await fetch(`${server.url}/theirs`)).status).toBe(404)
  expect((await fetch(`${server.url}/broken`)).status).toBe(500)
  expect((await fetch(`${server.url}/livez`)).status).toBe(200)
  expect(asked).toEqual([
    ['POST', '/mine', 'x', '127.0.0.1'],
    ['GET', '/theirs', undefined, '127.0.0.1'],
    ['GET', '/broken', undefined, '127.0.0.1'],
  ])
})
