import type { KafkaClusters } from './kafka-clusters.ts'
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

/** Which Kafka clusters a document may mean. */
export interface KnownKafka {
  /** KAFKA_BROKERS; null where they are not known. */
  readonly brokers: readonly string[] | null
  /** BARNABAS_CLUSTERS_FILE; null without one. */
  readonly clusters: KafkaClusters | null
}

/** Where the parameters of a source lead: only the Kafka that Barnabas works on can be meant. */
export function checkConnection(fields: ConnectionFields, brokers: readonly string[] | null): void {
  const other = otherBroker(fields.Bootstraps, brokers)
  if (other !== undefined) {
    const mend = 'take Bootstraps out, or set KAFKA_BROKERS to that Kafka'
    const problem = `${shown(other)} is not in KAFKA_BROKERS, ${whichIs(brokers)}; only that Kafka can be meant: ${mend}`
    reportAt(fields.Bootstraps)(problem)
  }
  checkSecurity(fields, 'KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE of the services')
}

/** Where those of a sink lead: the name of another cluster, null for the Kafka that Barnabas works on. */
export function clusterOfConnection(fields: ConnectionFields, { brokers, clusters }: KnownKafka): string | null {
  const { Bootstraps } = fields
  const other = otherBroker(Bootstraps, brokers)
  const cluster = other === undefined ? null : clusterWith(String(Bootstraps.value), clusters)
  if (cluster === undefined) {
    const mend = `write \`NAME: { brokers: [${shown(other)}] }\` into BARNABAS_CLUSTERS_FILE, or take Bootstraps out`
    const problem = `${shown(other)} is neither in KAFKA_BROKERS, ${whichIs(brokers)}, nor in BARNABAS_CLUSTERS_FILE; ${mend}`
    reportAt(Bootstraps)(problem)
  }
  const place =
    cluster === null
      ? 'KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE'
      : 'the secret that BARNABAS_CLUSTERS_FILE names'
  checkSecurity(fields, `${place} of the services`)
  return cluster ?? null
}

/** How a Kafka is reached is the services' configuration. */
function checkSecurity(fields: ConnectionFields, passwordPlace: string): void {
  refuseSecretAt(fields.SaslPassword, `set ${passwordPlace}`)
  refuseSecretAt(fields.SslKeyPassword, 'give the services a key without a password in KAFKA_SSL_KEY_FILE')
  refuseSecretAt(fields.SslKeystoreKey, 'set KAFKA_SSL_KEY_FILE of the services')
  const { SecurityProtocol, SaslMechanism, SaslUser, SslTruststoreCertificates, SslKeystoreCertificateChain } = fields
  ignoreAt(
    [SecurityProtocol, SaslMechanism, SaslUser, SslTruststoreCertificates, SslKeystoreCertificateChain],
    'ignored; how Kafka is reached is set by KAFKA_SSL… and KAFKA_SASL_…, that of another cluster in BARNABAS_CLUSTERS_FILE',
  )
}

/** The first of the brokers named that is not one of ours. */
function otherBroker(place: Place, brokers: readonly string[] | null): string | undefined {
  if (!isSaid(place)) return undefined
  const text = textAt(place, bootstrapsLengthMax)
  const known = new Set(brokers?.map(plain))
  return text
    ?.split(',')
    .find((address) => !known.has(plain(address)))
    ?.trim()
}

/** The cluster of the file that all of the brokers named are in. */
function clusterWith(bootstraps: string, clusters: KafkaClusters | null): string | undefined {
  for (const [name, { brokers }] of clusters ?? []) {
    const known = new Set(brokers.map(plain))
    if (bootstraps.split(',').every((address) => known.has(plain(address)))) return name
  }
  return undefined
}

function whichIs(brokers: readonly string[] | null): string {
  return brokers === null ? 'which is not known here' : `which is ${brokers.join(',')}`
}

function plain(address: string): string {
  return address.trim().toLowerCase()
}
