/** Somebody brings the JSON of an event stream of EventBridge, and takes it away again: rows B1, B4 and B6 for what arrives. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createSourceTopic, environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const root = resolve(import.meta.dirname, '../..')
const prefix = randomName('streams')
const cleanUp = cleanUpAfterAll()
const key = 'hunter2-of-the-destination'
let receiver: Receiver

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(() => 204)
  cleanUp(() => receiver.close())
  const running = await startBarnabas(prefix, { BARNABAS_SECRET_BILLING_KEY: key })
  cleanUp(() => running.stop())
})

/** The command, with a document on its standard input. */
function barnabas(args: readonly string[], document = '', more: Readonly<Record<string, string>> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: root, env: { PATH, HOME, ...environment(prefix), ...more } }
  return new Promise<{ readonly status: unknown; readonly out: string; readonly err: string }>((done) => {
    const command = ['services/cli/bin/barnabas', ...args]
    const child = execFile(process.execPath, command, options, (error, out, err) => {
      done({ status: error === null ? 0 : error.code, out, err })
    })
    child.stdin?.end(document)
  })
}

/** A sample that reads the topic and delivers to the receiver. */
async function sample(name: string, topic: string): Promise<string> {
  const text = await readFile(join(root, 'packages/core/samples/eventbridge', `${name}.json`), 'utf8')
  return text
    .replaceAll('https://billing.example.com/hook', `${receiver.url}/hook`)
    .replace(/(\\?"Topic\\?": ?\\?")orders/g, `$1${topic}`)
}

test('B1, B4, B6: a stream in the RPC spelling is applied, filtered, delivered as EventBridge wraps it, shown, and applied again', async () => {
  const topic = await createSourceTopic(prefix, 'orders')
  const pattern = JSON.stringify({ data: { value: { amount: [{ numeric: ['>', 10] }] } } })
  const body = { ...(JSON.parse(await sample('rpc-spelling', topic)) as object), FilterPattern: pattern }
  const applied = await barnabas(['apply', '-f', '-'], JSON.stringify(body))
  expect(applied).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^orders-to-billing created\norders-\S+ Running/),
  })
  expect(applied.err).toContain('RegionId are ignored; the topic is read from KAFKA_BROKERS')

  await produce(plainKafka(), topic, [{ value: '{"amount": 5}' }, { key: 'k', value: '{"amount": 50.0}' }])
  const [request] = await receiver.until((all) => all.length > 0)
  expect(request!.headers).toMatchObject({ 'content-type': 'application/cloudevents+json; charset=utf-8' })
  expect(request!.headers).not.toHaveProperty('aeg-event-type')
  expect(request!.body.toString()).toContain('"key":"k","value":{"amount": 50.0}}}')
  expect(JSON.parse(request!.body.toString())).toMatchObject({
    source: 'acs:alikafka',
    type: 'alikafka:Topic:Message',
    subject: `acs:alikafka:alikafka_post-cn-9hdsbdhd0001:topic:${topic}`,
  })
  expect(receiver.requests).toHaveLength(1)

  const shown = await barnabas(['get', 'orders-to-billing', '-o', 'eventbridge'])
  expect(shown.status).toBe(0)
  expect(JSON.parse(shown.out)).toMatchObject({
    EventStreamingName: 'orders-to-billing',
    FilterPattern: pattern,
    Source: { SourceKafkaParameters: { Topic: topic, ValueDataType: 'JSON', OffsetReset: 'earliest' } },
    RunOptions: { RetryStrategy: { PushRetryStrategy: 'BACKOFF_RETRY', MaximumEventAgeInSeconds: 600 } },
    revision: 1,
  })
  expect((await barnabas(['apply', '-f', '-', '--no-wait'], shown.out)).out).toBe('orders-to-billing unchanged\n')
})

test('what cannot be is refused by name, and nothing is applied', async () => {
  const refused = await barnabas(['apply', '-f', '-'], await sample('refused-terraform-mns', 'orders'))
  expect(refused).toMatchObject({ status: 1, out: '' })
  expect(refused.err).toMatch(/\d+:\d+: Source\.SourceMNSParameters: Simple Message Queue is not read here/)
  expect(refused.err).toMatch(/\d+:\d+: Sink\.SinkMNSParameters: Simple Message Queue gets nothing from here/)
  expect(refused.err).toMatch(/Nothing was applied\.$/m)
  const secrets = await barnabas(['apply', '-f', '-'], await sample('refused-secrets', 'orders'))
  expect(secrets.err).toContain('SaslPassword: may not stand here')
  expect(secrets.err).toContain('"kafka-1.example.com:9092" is not in KAFKA_BROKERS')
  expect(secrets.err).not.toContain('hunter2')
})

test('an API destination is found by its name, its body made by a template, and its secret only where it is sent', async () => {
  const topic = await createSourceTopic(prefix, 'api')
  const dir = await mkdtemp(join(tmpdir(), 'barnabas-destinations-'))
  cleanUp(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'destinations.yaml')
  await writeFile(
    file,
    `other-api:\n  endpoint: ${receiver.url}/api\n  headers: { Authorization: { secret: BILLING_KEY } }\n`,
  )
  const Form = { Form: 'TEMPLATE', Value: '{"key":"$.data.key"}', Template: '{"message":"from ${key}"}' }
  const written = await sample('refused-api-destination', topic)
  const body = written.replace(/"BodyParameters": \{[^}]*\}/, `"BodyParameters": ${JSON.stringify(Form)}`)
  const without = await barnabas(['apply', '-f', '-'], body)
  expect(without.err).toMatch(/Name: BARNABAS_DESTINATIONS_FILE is not set; set it, and write `"other-api": /)

  const applied = await barnabas(['apply', '-f', '-'], body, { BARNABAS_DESTINATIONS_FILE: file })
  expect(applied).toMatchObject({ status: 0, out: expect.stringMatching(/^api created\napi Running/) })
  await produce(plainKafka(), topic, [{ key: 'k"1', value: '{}' }])
  const isIt = ({ path }: { readonly path: string }) => path === '/api'
  const request = (await receiver.until((all) => all.some(isIt))).find(isIt)
  expect(request!.headers['authorization']).toBe(key)
  expect(request!.body.toString()).toBe('{"message":"from k\\"1"}')
  const shown = await barnabas(['get', 'api', '-o', 'eventbridge'])
  expect(JSON.parse(shown.out)).toMatchObject({ headers: { Authorization: { secret: 'BILLING_KEY' } }, timeout: '30s' })
  expect(applied.out + applied.err + shown.out + shown.err).not.toContain(key)
})
