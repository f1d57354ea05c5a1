/**
 * On other people's clusters: TLS, SASL, and no right but those of docs/security.md. Each service is a process with a
 * user of its own, on a broker with an authorizer.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connectKafka, connectionProblemOf } from '@barnabas/kafka'
import { allow, documentedRights, forbid, runCreateCommands, userOf } from '../support/access-rights.ts'
import type { Right } from '../support/access-rights.ts'
import { apply, environment as plainEnvironment } from '../support/barnabas.ts'
import { canMakeCertificates } from '../support/certificates.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, readTopic } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { passwordOf, startSecuredKafka } from '../support/secured-kafka.ts'
import type { SecuredKafka } from '../support/secured-kafka.ts'
import { canRunOwnBroker } from '../support/start.ts'

const places = { prefix: 'secured', sourceTopic: 'orders', deadLetterTopic: 'failed-orders', sinkTopic: 'copies' }
const { prefix } = places
const services = ['dispatcher', 'retrier', 'dead-letter'] as const
type Service = (typeof services)[number]
const cli = 'command line'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const mechanisms: Record<Service, string> = {
  dispatcher: 'plain',
  retrier: 'scram-sha-256',
  'dead-letter': 'scram-sha-512',
}

describe.skipIf(!(await canRunOwnBroker()) || !canMakeCertificates())(
  'a Kafka with TLS, SASL and an authorizer',
  () => {
    let kafka: SecuredKafka
    let receiver: Receiver
    const running = new Map<Service, RunningProcess>()
    /** Of all processes, for the secrets that must not be in it. */
    const said: (readonly string[])[] = []

    const environment = (role: string, mechanism: string): Record<string, string> => ({
      ...plainEnvironment(prefix, ''),
      BARNABAS_DRAIN_TIMEOUT: '1s',
      ...kafka.environment(userOf(role), mechanism),
    })

    function run(entry: string, env: Record<string, string>, args: readonly string[] = []): RunningProcess {
      const started = runProcess(entry, env, args)
      said.push(started.lines)
      return started
    }

    function barnabas(args: readonly string[], env = environment(cli, 'scram-sha-512')): RunningProcess {
      return run('services/cli/bin/barnabas', env, args)
    }

    /** Blobs go into a folder, after 0.3 s instead of five minutes. */
    const toFolder = () => ({ BARNABAS_BLOB_ARCHIVE_ENDPOINT: `file://${kafka.folder}`, BARNABAS_TIME_SCALE: '0.001' })

    async function start(service: Service): Promise<RunningProcess> {
      const { KAFKA_SASL_PASSWORD = '', ...env } = environment(service, mechanisms[service])
      const file = join(kafka.folder, `${service}.password`)
      await writeFile(file, `${KAFKA_SASL_PASSWORD}\n`)
      const started = run(`services/${service}/main.ts`, {
        ...env,
        KAFKA_SASL_PASSWORD_FILE: file,
        ...(service === 'dead-letter' ? toFolder() : {}),
        BARNABAS_CLUSTERS_FILE: join(kafka.folder, 'clusters.yaml'),
        BARNABAS_SECRET_SINK: 'not-the-secret',
      })
      running.set(service, started)
      await started.line(new RegExp(`${service} is ready`))
      return started
    }

    /** Two subscriptions, one of them with a dead-letter topic of its own; resolves when they run. */
    async function applyBoth(timeout: string): Promise<void> {
      const common = { topics: [places.sourceTopic], sink: receiver.url, retry: { schedule: ['1s'] }, timeout }
      const blob = { account: 'archive', container: 'letters' }
      const own = { ...common, id: 'own', deadLetter: { topic: places.deadLetterTopic, blob } }
      await apply(prefix, [{ ...common, id: 'default' }, own], environment(cli, 'scram-sha-512'))
    }

    beforeAll(async () => {
      kafka = await startSecuredKafka([...services, cli].map(userOf))
      receiver = await startReceiver(({ eventId, attempt }) =>
        eventId === 'refused' ? 400 : eventId.startsWith('late') && attempt === 1 ? 503 : 200,
      )
      const plain = plainKafka([kafka.plainBrokers])
      await createTopic(plain, places.sourceTopic, 2)
      await createTopic(plain, places.deadLetterTopic)
      await createTopic(plain, places.sinkTopic)
      // The same broker, for a user whose password is another.
      const sasl = { mechanism: 'plain', username: 'dispatcher', password: { secret: 'SINK' } }
      const cluster = { brokers: [kafka.securedBrokers], ssl: { caFile: kafka.certificates.caFile }, sasl }
      await writeFile(join(kafka.folder, 'clusters.yaml'), JSON.stringify({ elsewhere: cluster }))
      await mkdir(join(kafka.folder, 'letters'))
      await allow(plain, documentedRights(places))
    })
    afterAll(async () => {
      await Promise.all([...running.values()].map((each) => each.kill('SIGKILL')))
      await receiver?.close()
      await kafka?.remove()
    })

    test('each service does its work with a user of its own and exactly the rights of docs/security.md', async () => {
      await Promise.all(services.map(start))
      await applyBoth('30s')
      expect(await barnabas(['send', places.sourceTopic, '--id', 'at-once']).exited).toBe(0)
      await produce(
        plainKafka([kafka.plainBrokers]),
        places.sourceTopic,
        ['late', 'refused'].map((id) => binaryEvent(id)),
      )
      await receiver.until((requests) => requests.length >= 8)
      const attempts = receiver.requests.map(({ eventId, attempt }) => `${eventId} ${attempt}`)
      expect(attempts.toSorted()).toEqual(
        ['at-once 1', 'at-once 1', 'late 1', 'late 1', 'late 2', 'late 2', 'refused 1', 'refused 1'].toSorted(),
      )
      for (const id of ['default', 'own']) {
        await running.get('dead-letter')!.line(new RegExp(`dead letter of ${id}: UndeliverableDueToHttpBadRequest`))
      }
      await vi.waitFor(async () => {
        const files = await readdir(join(kafka.folder, 'letters'), { recursive: true })
        expect(files).toContainEqual(expect.stringMatching(/^OWN\/.*\.json$/))
      }, 15_000)
      const letters = barnabas(['dead-letters', 'list'])
      expect(await letters.exited).toBe(0)
      const positions = letters.lines.flatMap(
        (line) => /\S+-?letter\/\d\/\d|failed-orders\/\d\/\d/.exec(line)?.[0] ?? [],
      )
      expect(positions.toSorted()).toEqual([
        'failed-orders/0/0',
        expect.stringMatching(/^secured\.dead-letter\/\d\/0$/),
      ])
      const redrive = barnabas(['dead-letters', 'redrive', '--subscription', 'default'])
      expect(await redrive.exited).toBe(0)
      expect(redrive.lines.join('\n')).toContain('sent 1 of 1 dead letters again')
      await receiver.until((requests) => requests.length >= 9)
      const description = barnabas(['describe', 'own'])
      expect(await description.exited).toBe(0)
      expect(description.lines.join('\n')).toMatch(/orders\/0 +\d.*\n.*orders\/1 +\d/)
    })

    /** The right is taken away while `work` goes on. */
    async function withoutRight(on: Right['on'], name: string, operation: string, work: () => Promise<void>) {
      const plain = plainKafka([kafka.plainBrokers])
      const taken = documentedRights(places).filter(
        (right) =>
          right.role === 'dispatcher' && right.on === on && right.name === name && right.operation === operation,
      )
      expect(taken).toHaveLength(1)
      await forbid(plain, taken)
      try {
        await work()
      } finally {
        await allow(plain, taken)
      }
    }

    test('what may not be written to a retry topic waits where it is, and goes on once it may', async () => {
      await withoutRight('topic', `${prefix}.retry.`, 'Write', async () => {
        await produce(plainKafka([kafka.plainBrokers]), places.sourceTopic, [binaryEvent('late-again')])
        const warning = await running.get('dispatcher')!.line(/cannot be written to secured\.retry\.1s/)
        expect(warning).toContain('not authorized to write to topic secured.retry.1s')
      })
      await receiver.until(() => receiver.of('late-again').length >= 4)
      expect(receiver.of('late-again').map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2])
    })

    test.each([
      ['source topic', 'topic', places.sourceTopic, '29s', /^not authorized to read topic orders: .*topic/i],
      [
        'consumer group',
        'group',
        `${prefix}.subscription.`,
        '28s',
        /^not authorized to use consumer group secured\.subscription\./,
      ],
    ] as const)('a %s that may not be read is a reason of Start Failed', async (_, on, name, timeout, reason) => {
      const plain = plainKafka([kafka.plainBrokers])
      // Read brings Describe along, and a topic that may not even be described does not exist for its user.
      const visible = { on: 'topic', name: places.sourceTopic, isPrefix: false, operation: 'Describe' } as const
      await allow(plain, [{ ...visible, role: 'dispatcher' }])
      const control = await followControlTopics(prefix, plain)
      const event = `while no ${on} may be read`
      await withoutRight(on, name, 'Read', async () => {
        for (const id of ['default', 'own']) {
          await control.untilStatus(id, (status) => status.status === 'Start Failed' && reason.test(status.reason))
        }
        await produce(plain, places.sourceTopic, [binaryEvent(event)])
      })
      await control.stop()
      // What changed is tried again.
      await applyBoth(timeout)
      await receiver.until(() => receiver.of(event).length >= 2)
      expect(receiver.of(event).map(({ attempt }) => attempt)).toEqual([1, 1])
    })

    test('B3: a sink that may not be written to, and one that refuses our user, end their subscriptions', async () => {
      const plain = plainKafka([kafka.plainBrokers])
      const control = await followControlTopics(prefix, plain)
      const visible = { on: 'topic', name: places.sinkTopic, isPrefix: false, operation: 'Describe' } as const
      await allow(plain, [{ ...visible, role: 'dispatcher' }])
      const reasonOf = async (id: string) => {
        return (await control.untilStatus(id, ({ status }) => status === 'Start Failed')).reason
      }
      await withoutRight('topic', places.sinkTopic, 'Write', async () => {
        const common = { topics: [places.sourceTopic] }
        const subscriptions = [
          { id: 'copies', sink: `kafka:${places.sinkTopic}`, ...common },
          { id: 'elsewhere', sink: `kafka://elsewhere/${places.sinkTopic}`, ...common },
        ]
        await apply(prefix, subscriptions, environment(cli, 'scram-sha-512'), ['--no-wait'])
        await control.untilStatus('copies', ({ status }) => status === 'Running')
        await produce(plain, places.sourceTopic, [binaryEvent('kept')])
        expect(await reasonOf('copies')).toMatch(/^sink: topic copies: not authorized to write to topic copies/)
        expect(await reasonOf('elsewhere')).toMatch(
          /^sink: topic copies of the cluster elsewhere may not be written to/,
        )
      })
      await control.stop()
      expect(await barnabas(['start', 'copies']).exited).toBe(0)
      const [copy] = await readTopic(plain, places.sinkTopic, (messages) => messages.length > 0)
      expect(copy && eventIdOf(copy)).toBe('kept')
    })

    test('a service that may not read what all of them need says so and ends', async () => {
      await withoutRight('topic', `${prefix}.status`, 'Read', async () => {
        const { exited, lines } = run('services/dispatcher/main.ts', environment('dispatcher', 'plain'))
        expect(await exited).toBe(1)
        expect(lines.at(-1)).toBe(
          `Kafka at ${kafka.securedBrokers} does not let user "dispatcher" do what is needed ` +
            `(not authorized to read topic ${prefix}.status): docs/security.md lists the rights of each service`,
        )
      })
    })

    test('a group that its user may not use at all is no coordinator that is not there yet', async () => {
      const [retrier, deadLetter] = ['retrier', 'dead-letter'].map((service) =>
        run(`services/${service}/main.ts`, environment('dispatcher', 'plain')),
      )
      const warning = await deadLetter!.line(/dead-letter\.log\b.*cannot read the dead-letter topics yet; trying again/)
      expect(warning).toContain(`not authorized to use consumer group ${prefix}.dead-letter.log`)
      expect(await deadLetter!.kill('SIGTERM')).toBe(0)
      expect(await retrier!.exited).toBe(1)
      expect(retrier!.lines.at(-1)).toContain(`(not authorized to use consumer group ${prefix}.retrier)`)
    })

    test('without the right to create topics the commands are printed, and what they make is used', async () => {
      const plain = plainKafka([kafka.plainBrokers])
      const own = documentedRights({ ...places, prefix: 'made' }).filter(({ role }) => role === 'dispatcher')
      await allow(
        plain,
        own.filter(({ operation }) => operation !== 'Create'),
      )
      const env = { ...environment('dispatcher', 'plain'), BARNABAS_PREFIX: 'made' }
      const refused = run('services/dispatcher/main.ts', env)
      expect(await refused.exited).toBe(1)
      const sentences = refused.lines.filter((line) => !line.startsWith('{'))
      expect(sentences[0]).toBe('topics are missing and may not be created here:')
      expect(sentences).toContain(
        'made.retry.1m: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed]',
      )
      const commands = sentences.slice(sentences.indexOf('Run this, then start again:') + 1)
      expect(commands).toHaveLength(29)
      await runCreateCommands(plain, commands)
      const started = run('services/dispatcher/main.ts', env)
      await started.line(/dispatcher is ready/)
      expect(await started.kill('SIGTERM')).toBe(0)
    })

    const without = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']))
    const noUser = without('KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD')

    test.concurrent.each<[string, Record<string, string>, RegExp]>([
      [
        'a wrong password',
        { KAFKA_SASL_PASSWORD: 'not-the-secret' },
        /^Kafka at BROKERS refuses user "commandline" \(.*invalid credentials.*\): mend KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD or KAFKA_SASL_MECHANISM$/,
      ],
      [
        'an authority that is not known',
        without('KAFKA_SSL_CA_FILE'),
        /^the certificate of Kafka at BROKERS is not trusted \(unable to verify the first certificate\): set KAFKA_SSL_CA_FILE to the PEM file of the authority that signed it$/,
      ],
      [
        'clear text to a port with TLS',
        { ...without('KAFKA_SSL', 'KAFKA_SSL_CA_FILE'), ...noUser },
        /^Kafka at BROKERS closes the connection without an answer: it may want TLS \(KAFKA_SSL=true\) or a user \(KAFKA_SASL_MECHANISM,/,
      ],
    ])('%s is one sentence that names the variable', async (_, changes, sentence) => {
      const { exited, lines } = barnabas(['get'], { ...environment(cli, 'scram-sha-512'), ...changes })
      expect(await exited).toBe(1)
      const sentences = lines.map((line) => line.replace(/^error: /, '').replace(kafka.securedBrokers, 'BROKERS'))
      expect(sentences).toEqual([expect.stringMatching(sentence)])
    })

    test.concurrent.each([
      ['dispatcher', { KAFKA_SASL_PASSWORD: 'not-the-secret' }, /^Kafka at .* refuses user "dispatcher" \(.*\): mend /],
      ['retrier', without('KAFKA_SSL_CA_FILE'), /^the certificate of Kafka at .* is not trusted \(.*\): set /],
    ] as const)('%s says the same and ends with status 1', async (service, changes, sentence) => {
      const { exited, lines } = run(`services/${service}/main.ts`, {
        ...environment(service, mechanisms[service]),
        ...changes,
      })
      expect(await exited).toBe(1)
      expect(lines.filter((line) => !line.startsWith('{'))).toEqual([expect.stringMatching(sentence)])
    })

    test.concurrent('a certificate of ours is shown to a Kafka that asks for one', async () => {
      const { certificateFile: cert, keyFile: key } = kafka.certificates
      const broker = { KAFKA_BROKERS: kafka.mutualTlsBrokers, KAFKA_SSL_CERT_FILE: cert, KAFKA_SSL_KEY_FILE: key }
      const { exited, lines } = barnabas(['get'], { ...environment(cli, 'plain'), ...noUser, ...broker })
      expect([await exited, ...lines]).toEqual([0, expect.stringMatching(/^no subscriptions/)])
    })

    test('whatever is wrong with a connection is told apart', async () => {
      const { certificates, securedBrokers, plainBrokers, mutualTlsBrokers } = kafka
      const pem = (file: string) => readFile(file, 'utf8')
      const ca = [await pem(certificates.caFile)]
      const otherCa = [await pem(certificates.certificateFile)]
      const user = userOf(cli)
      const sasl = (password: string) => ({ mechanism: 'plain', username: user, password }) as const
      const right = { brokers: securedBrokers, ssl: { ca }, sasl: sasl(passwordOf(user)) }
      const { ssl: _, ...clearText } = right
      const { sasl: __, ...nobody } = right
      const found = await Promise.all(
        [
          right,
          { ...right, sasl: sasl('not-the-secret') },
          { ...right, ssl: {} },
          { ...right, ssl: { ca: otherCa } },
          { ...right, brokers: securedBrokers.replace('127.0.0.1', 'localhost') },
          clearText,
          nobody,
          { ...right, brokers: plainBrokers },
          { ...clearText, brokers: plainBrokers },
          { ...nobody, brokers: mutualTlsBrokers },
        ].map(async ({ brokers, ...security }) => {
          const client = connectKafka({ brokers: [brokers], clientId: 'test', logger: silent, ...security })
          const problem = await client.admin
            .brokerCount(1)
            .then(String, (error: unknown) => connectionProblemOf(error).code)
          await client.close()
          return problem
        }),
      )
      expect(found).toEqual([
        '1',
        'AUTHENTICATION',
        'UNTRUSTED_CERTIFICATE',
        'UNTRUSTED_CERTIFICATE',
        'CERTIFICATE_OF_OTHER_HOST',
        'CLOSED',
        'CLOSED',
        'NOT_TLS',
        'NO_SASL',
        'OWN_CERTIFICATE_REFUSED',
      ])
    })

    test('no secret is in anything that was said', () => {
      const all = said.flat().join('\n')
      expect(all).toContain(userOf('dispatcher'))
      for (const secret of [...services, cli].map((role) => passwordOf(userOf(role)))) expect(all).not.toContain(secret)
      expect(all).not.toContain('not-the-secret')
      expect(all).not.toContain('PRIVATE KEY')
    })
  },
)
