import type { KafkaConfig } from './config.ts'

/** Why Kafka could not be reached or asked: its kind, and the client's words. */
export interface ConnectionTrouble {
  readonly code:
    | 'AUTHENTICATION'
    | 'NOT_AUTHORIZED'
    | 'UNTRUSTED_CERTIFICATE'
    | 'CERTIFICATE_NOT_VALID_NOW'
    | 'CERTIFICATE_OF_OTHER_HOST'
    | 'OWN_CERTIFICATE_REFUSED'
    | 'NO_SASL'
    | 'NOT_TLS'
    | 'CLOSED'
    | 'OTHER'
  readonly message: string
}

/** One sentence that names what mends it, in the environment's names; null when nothing is known. */
export function connectionAdvice(trouble: ConnectionTrouble, kafka: KafkaConfig, brokers: string): string | null {
  const { code, message } = trouble
  const user = kafka.sasl === null ? '' : ` user ${JSON.stringify(kafka.sasl.username)}`
  const certificate = `the certificate of Kafka at ${brokers}`
  switch (code) {
    case 'AUTHENTICATION':
      return `Kafka at ${brokers} refuses${user} (${message}): mend KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD or KAFKA_SASL_MECHANISM`
    case 'NOT_AUTHORIZED':
      return `Kafka at ${brokers} does not let${user || ' us'} do what is needed (${message}): docs/security.md lists the rights of each service`
    case 'UNTRUSTED_CERTIFICATE': {
      const mend =
        kafka.ssl?.ca === undefined
          ? 'set KAFKA_SSL_CA_FILE to the PEM file of the authority that signed it'
          : 'KAFKA_SSL_CA_FILE does not hold the authority that signed it'
      return `${certificate} is not trusted (${message}): ${mend}`
    }
    case 'CERTIFICATE_NOT_VALID_NOW':
      return `${certificate} is not valid now (${message}): it has to be renewed there, unless this machine's clock is wrong`
    case 'CERTIFICATE_OF_OTHER_HOST':
      return `${certificate} is not for that name (${message}): KAFKA_BROKERS, and the brokers' advertised.listeners, must name the brokers as it does`
    case 'OWN_CERTIFICATE_REFUSED':
      return kafka.ssl?.cert === undefined
        ? `Kafka at ${brokers} asks for a client certificate (${message}): set KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE`
        : `Kafka at ${brokers} refuses the certificate in KAFKA_SSL_CERT_FILE (${message})`
    case 'NO_SASL':
      return `Kafka at ${brokers} asks for no user there (${message}): unset KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, or name a port with SASL in KAFKA_BROKERS`
    case 'NOT_TLS':
      return `what answers at ${brokers} does not speak TLS (${message}): unset KAFKA_SSL, or name a port with TLS in KAFKA_BROKERS`
    case 'CLOSED': {
      const wanted = [
        ...(kafka.ssl === null ? ['TLS (KAFKA_SSL=true)'] : []),
        ...(kafka.sasl === null ? ['a user (KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD)'] : []),
      ]
      if (wanted.length === 0) return null
      return `Kafka at ${brokers} closes the connection without an answer: it may want ${wanted.join(' or ')}`
    }
    case 'OTHER':
      return null
    default:
      return code satisfies never
  }
}
