import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Outcome } from '@barnabas/core'
import { expect, test } from 'vitest'
import { attemptOptions, closed, loopbackSender, rawReceiver, receiver, testEvent, testShape } from './test-receiver.ts'

const statuses: readonly [number, Outcome, string | null][] = [
  [200, 'Delivered', null],
  [201, 'Delivered', null],
  [202, 'Delivered', null],
  [203, 'Delivered', null],
  [204, 'Delivered', null],
  [205, 'GenericError', 'answered 205 Reset Content'],
  [206, 'GenericError', 'answered 206 Partial Content'],
  [299, 'GenericError', 'answered 299'],
  [302, 'GenericError', 'answered 302 Found; redirects are not followed'],
  [304, 'GenericError', 'answered 304 Not Modified; redirects are not followed'],
  [400, 'BadRequest', 'answered 400 Bad Request'],
  [401, 'Unauthorized', 'answered 401 Unauthorized'],
  [403, 'Forbidden', 'answered 403 Forbidden'],
  [404, 'NotFound', 'answered 404 Not Found'],
  [408, 'TimedOut', 'answered 408 Request Timeout'],
  [410, 'NotFound', 'answered 410 Gone'],
  [413, 'PayloadTooLarge', 'answered 413 Payload Too Large'],
  [429, 'Busy', 'answered 429 Too Many Requests'],
  [500, 'GenericError', 'answered 500 Internal Server Error'],
  [503, 'Busy', 'answered 503 Service Unavailable'],
  [599, 'GenericError', 'answered 599'],
]

test.each(statuses)('A16, A18: success is exactly 200–204; %i is %s', async (status, outcome, error) => {
  const { origin } = await receiver((request, response) => {
    request.resume()
    response.writeHead(status, { location: '/elsewhere' }).end()
  })
  const before = Date.now()
  const result = await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: origin })
  expect(result).toEqual({
    outcome,
    status,
    error,
    responseBody: null,
    startedAt: expect.any(Number),
    endedAt: expect.any(Number),
  })
  expect(result.startedAt).toBeGreaterThanOrEqual(before)
  expect(result.endedAt).toBeGreaterThanOrEqual(result.startedAt)
  expect(result.endedAt).toBeLessThanOrEqual(Date.now())
})

test.each<[number, string | string[], number | null]>([
  [503, '120', 120_000],
  [429, '7', 7_000],
  [503, ['3', '600'], 3_000],
  [503, 'when the moon is full', null],
  // Only where the receiver says that it is too busy now.
  [500, '120', null],
  [301, '120', null],
  [200, '120', null],
])('of %i with Retry-After: %s the result says when', async (status, value, afterMs) => {
  const { origin } = await receiver((request, response) => {
    request.resume()
    response.setHeader('retry-after', value).writeHead(status).end()
  })
  const { retryAfter, endedAt } = await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: origin })
  expect(retryAfter === undefined ? null : retryAfter - endedAt).toBe(afterMs)
})

test('A2: one request carries one event, its bytes untouched, and attribute values percent-encoded', async () => {
  const requests: { request: IncomingMessage; body: Buffer }[] = []
  const { origin } = await receiver(async (request, response) => {
    requests.push({ request, body: await buffer(request) })
    response.end()
  })
  const value = Buffer.from([0, 255, 13, 10, 123])
  const event = testEvent(value, { subject: 'line\r\nX-Injected: 1 "€"' })
  const url = `${origin}/hook/a%20b?code=1&x=%22`
  const result = await loopbackSender().attempt([event], { ...attemptOptions, url, attemptNumber: 7 })

  expect(result.outcome).toBe('Delivered')
  const [received] = requests
  expect(requests).toHaveLength(1)
  expect(received?.body).toEqual(value)
  expect(received?.request).toMatchObject({ method: 'POST', url: '/hook/a%20b?code=1&x=%22' })
  expect(received?.request.headers).toEqual({
    host: origin.slice('http://'.length),
    connection: 'keep-alive',
    'user-agent': 'barnabas',
    'barnabas-subscription': 'orders-to-billing',
    'barnabas-attempt': '7',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/orders',
    'ce-type': 'created',
    'ce-subject': 'line%0D%0AX-Injected:%201%20%22%E2%82%AC%22',
    'content-type': 'application/json',
    'content-length': '5',
  })
})

test('a redirect is not followed', async () => {
  const paths: (string | undefined)[] = []
  const { origin } = await receiver((request, response) => {
    paths.push(request.url)
    request.resume()
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: `${origin}/hook` })
  expect(paths).toEqual(['/hook'])
})

test('an event without data is a request without a body', async () => {
  const lengths: (string | undefined)[] = []
  const { origin } = await receiver((request, response) => {
    lengths.push(request.headers['content-length'])
    response.end()
  })
  const result = await loopbackSender().attempt([testEvent(null)], { ...attemptOptions, url: origin })
  expect(result.outcome).toBe('Delivered')
  expect(lengths).toEqual(['0'])
})

test.each([
  ['no byte of an answer', ''],
  ['half a status line', 'HTTP/1.1 20'],
  ['an unfinished head', 'HTTP/1.1 200 OK\r\nx: y\r\n'],
  ['an interim answer only', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])('A5: %s within the time is TimedOut, and ends at the deadline', async (_what, bytes) => {
  const { origin, connections } = await rawReceiver((socket) => socket.write(bytes))
  const timeoutMs = 150
  const result = await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: origin, timeoutMs })
  const known = Date.now()
  expect(result).toMatchObject({ outcome: 'TimedOut', status: null, responseBody: null })
  expect(result.error).toBe('no complete answer head within 0.15 s')
  expect(result.endedAt).toBe(result.startedAt + timeoutMs)
  expect(known - result.endedAt).toBeLessThan(1_000)
  // The connection is not left to a receiver that may still answer.
  const [connection] = connections
  await closed(connection)
})

test('A5: the time includes the look-up of the name, and a look-up that never ends holds nothing up', async () => {
  const sender = loopbackSender({ resolveAll: () => {} })
  const options = { ...attemptOptions, url: 'http://receiver.invalid/', timeoutMs: 50, connectionsMax: 1 }
  const first = await sender.attempt([testEvent()], options)
  const second = await sender.attempt([testEvent()], options)
  expect([first.outcome, second.outcome]).toEqual(['TimedOut', 'TimedOut'])
  expect(second.endedAt - first.startedAt).toBeLessThan(1_000)
})

test('A5: the time includes the upload of a receiver that does not read', async () => {
  const { origin } = await rawReceiver((socket) => socket.pause())
  const event = testEvent(Buffer.alloc(20_000_000))
  const result = await loopbackSender().attempt([event], { ...attemptOptions, url: origin, timeoutMs: 200 })
  expect(result.outcome).toBe('TimedOut')
})

test('A18: an answer that waits in the socket when a busy process comes back is not a time-out', async () => {
  const { origin } = await receiver((request, response) => {
    request.resume()
    response.end()
    // The process (receiver and sender are one here) is kept from looking until long after the deadline.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600))
  })
  const result = await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: origin, timeoutMs: 400 })
  expect(result.outcome).toBe('Delivered')
})

test('an early 413 ends a large upload and is understood', async () => {
  const { origin } = await receiver((_request, response) => {
    response.writeHead(413).end('too large')
  })
  const event = testEvent(Buffer.alloc(20_000_000))
  const result = await loopbackSender().attempt([event], { ...attemptOptions, url: origin })
  expect(result).toMatchObject({ outcome: 'PayloadTooLarge', status: 413 })
})

test('A3: what no request can be built for is no attempt, and says why', async () => {
  const shape = { ...testShape, schema: 'EventGridSchema', mode: 'structured' } as const
  const result = await loopbackSender().attempt([testEvent()], { ...attemptOptions, shape, url: 'http://127.0.0.1:9/' })
  expect(result).toMatchObject({
    isNoRequest: true,
    status: null,
    error: "no request can be built: a CloudEvent in binary mode has no form in Event Grid's schema",
  })
})
