import { expect, test } from 'vitest'
import type { KafkaConfig } from './config.ts'
import { connectionAdvice } from './connection-advice.ts'
import type { ConnectionTrouble } from './connection-advice.ts'

const plain: KafkaConfig = { brokers: ['kafka:9092'], ssl: null, sasl: null }
const tls: KafkaConfig = { ...plain, ssl: {} }
const sasl = { mechanism: 'plain', username: 'ann', password: 'hunter2' } as const
const all: KafkaConfig = { ...plain, ssl: { ca: 'CA', cert: 'CERT', key: 'KEY' }, sasl }

test.each<[ConnectionTrouble['code'], KafkaConfig, readonly string[]]>([
  ['AUTHENTICATION', all, ['user "ann"', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'KAFKA_SASL_MECHANISM']],
  ['NOT_AUTHORIZED', all, ['user "ann"', 'in its words', 'docs/security.md']],
  ['UNTRUSTED_CERTIFICATE', tls, ['set KAFKA_SSL_CA_FILE']],
  ['UNTRUSTED_CERTIFICATE', all, ['KAFKA_SSL_CA_FILE does not hold']],
  ['CERTIFICATE_NOT_VALID_NOW', all, ['renewed', 'clock']],
  ['CERTIFICATE_OF_OTHER_HOST', all, ['KAFKA_BROKERS', 'advertised.listeners']],
  ['OWN_CERTIFICATE_REFUSED', tls, ['set KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE']],
  ['OWN_CERTIFICATE_REFUSED', all, ['refuses the certificate in KAFKA_SSL_CERT_FILE']],
  ['NO_SASL', all, ['unset KAFKA_SASL_MECHANISM']],
  ['NOT_TLS', tls, ['unset KAFKA_SSL']],
  ['CLOSED', plain, ['TLS (KAFKA_SSL=true) or a user (KAFKA_SASL_MECHANISM']],
  ['CLOSED', { ...plain, sasl }, ['it may want TLS (KAFKA_SSL=true)']],
  ['CLOSED', tls, ['it may want a user']],
])('%s names what mends it', (code, config, words) => {
  const advice = connectionAdvice({ code, message: 'in its words' }, config, 'kafka:9092') ?? ''
  for (const word of ['kafka:9092', ...words]) expect(advice).toContain(word)
  expect(advice).not.toMatch(/hunter2|\n/)
})

test.each<[ConnectionTrouble['code'], KafkaConfig]>([
  ['OTHER', all],
  ['CLOSED', all],
])('nothing is guessed about %s', (code, config) => {
  expect(connectionAdvice({ code, message: 'in its words' }, config, 'kafka:9092')).toBeNull()
})
