import { createPrivateKey, X509Certificate } from 'node:crypto'
import { saslMechanisms, type KafkaConfig, type SaslConfig, type TlsFiles } from './config.ts'
import type { EnvironmentReader } from './environment-reader.ts'
import { anyText, brokerList, flag, oneOf } from './environment-values.ts'

/** The `KAFKA_` variables: where Kafka is and how to reach it. */
export function readKafkaEnvironment(reader: EnvironmentReader): KafkaConfig {
  const kafka: KafkaConfig = {
    brokers: reader.value('KAFKA_BROKERS', brokerList) ?? null,
    ssl: readTls(reader),
    sasl: readSasl(reader),
  }
  if (kafka.sasl?.mechanism === 'plain' && kafka.ssl === null)
    reader.warnings.push('KAFKA_SASL_MECHANISM=plain without KAFKA_SSL=true sends the password unencrypted.')
  if (kafka.brokers === null && !reader.isSet('KAFKA_BROKERS') && (kafka.ssl !== null || kafka.sasl !== null))
    reader.problems.push('KAFKA_SSL and KAFKA_SASL_MECHANISM need KAFKA_BROKERS: the local broker has neither.')
  return kafka
}

function readTls(reader: EnvironmentReader): TlsFiles | null {
  const enabled = reader.value('KAFKA_SSL', flag)
  if (enabled !== true) {
    // Going on in clear text although somebody configured certificates would be the worse surprise.
    const needsIt = ['KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE'].filter((name) =>
      reader.isSet(name),
    )
    if (needsIt.length > 0 && !reader.isSet('KAFKA_SSL'))
      reader.problems.push(
        `${needsIt.join(', ')} set without KAFKA_SSL; set KAFKA_SSL=true, or false to leave TLS off.`,
      )
    return null
  }
  for (const [one, other] of [
    ['KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE'],
    ['KAFKA_SSL_KEY_FILE', 'KAFKA_SSL_CERT_FILE'],
  ] as const) {
    if (reader.isSet(one) && !reader.isSet(other))
      reader.problems.push(`${one} is set, ${other} is not; set both or none.`)
  }
  const ca = pem(reader, 'KAFKA_SSL_CA_FILE', 'certificate', (text) => new X509Certificate(text))
  const cert = pem(reader, 'KAFKA_SSL_CERT_FILE', 'certificate', (text) => new X509Certificate(text))
  const key = pem(reader, 'KAFKA_SSL_KEY_FILE', 'private key without a passphrase', createPrivateKey)
  if (cert !== undefined && key !== undefined && !cert.parsed.checkPrivateKey(key.parsed))
    reader.problems.push('KAFKA_SSL_KEY_FILE does not hold the private key of the certificate in KAFKA_SSL_CERT_FILE.')
  return {
    ...(ca === undefined ? {} : { ca: ca.text }),
    ...(cert === undefined ? {} : { cert: cert.text }),
    ...(key === undefined ? {} : { key: key.text }),
  }
}

function pem<T>(reader: EnvironmentReader, name: string, what: string, parse: (text: string) => T): Pem<T> | undefined {
  const text = reader.file(name)
  if (text === undefined) return undefined
  try {
    return { text, parsed: parse(text) }
  } catch {
    // The library's message says little and could quote the file; the name is what the person needs.
    reader.problems.push(`${name} names a file that does not hold a ${what} in PEM form.`)
    return undefined
  }
}

interface Pem<T> {
  readonly text: string
  readonly parsed: T
}

function readSasl(reader: EnvironmentReader): SaslConfig | null {
  const mechanism = reader.value('KAFKA_SASL_MECHANISM', oneOf(saslMechanisms))
  const username = reader.value('KAFKA_SASL_USERNAME', anyText)
  const password = reader.secret('KAFKA_SASL_PASSWORD')
  const hasPassword = reader.isSet('KAFKA_SASL_PASSWORD') || reader.isSet('KAFKA_SASL_PASSWORD_FILE')
  if (!reader.isSet('KAFKA_SASL_MECHANISM')) {
    const stray = username !== undefined ? 'KAFKA_SASL_USERNAME' : hasPassword ? 'KAFKA_SASL_PASSWORD' : null
    if (stray !== null)
      reader.problems.push(
        `${stray} is set, KAFKA_SASL_MECHANISM is not; set it to one of ${saslMechanisms.join(', ')}.`,
      )
    return null
  }
  if (username === undefined) reader.problems.push('KAFKA_SASL_MECHANISM is set, KAFKA_SASL_USERNAME is not; set both.')
  if (!hasPassword)
    reader.problems.push(
      'KAFKA_SASL_MECHANISM is set, KAFKA_SASL_PASSWORD is not; set it, or KAFKA_SASL_PASSWORD_FILE to the name of a file with it.',
    )
  if (mechanism === undefined || username === undefined || password === undefined) return null
  return { mechanism, username, password }
}
