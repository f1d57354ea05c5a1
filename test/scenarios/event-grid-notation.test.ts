/** Somebody brings the JSON of an event subscription, and takes it away again: row C5, and A2 and C1 for what arrives. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSourceTopic, environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const root = resolve(import.meta.dirname, '../..')
const prefix = randomName('notation')
const cleanUp = cleanUpAfterAll()
let receiver: Receiver

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ headers, body }) => {
    if (headers['aeg-event-type'] !== 'SubscriptionValidation') return 200
    const [{ data }] = JSON.parse(String(body)) as [{ data: { validationCode: string } }]
    return { status: 200, body: JSON.stringify({ validationResponse: data.validationCode }) }
  })
  cleanUp(() => receiver.close())
  const running = await startBarnabas(prefix)
  cleanUp(() => running.stop())
})

/** The command, with a document on its standard input. */
function barnabas(args: readonly string[], document: unknown = {}) {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: root, env: { PATH, HOME, ...environment(prefix) } }
  return new Promise<{ readonly status: unknown; readonly out: string; readonly err: string }>((done) => {
    const command = ['services/cli/bin/barnabas', ...args]
    const child = execFile(process.execPath, command, options, (error, out, err) => {
      done({ status: error === null ? 0 : error.code, out, err })
    })
    child.stdin?.end(typeof document === 'string' ? document : JSON.stringify(document))
  })
}

/** A sample that delivers to the receiver. */
async function sample(name: string): Promise<Record<string, unknown>> {
  const text = await readFile(join(root, 'packages/core/samples/event-grid', `${name}.json`), 'utf8')
  return JSON.parse(text.replaceAll('https://billing.example.com/hook', `${receiver.url}/${name}`)) as Record<
    string,
    unknown
  >
}

function received(name: string) {
  return receiver.requests.filter(({ path }) => path === `/${name}`)
}

test('C5, C1: the sample for Kubernetes is applied, delivered as an array, shown, and applied again as it was shown', async () => {
  const topic = await createSourceTopic(prefix, 'kubernetes')
  const document = { ...(await sample('kubernetes-document')), notation: 'event-grid-kubernetes' }

  const applied = await barnabas(['apply', '-f', '-', '--id', 'k8s', '--topic', topic], document)
  expect(applied).toMatchObject({ status: 0, out: expect.stringMatching(/^k8s created\nk8s Running/) })
  expect(applied.err).toMatch(/^warning: k8s: deadLetter: none: events whose retries are exhausted will be discarded/)

  await produce(plainKafka(), topic, [binaryEvent('e1')])
  await receiver.until(() => received('kubernetes-document').length > 0)
  const [request] = received('kubernetes-document')
  expect(request?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8')
  expect(JSON.parse(String(request?.body))).toMatchObject([{ id: 'e1', specversion: '1.0', data: { number: 1 } }])

  const yaml = (await barnabas(['get', 'k8s', '-o', 'yaml'])).out
  expect(parse(yaml)).toEqual({
    id: 'k8s',
    topics: [topic],
    sink: `${receiver.url}/kubernetes-document`,
    input: 'cloudevents',
    schema: 'CloudEventSchemaV1_0',
    mode: 'structured',
    retry: { schedule: 'event-grid-kubernetes', maxAttempts: 3, timeToLive: '30m' },
    notation: 'event-grid-kubernetes',
    handshake: 'none',
    deadLetter: 'none',
    revision: 1,
  })
  const eventGrid = await barnabas(['get', 'k8s', '-o', 'event-grid'])
  expect(eventGrid).toMatchObject({ status: 0, err: '' })
  expect(JSON.parse(eventGrid.out)).toEqual({
    name: 'k8s',
    type: 'Microsoft.EventGrid/eventSubscriptions',
    notation: 'event-grid-kubernetes',
    topics: [topic],
    revision: 1,
    properties: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: `${receiver.url}/kubernetes-document` } },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      retryPolicy: { maxDeliveryAttempts: 3, eventTimeToLiveInMinutes: 30 },
    },
  })
  for (const shown of [yaml, eventGrid.out]) {
    expect((await barnabas(['apply', '-f', '-', '--no-wait'], shown)).out).toBe('k8s unchanged\n')
  }

  expect((await barnabas(['get'])).out).toMatch(
    / SCHEDULE +NOTATION +AGE .*\nk8s .* event-grid-kubernetes +event-grid-k/,
  )
  expect((await barnabas(['describe', 'k8s'])).out).toMatch(/^notation +event-grid-kubernetes$/m)
})

test('C4: dead letters are added by hand where Kubernetes has none, and what it refuses is refused by name', async () => {
  const topic = await createSourceTopic(prefix, 'refused')
  const kubernetes = { ...(await sample('kubernetes-batch')), topics: [topic] }
  const document = { ...kubernetes, name: 'By-Hand', deadLetter: { responseBody: false } }
  expect(await barnabas(['apply', '-f', '-', '--no-wait'], document)).toEqual({
    status: 0,
    out: 'by-hand created\n',
    err: '',
  })
  const refused = await barnabas(['apply', '-f', '-', '--id', 'x', '--topic', topic], {
    ...(await sample('put-everything')),
    notation: 'event-grid-kubernetes',
  })
  expect(refused).toMatchObject({ status: 1, out: '' })
  expect(refused.err).toMatch(
    /1:\d+: properties\.deadLetterDestination: Event Grid on Kubernetes has no dead-lettering/,
  )
  expect(refused.err).toMatch(/properties\.filter\.advancedFilters\[0\]\.operatorType: NumberInRange is not supported/)
  expect(refused.err).toMatch(/Nothing was applied\.$/m)
})

test('A2: a sample of the REST specification is applied, delivered in Event Grid’s schema, shown, and applied again', async () => {
  const topic = await createSourceTopic(prefix, 'cloud')
  const document = await sample('rest-create')
  const applied = await barnabas(['apply', '-f', '-', '--topic', topic], document)
  expect(applied).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^orderstobilling created\nordersto\w+ Running/),
    // Who sends CloudEvents there wonders why nothing arrives.
    err: expect.stringContaining(`\`barnabas send ${topic} --input event-grid\``),
  })

  const event = {
    id: 'e2',
    eventType: 'order.paid',
    eventTime: '2026-01-01T00:00:00Z',
    dataVersion: '1',
    data: { n: 2 },
  }
  const subjects = ['/other/7/paid', '/ORDERS/7/PAID']
  const records = subjects.map((subject) => ({ value: JSON.stringify({ ...event, subject }) }))
  await produce(plainKafka(), topic, records)
  await receiver.until(() => received('rest-create').length > 1)
  expect(received('rest-create')).toHaveLength(2)
  const [handshake, request] = received('rest-create')
  expect(handshake?.headers['aeg-event-type']).toBe('SubscriptionValidation')
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'aeg-event-type': 'Notification',
    'aeg-subscription-name': 'ORDERSTOBILLING',
    'aeg-delivery-count': '0',
  })
  expect(JSON.parse(String(request?.body))).toMatchObject([{ ...event, subject: '/ORDERS/7/PAID' }])

  const send = ['send', topic, '--input', 'event-grid', '--type', 'order.paid', '--id', 'e3', '--data', '{"n": 1.0}']
  expect((await barnabas([...send, '--subject', '/orders/8/paid'])).status).toBe(0)
  await receiver.until(() => received('rest-create').length > 2)
  const sent = String(received('rest-create')[2]?.body)
  expect(JSON.parse(sent)).toMatchObject([
    { id: 'e3', eventType: 'order.paid', topic: '/barnabas/send', data: { n: 1 } },
  ])
  expect(sent).toContain('"data":{"n": 1.0}')

  const eventGrid = await barnabas(['get', 'orderstobilling', '-o', 'event-grid'])
  expect(JSON.parse(eventGrid.out)).toMatchObject({
    name: 'orderstobilling',
    notation: 'event-grid',
    properties: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: `${receiver.url}/rest-create` } },
      eventDeliverySchema: 'EventGridSchema',
      filter: { subjectBeginsWith: '/orders/', subjectEndsWith: '/paid' },
    },
  })
  expect(eventGrid.err).toBe('')
  const again = await barnabas(['apply', '-f', '-', '--no-wait'], eventGrid.out)
  expect(again).toMatchObject({ status: 0, out: 'orderstobilling unchanged\n' })
})
