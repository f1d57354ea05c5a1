/** A cluster that strangers cannot use: TLS, SASL, and the ACLs of docs/security.md and no others. */
import { readFile } from 'node:fs/promises'
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { apply } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { header } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, readTopic } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { canMakeCertificates, password, startSecuredBroker } from '../support/secured-broker.ts'
import type { SecuredBroker } from '../support/secured-broker.ts'
import { canRunOwnBroker } from '../support/start.ts'

interface Grant {
  readonly service: string
  readonly resource: string
  readonly name: string
  readonly operations: readonly string[]
}

const source = 'orders'

/** The table of docs/security.md, row by row. */
async function grantsOfDocs(): Promise<readonly Grant[]> {
  const page = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8')
  return page.split('\n').flatMap((line) => {
    const [, service = '', resource = '', name = '', operations = ''] = line.split('|').map((cell) => cell.trim())
    return resource === 'topic' || resource === 'group'
      ? [{ service, resource, name, operations: operations.split(', ') }]
      : []
  })
}

function aclsOf({ service, resource, name, operations }: Grant) {
  const isPrefix = name.endsWith('*')
  return operations.map((operation) => ({
    resourceType: resource === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: name === '(source)' ? source : name.replace('*', ''),
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal: `User:${service}`,
    host: '*',
    operation: AclOperationTypes[operation.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as 'READ'],
    permissionType: AclPermissionTypes.ALLOW,
  }))
}

describe.skipIf(!(await canRunOwnBroker()) || !canMakeCertificates())('on a broker with TLS, SASL and ACLs', () => {
  let broker: SecuredBroker
  const admin = () => plainKafka([broker.adminBrokers]).admin()

  const as = (user: string, mechanism = 'plain') => ({
    KAFKA_BROKERS: broker.brokers,
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA_FILE: broker.caFile,
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD: password,
    BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
    BARNABAS_PARTITIONS: '1',
    BARNABAS_TIER_PARTITIONS: '1',
    BARNABAS_DRAIN_TIMEOUT: '1s',
  })

  function startService(service: string, env: Record<string, string> = {}): RunningProcess {
    const started = runProcess(`services/${service}/main.ts`, { ...as(service), BARNABAS_HTTP_PORT: '0', ...env })
    onTestFinished(async () => {
      await started.kill('SIGTERM')
      expect(started.lines.join('\n')).not.toContain(password)
    })
    return started
  }

  const command = (args: readonly string[], env: Record<string, string>) =>
    runProcess('services/cli/bin/barnabas', env, args)

  beforeAll(async () => {
    broker = await startSecuredBroker()
    await createTopic(plainKafka([broker.adminBrokers]), source)
    const kafka = admin()
    await kafka.connect()
    await kafka.createAcls({ acl: (await grantsOfDocs()).flatMap(aclsOf) })
    await kafka.disconnect()
  })
  afterAll(() => broker?.stop())

  test('each service does its work with exactly the ACLs of its rows', async () => {
    const receiver = await startReceiver(({ eventId, attempt }) => (eventId === 'never' || attempt === 1 ? 503 : 200))
    onTestFinished(() => receiver.close())
    for (const service of ['dispatcher', 'retrier', 'dead-letter']) {
      await startService(service).line(/is ready|health and metrics at/)
    }
    await apply(
      'barnabas',
      [{ id: 'acl', topics: [source], sink: receiver.url, retry: { schedule: ['1s'] } }],
      as('cli'),
    )
    await produce(plainKafka([broker.adminBrokers]), source, [binaryEvent('twice'), binaryEvent('never')])
    await receiver.until((requests) => requests.length === 4)
    const letters = await readTopic(plainKafka([broker.adminBrokers]), 'barnabas.dead-letter', (all) => all.length > 0)
    expect(letters.map((letter) => header(letter, 'barnabas-attempts'))).toEqual(['2'])
    expect(receiver.requests.map(({ eventId, attempt }) => `${eventId} ${attempt}`).toSorted()).toEqual([
      'never 1',
      'never 2',
      'twice 1',
      'twice 2',
    ])
  })

  test.each(['scram-sha-256', 'scram-sha-512'])('%s', async (mechanism) => {
    const listing = command(['get', '-o', 'json'], as('cli', mechanism))
    expect([await listing.exited, listing.lines.join('\n')]).toEqual([0, expect.stringContaining('"acl"')])
  })

  const wrongs: readonly { wrong: string; env: () => Record<string, string>; says: RegExp }[] = [
    { wrong: 'password', env: () => ({ KAFKA_SASL_PASSWORD: 'something-else' }), says: /check .*KAFKA_SASL_PASSWORD/ },
    { wrong: 'authority', env: () => ({ KAFKA_SSL_CA_FILE: broker.otherCaFile }), says: /KAFKA_SSL_CA_FILE has to/ },
    { wrong: 'port', env: () => ({ KAFKA_BROKERS: broker.adminBrokers }), says: /KAFKA_SSL says/ },
  ]
  // Side by side: the client goes on trying for some seconds before it gives each up.
  test.concurrent.each(wrongs)('a wrong $wrong is one clear sentence, without a secret', async ({ env, says }) => {
    const listing = command(['get'], { ...as('cli'), ...env() })
    const service = runProcess('services/dispatcher/main.ts', { ...as('dispatcher'), ...env() })
    for (const { exited, lines } of [listing, service]) {
      expect(await exited).toBe(1)
      expect(lines.at(-1)).toMatch(says)
      for (const line of lines) expect(line).not.toMatch(/correct-horse|something-else/)
    }
  })

  test('a user whom no ACL names is told what is missing, and how to make it', async () => {
    const service = runProcess('services/dispatcher/main.ts', as('stranger'))
    expect(await service.exited).toBe(1)
    expect(service.lines.join('\n')).toMatch(/barnabas\.status: TOPIC_AUTHORIZATION_FAILED: Not authorized/)
    expect(service.lines.at(-1)).toMatch(/^kafka-topics .*--create/)
  })
})
