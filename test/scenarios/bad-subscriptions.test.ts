/** Subscriptions that cannot run, and what they cannot run on: row B3; design, "Status of a subscription". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { followControlTopics, writeSubscription } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { header } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('bad-subscriptions')
/** A fiftieth of every duration. */
const scaled = { BARNABAS_TIME_SCALE: '0.02' }
let barnabas: Barnabas
let receiver: Receiver
let control: ControlTopics
let topic: string
let mayTake = false

const life = { generation: 1_700_000_000_000, revision: 1, startOffsets: {} }
const whole = (id: string, changes: Record<string, unknown> = {}) => ({
  id,
  topics: [topic],
  sink: `${receiver.url}/${id}`,
  ...life,
  ...changes,
})

const advanced = (operatorType: string, operands: object = { values: ['x'] }) => ({
  advanced: { operatorType, key: 'data.a', ...operands },
})
const notTimes = (times: number): unknown => (times === 0 ? advanced('StringIn') : { not: notTimes(times - 1) })

async function changeTopics(
  change: (admin: ReturnType<ReturnType<typeof plainKafka>['admin']>) => Promise<unknown>,
): Promise<void> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    await change(admin)
  } finally {
    await admin.disconnect()
  }
}
const deleteTopic = (name: string) => changeTopics((admin) => admin.deleteTopics({ topics: [name] }))
const startFailed = (id: string) => control.untilStatus(id, ({ status }) => status === 'Start Failed')
const pathsOf = (path: string) => receiver.requests.filter((request) => request.path === path)
async function arrivalsAt(path: string, count: number): Promise<readonly string[]> {
  await receiver.until(() => pathsOf(path).length >= count)
  return pathsOf(path).map(({ eventId }) => eventId)
}

beforeAll(async () => {
  receiver = await startReceiver(({ path }) => (path === '/holding' && !mayTake ? 503 : 200))
  barnabas = await startBarnabas(prefix, scaled)
  topic = await createSourceTopic(prefix, 'good')
  control = await followControlTopics(prefix)
  await writeSubscription(prefix, 'good', whole('good'))
  await control.untilStatus('good', ({ status }) => status === 'Running')
})

afterAll(async () => {
  await control.stop()
  await barnabas.stop()
  await receiver.close()
  await removeEverything(prefix)
})

describe('a subscription that was written by hand and does not validate is Start Failed with the reason', () => {
  const cases: Record<string, readonly [unknown, RegExp]> = {
    'no-json': ['{"id":', /not a JSON object/],
    'empty-value': ['', /not a JSON object/],
    'an-array': ['[]', /not a JSON object/],
    'no-generation': [{ generation: undefined }, /not written by `apply`: generation, revision or startOffsets/],
    'text-generation': [{ generation: '7' }, /generation, revision or startOffsets is missing or damaged/],
    'negative-revision': [{ revision: -1 }, /generation, revision or startOffsets/],
    'no-start-offsets': [{ startOffsets: undefined }, /generation, revision or startOffsets/],
    'damaged-start-offsets': [{ startOffsets: { orders: { first: 0 } } }, /generation, revision or startOffsets/],
    'no-sink': [{ sink: undefined }, /sink/],
    'numeric-sink': [{ sink: 7 }, /sink/],
    'ftp-sink': [{ sink: 'ftp://127.0.0.1/' }, /sink.*ftp/],
    'text-topics': [{ topics: 'orders' }, /topics/],
    'no-topics': [{ topics: [] }, /topics/],
    'own-topic': [{ topics: [`${prefix}.retry.1s`] }, /topics.*retry\.1s.*own topics/],
    'own-dead-letters': [{ topics: [`${prefix}.dead-letter`] }, /where this subscription's dead letters go/],
    'unknown-schedule': [{ retry: { schedule: 'sometimes' } }, /retry.*schedule.*sometimes/],
    'zero-concurrency': [{ concurrency: 0 }, /concurrency/],
    'unknown-order': [{ order: 'random' }, /order.*random/],
    'later-filter': [{ filters: [{ sql: 'a = 1' }] }, /filters\[0\]\.sql.*not available in this version/],
    'deep-filter': [{ filters: [notTimes(100)] }, /filters\[0\]\.not.*is nested more than 8 deep/],
    'wrong-operator': [{ filters: [advanced('StringsIn')] }, /"StringsIn" is not an operator.*did you mean StringIn\?/],
    'many-advanced': [
      { filters: Array.from({ length: 26 }, () => advanced('IsNotNull', {})) },
      /filters\[25\]\.advanced: is one of more than 25 advanced filters/,
    ],
    'long-operand': [
      { filters: [advanced('StringIn', { values: ['x'.repeat(513)] })] },
      /513 characters, more than 512/,
    ],
    'line-break': [{ filters: [{ advanced: { 'key\n': 'a', operatorType: 'IsNotNull' } }] }, /not a known field/],
    'of-another-id': [{ id: 'good' }, /"good".*key "of-another-id"/],
    'Not An Id': [{}, /id.*Not An Id/],
    __proto__: [{}, /id/],
  }
  const valueOf = (id: string, given: unknown) =>
    typeof given === 'string' ? given : whole(id, given as Record<string, unknown>)

  beforeAll(async () => {
    for (const [id, [given]] of Object.entries(cases)) await writeSubscription(prefix, id, valueOf(id, given))
    // No id at all: nothing to give a status to.
    await writeSubscription(prefix, 'x'.repeat(300), whole('nobody'))
  })

  test.each(Object.keys(cases))('%s', async (id) => {
    const status = await startFailed(id)
    expect(status.reason).toMatch(cases[id]![1])
    expect(status.reason).not.toMatch(/[\r\n]/)
  })

  test('an unknown field is only warned about, as in a rolling upgrade', async () => {
    await writeSubscription(
      prefix,
      'newer',
      whole('newer', { colour: 'blue', retry: { maxAttempts: 3, mood: 'good' } }),
    )
    await control.untilStatus('newer', ({ status }) => status === 'Running')
    await barnabas.process.line(/"subscription":"newer".*colour.*ignored/)
    await barnabas.process.line(/"subscription":"newer".*mood.*ignored/)
  })

  test('and the others go on', async () => {
    await produce(plainKafka(), topic, [binaryEvent('among the bad')])
    expect(await arrivalsAt('/good', 1)).toEqual(['among the bad'])
    expect(await arrivalsAt('/newer', 1)).toEqual(['among the bad'])
    expect(
      control
        .statusesOf('good')
        .map(({ status }) => status)
        .at(-1),
    ).toBe('Running')
  })

  test('a valid record over a bad one starts it, and a deletion takes its status away', async () => {
    await writeSubscription(prefix, 'no-json', whole('no-json'))
    await control.untilStatus('no-json', ({ status }) => status === 'Running')
    await writeSubscription(prefix, 'an-array', null)
    await control.untilRemoved('an-array')
  })
})

describe('a source topic that does not exist', () => {
  test('named by hand: Start Failed, and started by itself once it is there, from its beginning', async () => {
    const late = `${prefix}.late`
    await writeSubscription(
      prefix,
      'late',
      whole('late', { topics: [topic, late], types: ['late'], startOffsets: { [late]: { 0: 2 } } }),
    )
    const failed = await startFailed('late')
    expect(failed.reason).toBe(
      `source topic ${late} does not exist; the subscription starts by itself once it is there`,
    )
    await createTopic(plainKafka(), late)
    await produce(
      plainKafka(),
      late,
      ['first', 'second', 'third'].map((id) => binaryEvent(id, { type: 'late' })),
    )
    await control.untilStatus('late', ({ status, time }) => status === 'Running' && time >= failed.time)
    await receiver.until(() => ['first', 'second', 'third'].every((id) => receiver.of(id).length > 0))
  })

  test('deleted while its subscription runs, and made again: stopped, its retries kept, and started from the beginning', async () => {
    const gone = await createSourceTopic(prefix, 'gone')
    await writeSubscription(
      prefix,
      'holding',
      whole('holding', { topics: [gone], retry: { schedule: ['10s', 'repeat'], timeToLive: '12h' } }),
    )
    await control.untilStatus('holding', ({ status }) => status === 'Running')
    await produce(plainKafka(), gone, [binaryEvent('kept')])
    await arrivalsAt('/holding', 1)

    await deleteTopic(gone)
    const failed = await startFailed('holding')
    expect(failed.reason).toContain(`source topic ${gone} does not exist`)

    // What falls due now is held: nothing is attempted any more, and nothing counted.
    const held = `${prefix}.held.holding`
    await expect.poll(() => lagOf(held, held), { timeout: 20_000 }).toBe(1)
    const attempts = receiver.of('kept').length
    const [record] = await readTopic(plainKafka(), held)
    expect(header(record!, 'barnabas-attempts')).toBe(String(attempts))

    mayTake = true
    await createTopic(plainKafka(), gone)
    await produce(plainKafka(), gone, [binaryEvent('new life, first'), binaryEvent('new life, second')])
    await control.untilStatus('holding', ({ status, time }) => status === 'Running' && time >= failed.time)
    await receiver.until((all) => all.some(({ eventId }) => eventId === 'new life, second'))
    expect(receiver.of('new life, first')).toHaveLength(1)
    await receiver.until(() => receiver.of('kept').length > attempts)
    expect(receiver.of('kept').map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: attempts + 1 }, (_each, index) => index + 1),
    )
  })

  test('deleted after apply while nothing runs: Start Failed at start, and the others run', async () => {
    const removed = await createSourceTopic(prefix, 'removed')
    await writeSubscription(prefix, 'orphan', whole('orphan', { topics: [removed] }))
    await control.untilStatus('orphan', ({ status }) => status === 'Running')
    await barnabas.stop()
    await deleteTopic(removed)
    barnabas = await startBarnabas(prefix, scaled)
    const failed = await startFailed('orphan')
    expect(failed.reason).toContain(removed)
    await produce(plainKafka(), topic, [binaryEvent('after the restart')])
    await receiver.until(() => pathsOf('/good').some(({ eventId }) => eventId === 'after the restart'))
  })
  test('deleted and made again before anybody could notice: what is in the new one is read', async () => {
    const swapped = await createSourceTopic(prefix, 'swapped')
    await writeSubscription(prefix, 'swapped', whole('swapped', { topics: [swapped] }))
    await control.untilStatus('swapped', ({ status }) => status === 'Running')
    const ids = (stem: string, count: number) => Array.from({ length: count }, (_each, index) => `${stem} ${index}`)
    const send = (events: readonly string[]) =>
      produce(
        plainKafka(),
        swapped,
        events.map((id) => binaryEvent(id)),
      )
    await send(ids('old', 5))
    await arrivalsAt('/swapped', 5)
    await deleteTopic(swapped)
    await createTopic(plainKafka(), swapped)
    await send(ids('new', 3))
    await receiver.until(() => ids('new', 3).every((id) => receiver.of(id).length > 0))
    const lag = () => lagOf(`${prefix}.subscription.swapped`, swapped)
    await expect.poll(lag, { timeout: 5_000 }).toBe(0)
  })
})
