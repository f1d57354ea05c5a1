/** Issue 6, point 11: Kafka topics as sinks. What each kind of answer comes to is a table beside the sender. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, environment, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import { closedGate } from '../support/gate.ts'
import type { Gate } from '../support/gate.ts'
import { createTopic, plainKafka, produce, randomName, readTopic, withAdmin } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'

const prefix = randomName('kafka-sinks')
const cleanUp = cleanUpAfterAll()
const kafka = plainKafka()
let barnabas: Barnabas
let control: ControlTopics
let gate: Gate

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-clusters-'))
  cleanUp(() => rm(folder, { recursive: true, force: true }))
  cleanUp(() => removeEverything(prefix))
  gate = await closedGate()
  cleanUp(async () => gate.close())
  const clusters = join(folder, 'clusters.yaml')
  await writeFile(clusters, `elsewhere: { brokers: ['127.0.0.1:${gate.port}'] }\n`)
  barnabas = await startBarnabas(prefix, { BARNABAS_CLUSTERS_FILE: clusters, BARNABAS_SECRET_KEY: 'hunter2' })
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

test('A20: the event with its key and the headers of the subscription, in both modes; what is too large is a dead letter', async () => {
  const source = await createSourceTopic(prefix, 'modes')
  const [binary, structured, small, stream] = await Promise.all(
    ['binary', 'structured', 'small', 'stream'].map((stem) => sinkTopic(stem)),
  )
  await withAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: small!, configEntries: [{ name: 'max.message.bytes', value: '300' }] }],
    }),
  )
  await produce(kafka, source, [
    binaryEvent('one', { key: 'customer-7', data: `{"n": 1e2, "pad": "${'x'.repeat(300)}"}` }),
  ])
  const common = { topics: [source], from: 'earliest' }
  await apply(prefix, [
    { id: 'binary', sink: `kafka:${binary}`, headers: { 'X-Team': 'billing', 'X-Key': { secret: 'KEY' } }, ...common },
    {
      id: 'structured',
      sink: `kafka:${structured}`,
      mode: 'structured',
      transform: { key: { form: 'JSONPATH', value: '$.source' } },
      ...common,
    },
    { id: 'small', sink: `kafka:${small}`, ...common },
    {
      id: 'stream',
      EventStreamingName: 'stream',
      Source: { SourceKafkaParameters: { Topic: source, OffsetReset: 'earliest' } },
      Sink: {
        SinkKafkaParameters: {
          Topic: { Form: 'CONSTANT', Value: stream },
          Key: { Form: 'JSONPATH', Value: '$.id' },
          Value: { Form: 'TEMPLATE', Value: '{"n":"$.data.n"}', Template: '{"number":${n}}' },
          Headers: { Form: 'CONSTANT', Value: '{"X-Team":"streams"}' },
        },
      },
    },
  ])
  const [first] = await readTopic(kafka, binary!, (messages) => messages.length > 0)
  expect(first?.key?.toString()).toBe('customer-7')
  expect(first?.value?.toString()).toMatch(/^\{"n": 1e2, /)
  const names = ['ce_id', 'ce_type', 'content-type', 'X-Team', 'X-Key', 'barnabas-subscription', 'barnabas-attempt']
  expect(names.map((name) => header(first!, name))).toEqual([
    'one',
    'test.made',
    'application/json',
    'billing',
    'hunter2',
    'binary',
    '1',
  ])
  const [second] = await readTopic(kafka, structured!, (messages) => messages.length > 0)
  expect(second?.key?.toString()).toBe('/tests')
  expect(header(second!, 'content-type')).toBe('application/cloudevents+json; charset=UTF-8')
  expect(eventIdOf(second!)).toBe('one')
  const [third] = await readTopic(kafka, stream!, (messages) => messages.length > 0)
  expect([third?.key?.toString(), third?.value?.toString(), header(third!, 'X-Team')]).toEqual([
    'one',
    '{"number":1e2}',
    'streams',
  ])
  const [letter] = await readTopic(kafka, `${prefix}.dead-letter`, (messages) => messages.length > 0)
  expect(header(letter!, 'barnabas-dead-letter-reason')).toBe('UndeliverableDueToHttpRequestEntityTooLarge')
  expect(header(letter!, 'barnabas-last-outcome')).toBe('PayloadTooLarge')
  expect(header(letter!, 'barnabas-destination')).toBe(`kafka:${small}`)
})

test('B3: a topic that is missing ends the subscription, from Starting and from Running; the event keeps its place until start', async () => {
  const source = await createSourceTopic(prefix, 'missing')
  const sink = await sinkTopic('deleted')
  const never = randomName(`${prefix}.sink-never-made`)
  const common = { topics: [source], from: 'earliest' }
  const subscriptions = [
    { id: 'running', sink: `kafka:${sink}`, ...common },
    { id: 'starting', sink: `kafka:${never}`, ...common },
  ]
  await apply(prefix, subscriptions, {}, ['--no-wait'])
  const { reason } = await control.untilStatus('starting', ({ status }) => status === 'Start Failed')
  expect(reason).toMatch(new RegExp(`^sink: topic ${never} does not exist`))

  await control.untilStatus('running', ({ status }) => status === 'Running')
  await withAdmin((admin) => admin.deleteTopics({ topics: [sink] }))
  await produce(kafka, source, [binaryEvent('kept')])
  const failed = await control.untilStatus('running', ({ status }) => status === 'Start Failed')
  expect(failed.reason).toMatch(new RegExp(`^sink: topic ${sink} does not exist`))
  expect(await lagOf(`${prefix}.subscription.running`, source)).toBe(1)
  await createTopic(kafka, sink)
  const { exited } = runProcess('services/cli/bin/barnabas', environment(prefix), ['start', 'running'])
  const [delivered] = await readTopic(kafka, sink, (messages) => messages.length > 0)
  expect(delivered && eventIdOf(delivered)).toBe('kept')
  expect(await exited).toBe(0)
})

test('a cluster that is away is tried again until it is back', async () => {
  const source = await createSourceTopic(prefix, 'away')
  const sink = await sinkTopic('away')
  await produce(kafka, source, [binaryEvent('patient')])
  const retry = { schedule: ['500ms', 'repeat'], maxAttempts: 1_000 }
  const topics = await followTopics(kafka, [sink])
  cleanUp(() => topics.stop())
  await apply(prefix, [
    { id: 'away', topics: [source], from: 'earliest', sink: `kafka://elsewhere/${sink}`, timeout: '300ms', retry },
  ])
  await barnabas.process.line(/attempt 2: (TimedOut|SocketError)/)
  await gate.open()
  const [delivered] = await topics.until((records) => records.length > 0)
  expect(eventIdOf(delivered!)).toBe('patient')
  expect(Number(header(delivered!, 'barnabas-attempt'))).toBeGreaterThan(2)
})

async function sinkTopic(stem: string): Promise<string> {
  const topic = randomName(`${prefix}.sink-${stem}`)
  await createTopic(kafka, topic)
  return topic
}
