import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { attemptOptions, closed, loopbackSender, rawReceiver, receiver, testEvent } from './test-receiver.ts'

// The status decides, whatever becomes of the body (interface, "Outcomes").
const answerBodyMs = 100
const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'

function drip(socket: Socket): void {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 5)
  socket.on('close', () => clearInterval(timer))
}

test.each<[string, (socket: Socket) => void, RegExp]>([
  ['hangs', (socket) => socket.write(`${head}begun`), /^begun$/],
  ['never begins', (socket) => socket.write(head), /^$/],
  ['drips', drip, /^x+$/],
  ['is cut', (socket) => socket.end(`${head}begun`), /^begun$/],
  ['is reset', (socket) => socket.write(`${head}begun`, () => socket.resetAndDestroy()), /^(begun)?$/],
  ['is no chunked body', (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'), /^$/],
])('A18: a 200 is Delivered when its body %s, and promptly', async (_what, answer, body) => {
  const { origin, connections } = await rawReceiver(answer)
  const options = { ...attemptOptions, url: origin, timeoutMs: 5_000 }
  const result = await loopbackSender({ answerBodyMs }).attempt([testEvent()], options)
  expect(result).toMatchObject({ outcome: 'Delivered', status: 200, error: null })
  expect(result.responseBody?.toString() ?? '').toMatch(body)
  expect(Date.now() - result.startedAt).toBeLessThan(1_000)
  const [connection] = connections
  await closed(connection)
})

test('a failure keeps what came of a body that was cut', async () => {
  const { origin } = await rawReceiver((socket) =>
    socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 1000\r\n\r\noverloaded'),
  )
  const result = await loopbackSender().attempt([testEvent()], { ...attemptOptions, url: origin })
  expect(result).toMatchObject({ outcome: 'Busy', status: 503, responseBody: Buffer.from('overloaded') })
})

test('of a long body the first 1 KiB is kept; the connection is used again', async () => {
  const { origin, connections } = await receiver((request, response) => {
    request.resume()
    response.writeHead(500).end(Buffer.alloc(20_000, 'ab'))
  })
  const sender = loopbackSender()
  for (let round = 0; round < 3; round++) {
    const result = await sender.attempt([testEvent()], { ...attemptOptions, url: origin, connectionsMax: 1 })
    expect(result.responseBody).toEqual(Buffer.alloc(1_024, 'ab'))
  }
  expect(connections).toHaveLength(1)
})

test('a body without end is given up, and its connection with it', async () => {
  const { origin, connections } = await receiver((request, response) => {
    request.resume()
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
    }
    response.on('drain', more)
    more()
  })
  const result = await loopbackSender({ answerBodyMs: 60_000 }).attempt([testEvent()], {
    ...attemptOptions,
    url: origin,
  })
  expect(result.outcome).toBe('Delivered')
  expect(result.responseBody).toHaveLength(1_024)
  const [connection] = connections
  await closed(connection)
})

test('the result is there as soon as no more of the body is kept', async () => {
  const { origin } = await rawReceiver((socket) =>
    socket.write(`HTTP/1.1 503 Service Unavailable\r\ncontent-length: 9999\r\n\r\n${'x'.repeat(1_024)}`),
  )
  const sender = loopbackSender({ answerBodyMs: 60_000 })
  const result = await sender.attempt([testEvent()], { ...attemptOptions, url: origin })
  expect(result).toMatchObject({ outcome: 'Busy', responseBody: Buffer.alloc(1_024, 'x') })
})
