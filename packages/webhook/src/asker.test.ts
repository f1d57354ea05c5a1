import { onTestFinished, expect, test, vi } from 'vitest'
import type { DeliveryAttribute, FindSecret, PlainRequest } from '@barnabas/core'
import { createAsker } from './asker.ts'
import { closed, guardOf, rawReceiver, receiver } from './test-receiver.ts'

const loopback = guardOf('127.0.0.0/8', '::1/128')
const post: PlainRequest = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '[{}]' }
const options: PlainRequest = { method: 'OPTIONS', headers: { 'webhook-request-origin': 'barnabas.local' }, body: null }

const findSecret: FindSecret = (name) =>
  name === 'KEY' ? { kind: 'value', value: 'hunter2' } : { kind: 'unknown', message: `no secret ${name} here` }
const askerOf = (addressGuard = loopback) => createAsker({ addressGuard, findSecret })

function ask(url: string, request = post, timeoutMs = 10_000, signal = new AbortController().signal) {
  return askerOf().ask(request, { url, headers: [], timeoutMs, signal })
}

test('a subscription’s headers go along that come from no event, and a missing secret is no request', async () => {
  const seen: unknown[] = []
  const { origin } = await receiver((request, response) => {
    const { 'x-team': team, authorization, 'x-id': id, 'content-type': type } = request.headers
    seen.push({ team, authorization, id, type })
    response.end()
  })
  const headers: readonly DeliveryAttribute[] = [
    { kind: 'static', name: 'X-Team', value: 'billing' },
    { kind: 'secret', name: 'Authorization', secret: 'KEY' },
    { kind: 'dynamic', name: 'X-Id', path: ['id'] },
  ]
  const signal = new AbortController().signal
  const asked = { url: origin, timeoutMs: 10_000, signal }
  expect(await askerOf().ask(post, { ...asked, headers })).toMatchObject({ kind: 'answered', status: 200 })
  expect(await askerOf().ask(options, { ...asked, headers })).toMatchObject({ kind: 'answered', status: 200 })
  const sent = { team: 'billing', authorization: 'hunter2', id: undefined }
  expect(seen).toEqual([
    { ...sent, type: 'application/json' },
    { ...sent, type: undefined },
  ])
  const missing = [{ kind: 'secret', name: 'Authorization', secret: 'OTHER' }] as const
  expect(await askerOf().ask(post, { ...asked, headers: missing })).toEqual({
    kind: 'unanswered',
    problem: 'headers.Authorization: no secret OTHER here',
  })
  expect(seen).toHaveLength(2)
})

test('the exact URL is asked, its query kept, and the answer comes as it is', async () => {
  const seen: unknown[] = []
  const { origin, connections } = await receiver((request, response) => {
    const { method, url, headers } = request
    void request.toArray().then((chunks: Buffer[]) => {
      const body = Buffer.concat(chunks).toString()
      seen.push({ method, url, body, type: headers['content-type'], accept: headers.accept })
      response.writeHead(200, { 'content-type': 'application/json' })
      // Chunked, as broken validations once showed (spec event-grid.md 2.1, azure-docs#51296).
      response.write('{"validationResponse":')
      response.end('"x"}')
    })
  })
  expect(await ask(`${origin}/hook?code=a%20b`)).toEqual({
    kind: 'answered',
    status: 200,
    allowedOrigin: null,
    allowedRate: null,
    body: '{"validationResponse":"x"}',
    isBodyCut: false,
  })
  expect(seen).toEqual([
    { method: 'POST', url: '/hook?code=a%20b', body: '[{}]', type: 'application/json', accept: undefined },
  ])
  await closed(connections[0])
})

test('OPTIONS carries no body, and the headers of the consent are read', async () => {
  const { origin } = await receiver((request, response) => {
    expect(request.method).toBe('OPTIONS')
    expect(request.headers['webhook-request-origin']).toBe('barnabas.local')
    expect(request.headers['content-length']).toBeUndefined()
    response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'webhook-allowed-rate': '120' }).end()
  })
  expect(await ask(origin, options)).toMatchObject({ allowedOrigin: '*', allowedRate: '120' })
})

test('a redirect is not followed', async () => {
  const { origin, connections } = await receiver((_request, response) =>
    response.writeHead(307, { location: '/elsewhere' }).end(),
  )
  expect(await ask(origin)).toMatchObject({ kind: 'answered', status: 307 })
  expect(connections).toHaveLength(1)
})

test('an answer of 1 GB is cut, and its connection ends', async () => {
  let writtenBytes = 0
  const { origin, connections } = await receiver((_request, response) => {
    response.writeHead(200, { 'content-length': String(1024 ** 3) })
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const more = () => {
      while (!response.destroyed && response.write(chunk)) writtenBytes += chunk.length
      response.once('drain', more)
    }
    more()
  })
  const reply = await ask(origin)
  expect(reply).toMatchObject({ kind: 'answered', status: 200, isBodyCut: true })
  expect(reply.kind === 'answered' && reply.body.length).toBe(65_536)
  await closed(connections[0])
  expect(writtenBytes).toBeLessThan(100 * 1024 * 1024)
})

test.each<[string, Parameters<typeof rawReceiver>[0], string]>([
  ['hangs', () => {}, 'no complete answer within 0.1 s'],
  ['drips for ever', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nx'), 'no complete answer within 0.1 s'],
  ['is no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), 'is not HTTP/1.1'],
  ['is reset', (socket) => socket.resetAndDestroy(), 'connection reset by'],
])('an answer that %s is none, and is said in one line', async (_what, answer, problem) => {
  const { origin, connections } = await rawReceiver(answer)
  const reply = await ask(origin, post, 100)
  expect(reply).toEqual({ kind: 'unanswered', problem: expect.stringContaining(problem) })
  await closed(connections[0])
})

test('our own stop ends it at once', async () => {
  const { origin, connections } = await rawReceiver(() => {})
  const stop = new AbortController()
  const reply = ask(origin, post, 60_000, stop.signal)
  await vi.waitFor(() => expect(connections).toHaveLength(1))
  stop.abort()
  expect(await reply).toEqual({ kind: 'unanswered', problem: 'cut off by our own stop' })
  await closed(connections[0])
})

test.each(['http://127.0.0.1:1/', 'https://receiver.invalid/', 'ftp://x/', 'no URL'])(
  'the guard holds for %s: nothing is asked',
  async (url) => {
    const connections: string[] = []
    const asker = createAsker({
      findSecret,
      addressGuard: guardOf(),
      resolveAll: (name, callback) => {
        connections.push(name)
        callback(null, [{ address: '127.0.0.1', family: 4 }])
      },
    })
    onTestFinished(() => expect(connections.length).toBeLessThanOrEqual(1))
    const reply = await asker.ask(post, { url, headers: [], timeoutMs: 1_000, signal: new AbortController().signal })
    expect(reply.kind).toBe('unanswered')
    if (url.startsWith('http'))
      expect(reply).toMatchObject({ problem: expect.stringContaining('BARNABAS_ALLOWED_NETWORKS') })
  },
)
