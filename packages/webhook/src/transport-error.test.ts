import { expect, test } from 'vitest'
import { transportFailure } from './transport-error.ts'

const failed = (message: string, properties: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(message), properties)

// Errors that no loopback server provokes; the others are in sender-transport.test.ts.
test.each<[unknown, string, string]>([
  [
    failed('getaddrinfo EAI_AGAIN hook.example', { code: 'EAI_AGAIN', hostname: 'hook.example' }),
    'ResolutionError',
    'the name hook.example does not resolve (EAI_AGAIN)',
  ],
  [
    failed('connect ETIMEDOUT', { code: 'ETIMEDOUT', address: '127.0.0.1', port: 9 }),
    'TimedOut',
    'no connection to 127.0.0.1:9 in time (ETIMEDOUT)',
  ],
  [
    failed('Connect Timeout Error', { code: 'UND_ERR_CONNECT_TIMEOUT' }),
    'TimedOut',
    'no connection to hook.example:443 in time (UND_ERR_CONNECT_TIMEOUT)',
  ],
  [
    failed('connect ECONNREFUSED ::1:9', { code: 'ECONNREFUSED', address: '::1', port: 9 }),
    'SocketError',
    'connection refused by [::1]:9',
  ],
  [
    failed('connect EHOSTUNREACH', { code: 'EHOSTUNREACH', address: '127.0.0.1', port: 9 }),
    'SocketError',
    'no route to 127.0.0.1:9 (EHOSTUNREACH)',
  ],
  [
    failed('write EPIPE', { code: 'EPIPE' }),
    'SocketError',
    'connection reset by hook.example:443 before a complete answer (EPIPE)',
  ],
  [
    failed('certificate has expired', { code: 'CERT_HAS_EXPIRED' }),
    'SocketError',
    'TLS with hook.example:443 failed: certificate has expired (CERT_HAS_EXPIRED)',
  ],
  [
    failed('unable to get local issuer certificate; if the root CA is installed locally, try running Node.js with …', {
      code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    }),
    'SocketError',
    'TLS with hook.example:443 failed: unable to get local issuer certificate (UNABLE_TO_GET_ISSUER_CERT_LOCALLY)',
  ],
  [
    failed('C0F7:error:0A000410:SSL routines::sslv3 alert handshake failure:../ssl/record.c:1605:', {
      code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
      reason: 'ssl/tls alert handshake failure',
    }),
    'SocketError',
    'TLS with hook.example:443 failed: ssl/tls alert handshake failure (ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE)',
  ],
  [
    new AggregateError([failed('', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }), failed('second')]),
    'SocketError',
    'connection refused by 127.0.0.1:9',
  ],
  [
    failed('fetch failed', { cause: failed('', { code: 'ECONNRESET' }) }),
    'SocketError',
    'connection reset by hook.example:443 before a complete answer (ECONNRESET)',
  ],
  [
    failed('invalid ce-id header', { code: 'UND_ERR_INVALID_ARG' }),
    'GenericError',
    'no request can be built: invalid ce-id header',
  ],
  [failed('read EIO', { code: 'EIO' }), 'SocketError', 'read EIO (EIO)'],
  ['a text', 'SocketError', 'a text'],
])('A16: %s is %s', (thrown, outcome, error) => {
  expect(transportFailure(thrown, 'hook.example:443')).toEqual({ outcome, error })
})

test('an error is one line of at most 1 KiB, cut at a character', () => {
  const { error } = transportFailure(failed(`two\r\nlines\u0000${'€'.repeat(1_000)}`), 'hook.example')
  expect(error).toBe(`two lines ${'€'.repeat(338)}`)
  expect(Buffer.byteLength(error)).toBe(1_024)
})
