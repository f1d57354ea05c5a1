import { ignoreAt, isSaid, refuseSecretAt } from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { reportAt, textAt } from './notation-place.ts'
import { shown } from './subscription-field.ts'

const bootstrapsLengthMax = 10_000

/** How a self-managed Kafka is reached, of a source and of a sink. */
export const connectionFields = [
  'Bootstraps',
  'SecurityProtocol',
  'SaslMechanism',
  'SaslUser',
  'SaslPassword',
  'SslTruststoreCertificates',
  'SslKeystoreCertificateChain',
  'SslKeystoreKey',
  'SslKeyPassword',
] as const

type ConnectionFields = Readonly<Record<(typeof connectionFields)[number], Place>>

/** Only the Kafka that Barnabas works on can be meant, and how it is reached is the services' configuration. */
export function checkConnection(fields: ConnectionFields, brokers: readonly string[] | null): void {
  checkBootstraps(fields.Bootstraps, brokers)
  refuseSecretAt(fields.SaslPassword, 'set KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE of the services')
  refuseSecretAt(fields.SslKeyPassword, 'give the services a key without a password in KAFKA_SSL_KEY_FILE')
  refuseSecretAt(fields.SslKeystoreKey, 'set KAFKA_SSL_KEY_FILE of the services')
  const { SecurityProtocol, SaslMechanism, SaslUser, SslTruststoreCertificates, SslKeystoreCertificateChain } = fields
  ignoreAt(
    [SecurityProtocol, SaslMechanism, SaslUser, SslTruststoreCertificates, SslKeystoreCertificateChain],
    'ignored; how Kafka is reached is set by KAFKA_SSL… and KAFKA_SASL_…',
  )
}

function checkBootstraps(place: Place, brokers: readonly string[] | null): void {
  if (!isSaid(place)) return
  const text = textAt(place, bootstrapsLengthMax)
  if (text === undefined) return
  const known = new Set(brokers?.map(plain))
  const other = text.split(',').find((address) => !known.has(plain(address)))
  if (other === undefined) return
  const mend = 'take Bootstraps out, or set KAFKA_BROKERS to that Kafka'
  const what = brokers === null ? 'which is not known here' : `which is ${brokers.join(',')}`
  reportAt(place)(`${shown(other.trim())} is not in KAFKA_BROKERS, ${what}; only that Kafka can be meant: ${mend}`)
}

function plain(address: string): string {
  return address.trim().toLowerCase()
}
