import { expect, test } from 'vitest'
import { kafkaConnectionHint } from './kafka-connection-hint.ts'

test.each([
  ['SASL PLAIN authentication failed: Authentication failed: Invalid username or password', 'KAFKA_SASL_PASSWORD'],
  ['SASL SCRAM SHA256 authentication failed: Authentication failed', 'KAFKA_SASL_USERNAME'],
  ['Connection error: unable to verify the first certificate', 'KAFKA_SSL_CA_FILE'],
  ['Connection error: self-signed certificate in certificate chain', 'KAFKA_SSL_CA_FILE'],
  ["Connection error: Hostname/IP does not match certificate's altnames: IP: 10.0.0.1", 'KAFKA_SSL_CA_FILE'],
  ['Closed connection', 'KAFKA_SSL'],
  ['Connection error: Client network socket disconnected before secure TLS connection was established', 'KAFKA_SSL'],
  ['Connection error: write EPROTO 0:error:0A00010B:SSL routines::wrong version number', 'KAFKA_SSL'],
])('%s: %s', (message, variable) => {
  expect(kafkaConnectionHint(message)).toContain(variable)
})

test.each(['Connection error: connect ECONNREFUSED 127.0.0.1:9092', 'Connection timeout', ''])(
  '%j: nothing',
  (message) => {
    expect(kafkaConnectionHint(message)).toBe('')
  },
)
