import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'

const run = promisify(execFile)

/**
 * A broker that strangers cannot use: SASL over TLS for everybody, and an authorizer that allows what its ACLs say. A
 * listener in plain text is the administrator's.
 */
export interface SecuredBroker {
  /** SASL_SSL. */
  readonly brokers: string
  /** The administrator's, in plain text: may do everything. */
  readonly adminBrokers: string
  readonly caFile: string
  /** The certificate of an authority that did not sign the broker's. */
  readonly otherCaFile: string
  stop(): Promise<void>
}

/** Certificates are made with openssl. */
export function canMakeCertificates(): boolean {
  const can = spawnSync('openssl', ['version']).status === 0
  if (!can) console.warn('skipped: the certificates of a broker with TLS are made with openssl')
  return can
}

/** One for each service, and one that no ACL names. */
export const users = ['dispatcher', 'retrier', 'dead-letter', 'cli', 'stranger'] as const
/** Whoever finds it in the output of a process has found a leak. */
export const password = 'correct-horse-battery-staple'

export async function startSecuredBroker(): Promise<SecuredBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-secured-'))
  const { caFile, otherCaFile, keystore } = await makeCertificates(folder)
  const [plain, secured, controller] = await freePorts(3)
  const login = (module: string, options = '') =>
    `org.apache.kafka.common.security.${module} required${options === '' ? '' : ` ${options}`};`
  const kafka = await startLocalKafka({
    dataDir: join(folder, 'data'),
    port: plain,
    portIsFixed: true,
    heapMb: 256,
    jvmFlags: fastStartJvmFlags,
    endsWithParent: true,
    serverProperties: {
      listeners: `PLAINTEXT://127.0.0.1:${plain},SASL_SSL://127.0.0.1:${secured},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${plain},SASL_SSL://127.0.0.1:${secured}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT',
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      'listener.name.sasl_ssl.plain.sasl.jaas.config': login(
        'plain.PlainLoginModule',
        users.map((each) => `user_${each}="${password}"`).join(' '),
      ),
      'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': login('scram.ScramLoginModule'),
      'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': login('scram.ScramLoginModule'),
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    },
  })
  const { XDG_CACHE_HOME = join(homedir(), '.cache') } = process.env
  const jars = join(XDG_CACHE_HOME, 'barnabas', 'kafka-4.4.0', '*')
  const addUser = fileURLToPath(new URL('AddScramUser.java', import.meta.url))
  await run('java', ['-cp', jars, addUser, kafka.brokers, 'cli', password])
  return {
    brokers: `127.0.0.1:${secured}`,
    adminBrokers: kafka.brokers,
    caFile,
    otherCaFile,
    async stop() {
      await kafka.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeCertificates(folder: string) {
  const file = (name: string): string => join(folder, name)
  const authority = async (name: string): Promise<string> => {
    const out = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)]
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      ...out,
    ])
    return file(`${name}.pem`)
  }
  const [caFile, otherCaFile] = [await authority('authority'), await authority('other-authority')]
  const request = ['-keyout', file('broker.key'), '-out', file('broker.csr')]
  await run('openssl', ['req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=broker', ...request])
  await writeFile(file('names.cnf'), 'subjectAltName=IP:127.0.0.1\n')
  const signedBy = ['-CA', caFile, '-CAkey', file('authority.key'), '-CAcreateserial', '-days', '2']
  const signed = ['-in', file('broker.csr'), '-out', file('broker.pem'), '-extfile', file('names.cnf')]
  await run('openssl', ['x509', '-req', ...signedBy, ...signed])
  const keystore = file('keystore.pem')
  await writeFile(
    keystore,
    (await Promise.all([file('broker.key'), file('broker.pem')].map((name) => readFile(name, 'utf8')))).join(''),
  )
  return { caFile, otherCaFile, keystore }
}

/** Held until all are known, so that they are different ones. */
async function freePorts(count: number): Promise<[number, number, number]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports as [number, number, number]
}
