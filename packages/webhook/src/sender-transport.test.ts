import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import type { AttemptResult } from '@barnabas/core'
import { expect, onTestFinished, test } from 'vitest'
import { attemptOptions, listen, loopbackSender, rawReceiver, receiver, testEvent } from './test-receiver.ts'

/** One attempt at `url` with a secret in its query, which no message may repeat. */
async function attemptAt(url: string, sender = loopbackSender()): Promise<AttemptResult> {
  const result = await sender.attempt([testEvent()], { ...attemptOptions, url: `${url}/hook?code=s3cret` })
  expect(result.error ?? '').not.toMatch(/s3cret|\n/)
  return result
}

// Certificates of TLS tests are made by the `openssl` command; a machine without it leaves them out.
const openssl = 'openssl'
const hasOpenssl = spawnSync(openssl, ['version']).status === 0

const host = (origin: string): string => new URL(origin).host

test('A16: a refused connection is a SocketError that names the address', async () => {
  const server = createServer()
  const { origin } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  expect(await attemptAt(origin)).toMatchObject({
    outcome: 'SocketError',
    status: null,
    error: `connection refused by ${host(origin)}`,
  })
})

test.each<[string, (socket: Socket) => void, RegExp]>([
  [
    'a reset',
    (socket) => socket.resetAndDestroy(),
    /^connection reset by \S+ before a complete answer \(ECONNRESET\)$/,
  ],
  ['an early close', (socket) => socket.end(), /^connection closed by \S+ before a complete answer/],
  ['a close within the head', (socket) => socket.end('HTTP/1.1 200 OK\r\nx:'), /^connection closed by \S+ before/],
  ['an answer that is no HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n'), /^the answer of \S+ is not HTTP/],
  ['an HTTP/2 answer', (socket) => socket.end('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), /^the answer of \S+ is not HTTP/],
  [
    'a protocol switch that nobody asked for',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    /^connection closed by \S+ before a complete answer \(bad upgrade\)$/,
  ],
  [
    'a head without end',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    /^the head of the answer of \S+ is larger than 16 KiB$/,
  ],
])('A16: %s is a SocketError', async (_what, answer, error) => {
  const { origin } = await rawReceiver(answer)
  expect(await attemptAt(origin)).toMatchObject({
    outcome: 'SocketError',
    status: null,
    error: expect.stringMatching(error),
  })
})

test('A16: TLS to a port that does not speak it is a SocketError that says so', async () => {
  const { origin } = await receiver((_request, response) => response.end())
  expect(await attemptAt(origin.replace('http:', 'https:'))).toMatchObject({
    outcome: 'SocketError',
    error: expect.stringMatching(/^\S+ does not speak TLS; is it an http:\/\/ address\? \(ERR_SSL_\w+\)$/),
  })
})

test('A16: a name that does not resolve is a ResolutionError', async () => {
  // A label of 64 characters is refused by the system's resolver itself: no query leaves this machine.
  const name = `${'a'.repeat(64)}.invalid`
  expect(await attemptAt(`http://${name}`)).toMatchObject({
    outcome: 'ResolutionError',
    status: null,
    error: `the name ${name} does not resolve (ENOTFOUND)`,
  })
})

test('a sink on IPv6 loopback is reached', async () => {
  const { origin } = await receiver((_request, response) => response.end(), '::1')
  expect(origin).toMatch(/^http:\/\/\[::1\]:/)
  expect(await attemptAt(origin)).toMatchObject({ outcome: 'Delivered' })
})

test('of several addresses the one that answers is taken', async () => {
  const { port } = await receiver((_request, response) => response.end())
  const sender = loopbackSender({
    resolveAll: (_name, callback) =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]),
  })
  expect(await attemptAt(`http://receiver.invalid:${port}`, sender)).toMatchObject({ outcome: 'Delivered' })
})

test('A16: when every address refuses, the first one is named', async () => {
  const server = createServer()
  const { port } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  const sender = loopbackSender({
    resolveAll: (_name, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '127.0.0.2', family: 4 },
      ]),
  })
  expect(await attemptAt(`http://receiver.invalid:${port}`, sender)).toMatchObject({
    outcome: 'SocketError',
    error: `connection refused by 127.0.0.1:${port}`,
  })
})

test.skipIf(!hasOpenssl)(
  'A16: a self-signed certificate is a SocketError; a trusted one delivers, to its own name only',
  async () => {
    const certificate = selfSigned('DNS:receiver.invalid')
    const { port } = await listen(createHttpsServer(certificate, (_request, response) => response.end()))
    const sender = loopbackSender({
      resolveAll: (_name, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    expect(await attemptAt(`https://receiver.invalid:${port}`, sender)).toMatchObject({
      outcome: 'SocketError',
      error: `TLS with receiver.invalid:${port} failed: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)`,
    })

    trust(certificate.cert)
    expect(await attemptAt(`https://receiver.invalid:${port}`, sender)).toMatchObject({ outcome: 'Delivered' })
    expect(await attemptAt(`https://other.invalid:${port}`, sender)).toMatchObject({
      outcome: 'SocketError',
      error: expect.stringMatching(/^TLS with other\.invalid:\d+ failed: .* \(ERR_TLS_CERT_ALTNAME_INVALID\)$/),
    })
  },
)

/** A certificate made by the `openssl` command. */
function selfSigned(subjectAltName: string): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'barnabas-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const paths = { key: join(directory, 'key.pem'), cert: join(directory, 'cert.pem') }
  const command =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=receiver ' +
    `-addext subjectAltName=${subjectAltName} -keyout ${paths.key} -out ${paths.cert}`
  const made = spawnSync(openssl, command.split(' '))
  if (made.status !== 0) throw new Error(`openssl failed: ${made.stderr?.toString() ?? made.error?.message}`)
  return { key: readFileSync(paths.key, 'utf8'), cert: readFileSync(paths.cert, 'utf8') }
}

function trust(certificate: string): void {
  const before = tls.getCACertificates('default')
  onTestFinished(() => tls.setDefaultCACertificates(before))
  tls.setDefaultCACertificates([...before, certificate])
}
