import kafkajs from 'kafkajs'
import { expect, test } from 'vitest'
import { connectionProblemOf, isCertificateProblem } from './connection-problem.ts'

const connection = (code: string, message = 'some words') =>
  new kafkajs.KafkaJSConnectionError(`Connection error: ${message}`, { broker: 'kafka:9093', code })
/** The client's types do not have it. */
const named = (name: string) => Object.assign(new Error('some words'), { name })
const retried = (error: Error) => new kafkajs.KafkaJSNumberOfRetriesExceeded(error, { retryCount: 3, retryTime: 1_000 })

test.each([
  ['AUTHENTICATION', named('KafkaJSSASLAuthenticationError')],
  ['NOT_AUTHORIZED', Object.assign(named('KafkaJSProtocolError'), { type: 'TOPIC_AUTHORIZATION_FAILED' })],
  ['UNTRUSTED_CERTIFICATE', connection('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
  ['UNTRUSTED_CERTIFICATE', connection('DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['CERTIFICATE_NOT_VALID_NOW', connection('CERT_HAS_EXPIRED')],
  ['CERTIFICATE_OF_OTHER_HOST', connection('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['OWN_CERTIFICATE_REFUSED', connection('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')],
  ['NOT_TLS', connection('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['CLOSED', named('KafkaJSConnectionClosedError')],
  ['OTHER', connection('ECONNREFUSED')],
  ['OTHER', new kafkajs.KafkaJSConnectionError('some words')],
  ['OTHER', new Error('some words')],
])('%s', (code, error) => {
  expect(connectionProblemOf(retried(error))).toEqual({ code, message: 'some words' })
  expect(isCertificateProblem(retried(error))).toBe(code.includes('CERTIFICATE'))
})

test('a connection that is reset in the middle of the handshake is none with TLS', () => {
  const message = 'Client network socket disconnected before secure TLS connection was established'
  expect(connectionProblemOf(connection('ECONNRESET', message)).code).toBe('NOT_TLS')
  expect(connectionProblemOf(connection('ECONNRESET')).code).toBe('OTHER')
})

test.each([
  [
    'unable to verify; if the root CA is installed locally, try running Node.js with --use-system-ca',
    'unable to verify',
  ],
  [
    '40:error:0A:SSL routines:read:ssl/tls alert bad certificate:../rec.c:918:SSL alert number 42\n',
    'ssl/tls alert bad certificate',
  ],
])('%s is told as %s', (message, told) => {
  expect(connectionProblemOf(connection('X', message)).message).toBe(told)
})
