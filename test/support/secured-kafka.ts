import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endLeftOverBroker, fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'
import { makeCertificates } from './certificates.ts'
import type { Certificates } from './certificates.ts'
import { freePort } from './start.ts'

/** A broker with an authorizer: what is not allowed on its TLS listener is refused. */
export interface SecuredKafka {
  /** Clear text, for the test itself: who comes here may do everything. */
  readonly plainBrokers: string
  /** TLS and SASL. */
  readonly securedBrokers: string
  /** TLS with certificates on both sides, and no SASL. */
  readonly mutualTlsBrokers: string
  readonly certificates: Certificates
  /** For files of the test. */
  readonly folder: string
  /** A process of Barnabas at the listener with TLS and SASL. */
  environment(user: string, mechanism?: string): Record<string, string>
  remove(): Promise<void>
}

export const passwordOf = (user: string) => `secret-of-${user}`

/** With these users, who may log in by every mechanism and are allowed nothing yet. */
export async function startSecuredKafka(users: readonly string[]): Promise<SecuredKafka> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-secured-kafka-'))
  const dataDir = join(folder, 'kafka')
  const remove = async () => {
    await endLeftOverBroker(dataDir, 1_000)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const certificates = await makeCertificates(folder)
    const pem = (file: string) => readFile(file, 'utf8')
    const [port, controller, secured, mutual] = [await freePort(), await freePort(), await freePort(), await freePort()]
    const advertised = `PLAINTEXT://127.0.0.1:${port},SASL_SSL://127.0.0.1:${secured},SSL://127.0.0.1:${mutual}`
    const plainUsers = users.map((user) => `user_${user}="${passwordOf(user)}"`).join(' ')
    const { brokers } = await startLocalKafka({
      dataDir,
      port,
      portIsFixed: true,
      heapMb: 256,
      jvmFlags: fastStartJvmFlags,
      endsWithParent: true,
      formatArguments: addScramUsers(users),
      serverProperties: {
        listeners: `${advertised},CONTROLLER://127.0.0.1:${controller}`,
        'advertised.listeners': advertised,
        'controller.quorum.voters': `1@127.0.0.1:${controller}`,
        'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT',
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.key': await pem(certificates.keyFile),
        'ssl.keystore.certificate.chain': await pem(certificates.certificateFile),
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.certificates': await pem(certificates.caFile),
        'listener.name.ssl.ssl.client.auth': 'required',
        'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        'listener.name.sasl_ssl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${plainUsers};`,
        'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': scramLogin,
        'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': scramLogin,
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:ANONYMOUS',
      },
    })
    return {
      plainBrokers: brokers,
      securedBrokers: `127.0.0.1:${secured}`,
      mutualTlsBrokers: `127.0.0.1:${mutual}`,
      certificates,
      folder,
      environment: (user, mechanism = 'plain') => ({
        KAFKA_BROKERS: `127.0.0.1:${secured}`,
        KAFKA_SSL: 'true',
        KAFKA_SSL_CA_FILE: certificates.caFile,
        KAFKA_SASL_MECHANISM: mechanism,
        KAFKA_SASL_USERNAME: user,
        KAFKA_SASL_PASSWORD: passwordOf(user),
      }),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

const scramLogin = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'

/** Scram users are data of the cluster, unlike those of PLAIN, which its configuration names. */
function addScramUsers(users: readonly string[]): readonly string[] {
  return users.flatMap((user) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${user},iterations=4096,password=${passwordOf(user)}]`,
    ]),
  )
}
