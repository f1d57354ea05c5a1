import { names, ownTopics, parseStatus, parseSubscription, tiers } from '@barnabas/core'
import type { ValidSubscription } from '@barnabas/core'
import { connectKafka } from '@barnabas/kafka'
import type { KafkaClient } from '@barnabas/kafka'
import {
  applySubscription,
  deleteSubscription,
  openCommandLog,
  openStatusStore,
  openSubscriptionRegistry,
  prepareOwnTopics,
} from '@barnabas/registry'
import type { StatusStore, SubscriptionChange, SubscriptionRegistry } from '@barnabas/registry'
import { ConfigResourceTypes } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'

const plain = plainKafka()
const warnings: string[] = []
const logger = {
  debug() {},
  info() {},
  warn: (_fields: object, message: string) => void warnings.push(message),
  error() {},
}
let kafka: KafkaClient

beforeAll(() => {
  kafka = connectKafka({ brokers: testBrokers(), clientId: randomName('registry'), logger })
})
afterAll(() => kafka.close())

function prepare(prefix: string, change: { replication?: number | null; tierPartitions?: number } = {}) {
  return prepareOwnTopics({
    admin: kafka.admin,
    prefix,
    partitions: 2,
    tierPartitions: 1,
    replication: null,
    bootstrapServer: 'kafka:9092',
    logger,
    ...change,
  })
}

/** Sets one entry of an own topic, leaves the others as a first start made them, and waits until the broker shows it. */
async function setConfig(prefix: string, topic: string, name: string, value: string): Promise<void> {
  const made = ownTopics({ prefix, partitions: 2, tierPartitions: 1, replication: 1 }).find(
    (each) => each.topic === topic,
  )
  const entries = Object.entries({ ...made?.config, [name]: value })
  const admin = plain.admin()
  await admin.connect()
  try {
    const configEntries = entries.map(([entry, text]) => ({ name: entry, value: text }))
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
    })
  } finally {
    await admin.disconnect()
  }
  // The controller acknowledges before the broker shows it.
  while ((await kafka.admin.topicConfig([topic])).get(topic)?.[name] !== value);
}

test('commands: those of before are told apart from new ones, and damage is passed over', async () => {
  const prefix = randomName('commands')
  await prepare(prefix)
  const own = names(prefix)
  const command = (by: string) =>
    ({
      subscription: 'orders',
      command: 'callback',
      validation: 'ab'.repeat(32),
      allowedRate: null,
      by,
      at: new Date().toISOString(),
    }) as const
  const writer = openCommandLog({ kafka, names: own, logger })
  expect(await writer.write(command('before'))).toMatchObject({ kind: 'acknowledged' })
  await produce(plain, own.commands, [{ key: 'orders', value: '{"command":"dance"}' }])

  const heard: string[] = []
  const third = Promise.withResolvers<void>()
  const log = openCommandLog({ kafka, names: own, logger })
  log.onCommand(({ by }, isPast) => {
    heard.push(`${by} ${isPast ? 'past' : 'new'}`)
    if (heard.length === 2) third.resolve()
  })
  await log.start()
  expect(heard).toEqual(['before past'])
  expect(warnings.at(-1)).toBe('a record of the commands topic is no command; passed over')
  await writer.write(command('after'))
  await third.promise
  expect(heard).toEqual(['before past', 'after new'])
  await Promise.all([writer.stop(), log.stop()])
})

describe('own topics', () => {
  test('a first start makes them, the next finds nothing to do', async () => {
    const prefix = randomName('own')
    warnings.length = 0
    const first = await prepare(prefix)
    expect(first.kind === 'ready' && first.created).toHaveLength(7 + tiers.length + 1)
    expect(first.kind === 'ready' && first.partitions.get(`${prefix}.dead-letter`)).toBe(2)
    expect(warnings).toEqual([expect.stringContaining('acks=all means one replica')])
    expect(await prepare(prefix)).toMatchObject({ kind: 'ready', created: [] })
  })

  test('several services may make them at the same time', async () => {
    const prefix = randomName('own')
    const all = await Promise.all([prepare(prefix), prepare(prefix), prepare(prefix)])
    expect(all.map(({ kind }) => kind)).toEqual(['ready', 'ready', 'ready'])
  })

  test('more partitions than wanted are taken as they are, fewer are refused with the command', async () => {
    const prefix = randomName('own')
    await prepare(prefix, { tierPartitions: 2 })
    const fewerWanted = await prepare(prefix, { tierPartitions: 1 })
    expect(fewerWanted.kind === 'ready' && fewerWanted.partitions.get(`${prefix}.retry.1m`)).toBe(2)
    const moreWanted = await prepare(prefix, { tierPartitions: 3 })
    expect(moreWanted.kind).toBe('refused')
    expect(moreWanted.kind === 'refused' && moreWanted.commands).toContain(
      `kafka-topics --bootstrap-server kafka:9092 --alter --topic ${prefix}.retry.1m --partitions 3`,
    )
  })

  test('a tier that may lose what waits is refused, and the dead-letter topic is the operator’s', async () => {
    const prefix = randomName('own')
    await prepare(prefix)
    await setConfig(prefix, `${prefix}.dead-letter`, 'retention.ms', '1000')
    expect(await prepare(prefix)).toMatchObject({ kind: 'ready' })
    await setConfig(prefix, `${prefix}.retry.5m`, 'retention.ms', '604800000')
    expect(await prepare(prefix)).toEqual({
      kind: 'refused',
      message: `topics are not as Barnabas needs them:\n${prefix}.retry.5m: retention.ms is 604800000, not -1`,
      commands: [
        `kafka-configs --bootstrap-server kafka:9092 --alter --entity-type topics --entity-name ${prefix}.retry.5m --add-config retention.ms=-1`,
      ],
    })
  })

  test('what the broker refuses to make is answered with the commands to run', async () => {
    const prefix = randomName('own')
    const refused = await prepare(prefix, { replication: 50 })
    expect(refused).toMatchObject({ kind: 'refused', message: expect.stringContaining('INVALID_REPLICATION_FACTOR') })
    expect(refused.kind === 'refused' && refused.commands).toHaveLength(7 + tiers.length + 1)
  })
})

describe('subscriptions', () => {
  const prefix = randomName('registry')
  const own = names(prefix)
  const source = randomName('orders')
  const changes: SubscriptionChange[] = []
  let whenChanged = () => {}
  let registry: SubscriptionRegistry
  let statuses: StatusStore
  let writer: ReturnType<KafkaClient['producer']>

  beforeAll(async () => {
    writer = kafka.producer()
    await prepare(prefix)
    await kafka.admin.createTopics([{ topic: source, partitions: 2, replication: 1, config: {} }])
    await produce(plain, source, [
      { partition: 0, value: 'a' },
      { partition: 0, value: 'b' },
      { partition: 1, value: 'c' },
    ])
    registry = openSubscriptionRegistry({
      kafka,
      names: own,
      timeScale: 1,
      logger,
      onChange(change) {
        changes.push(change)
        whenChanged()
      },
    })
    statuses = openStatusStore({ kafka, names: own, now: Date.now, logger })
    await Promise.all([registry.start(), statuses.start()])
  })
  afterAll(async () => {
    await registry.stop()
    await statuses.stop()
    await writer.close()
  })

  /** Resolves when the registry told a change of `id` that passes. */
  async function changed(id: string, passes: (change: SubscriptionChange) => boolean): Promise<void> {
    const there = () => changes.some((change) => change.id === id && passes(change))
    while (!there()) {
      await new Promise<void>((resolve) => {
        whenChanged = resolve
      })
    }
  }

  function parsed(id: string, change: object = {}): ValidSubscription {
    const result = parseSubscription({ id, topics: [source], sink: 'https://a.example/hook', ...change }, { prefix })
    if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems))
    return result
  }

  async function apply(subscription: ValidSubscription, options: { force?: boolean; dryRun?: boolean } = {}) {
    const deps = { admin: kafka.admin, producer: writer, registry, statuses, names: own, now: Date.now }
    return applySubscription(subscription, deps, { force: false, dryRun: false, ...options })
  }
  test('applied, seen, changed, refused from an old revision, deleted, and made again as another life', async () => {
    const id = 'a-life'
    expect(await apply(parsed(id), { dryRun: true })).toMatchObject({ kind: 'created' })
    await registry.caughtUp()
    expect(registry.get(id)).toBeUndefined()

    const created = await apply(parsed(id))
    expect(created).toMatchObject({
      kind: 'created',
      life: { revision: 1, startOffsets: { [source]: { 0: 2, 1: 1 } } },
    })
    await changed(id, ({ kind }) => kind === 'valid')
    expect(registry.get(id)).toMatchObject({ subscription: { revision: 1, mode: 'binary' } })

    expect(await apply(parsed(id, { mode: 'binary' }))).toMatchObject({ kind: 'unchanged' })
    await produce(plain, source, [{ partition: 1, value: 'd' }])
    expect(await apply(parsed(id, { mode: 'structured' }))).toMatchObject({
      kind: 'changed',
      life: { revision: 2, startOffsets: { [source]: { 0: 2, 1: 1 } } },
    })
    await changed(id, (change) => change.kind === 'valid' && change.subscription.revision === 2)
    expect(registry.get(id)).toMatchObject({ subscription: { mode: 'structured' } })

    const old = parsed(id, { revision: 1, concurrency: 5 })
    expect(await apply(old)).toMatchObject({ kind: 'conflict', message: expect.stringContaining('present one is 2') })
    expect(await apply(old, { force: true })).toMatchObject({ kind: 'changed', life: { revision: 3 } })

    const deps = { producer: writer, registry, names: own }
    expect(await deleteSubscription(id, deps)).toEqual({ kind: 'deleted' })
    expect(await deleteSubscription(id, deps)).toEqual({ kind: 'absent' })
    await changed(id, ({ kind }) => kind === 'deleted')
    expect(registry.ids()).not.toContain(id)

    const again = await apply(parsed(id, { from: 'earliest' }))
    expect(again).toMatchObject({ kind: 'created', life: { revision: 1, startOffsets: { [source]: { 0: 0, 1: 0 } } } })
    if (created.kind !== 'created' || again.kind !== 'created') return
    expect(again.life.generation).toBeGreaterThan(created.life.generation)
  })

  test('what somebody writes by hand is an invalid entry, and the others go on', async () => {
    await apply(parsed('good'))
    await produce(plain, own.subscriptions, [
      { key: 'by-hand', value: JSON.stringify({ id: 'by-hand', topics: [source], sink: 'https://a.example/' }) },
      { key: 'garbage', value: Buffer.from([0xff, 0x00, 0x7b]) },
      { key: Buffer.from([0xff, 0xfe]), value: 'x' },
      { key: '__proto__', value: '{}' },
    ])
    await registry.caughtUp()
    expect(registry.get('by-hand')).toMatchObject({
      kind: 'invalid',
      generation: 0,
      reason: expect.stringContaining('apply'),
    })
    expect(registry.get('garbage')).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('JSON') })
    expect(registry.get('__proto__')).toMatchObject({ kind: 'invalid' })
    expect(registry.get('good')).toMatchObject({ kind: 'valid' })
    expect(await apply(parsed('by-hand'))).toMatchObject({ kind: 'created', life: { revision: 1 } })
    await changed('by-hand', ({ kind }) => kind === 'valid')
  })

  test('whoever opens later reads the same from the beginning', async () => {
    await apply(parsed('kept'))
    await apply(parsed('gone'))
    await deleteSubscription('gone', { producer: writer, registry, names: own })
    const later = openSubscriptionRegistry({
      kafka,
      names: own,
      timeScale: 0.1,
      logger,
      onChange: () => expect.unreachable(),
    })
    await later.start()
    expect(later.ids()).toContain('kept')
    expect(later.ids()).not.toContain('gone')
    expect(later.get('kept')).toMatchObject({ subscription: { timeoutMs: 3_000 } })
    await later.stop()
  })
})

describe('statuses', () => {
  const wanted = (reason: string, status: 'Starting' | 'Running' | 'Start Failed' = 'Running') => ({
    status,
    reason,
    generation: 1,
    revision: 1,
  })
  const open = (prefix: string, onChange?: (id: string) => void) =>
    openStatusStore({ kafka, names: names(prefix), now: Date.now, logger, ...(onChange && { onChange }) })

  test('written in order and only when something else stands there; every store sees it; removed once', async () => {
    const prefix = randomName('status')
    await prepare(prefix)
    const [one, other] = [open(prefix), open(prefix)]
    await Promise.all([one.start(), other.start()])

    await Promise.all([
      one.write('orders', wanted('joining', 'Starting')),
      one.write('orders', wanted('reading')),
      one.write('orders', wanted('reading')),
    ])
    expect(one.get('orders')).toMatchObject({ status: 'Running' })
    await other.caughtUp()
    expect(other.get('orders')).toEqual(one.get('orders'))
    await other.write('orders', wanted('reading'))
    await other.remove('orders')
    await other.remove('orders')
    await one.caughtUp()
    expect(one.get('orders')).toBeNull()
    await one.remove('orders')
    await one.remove('never-there')

    const records = await readTopic(plain, names(prefix).status)
    const id = 'orders'
    expect(records.map(({ value }) => parseStatus(value, id)?.status ?? null)).toEqual(['Starting', 'Running', null])
    await Promise.all([one.stop(), other.stop()])
  })

  test('a write waits for its topic', async () => {
    const prefix = randomName('status')
    const store = open(prefix)
    const write = store.write('orders', wanted('reading'))
    await prepare(prefix)
    await write
    await store.start()
    expect(store.get('orders')).toMatchObject({ status: 'Running', reason: 'reading' })
    await store.stop()
  })

  test('more than twenty waiting writes of one id lose the oldest', async () => {
    const prefix = randomName('status')
    const store = open(prefix)
    const writes = Array.from({ length: 30 }, (_, index) => store.write('orders', wanted(`turn ${index}`)))
    await prepare(prefix)
    await Promise.all(writes)
    const status = store.get('orders')!
    expect(status.reason).toBe('turn 29')
    expect(status.history.map(({ reason }) => reason)).toEqual([
      'turn 0',
      ...Array.from({ length: 19 }, (_, index) => `turn ${index + 11}`),
    ])
    await store.stop()
  })

  test('a stop ends the waiting for a topic', async () => {
    const waiting = Promise.withResolvers<void>()
    const store = openStatusStore({
      kafka,
      names: names(randomName('status')),
      now: Date.now,
      logger: { ...logger, warn: () => waiting.resolve() },
    })
    const write = store.write('orders', wanted('reading'))
    await waiting.promise
    await store.stop()
    await write
    expect(store.get('orders')).toBeNull()
  })

  test('onChange tells own writes and those of others, each once', async () => {
    const prefix = randomName('status')
    await prepare(prefix)
    const told: string[] = []
    const one = open(prefix, (id) => told.push(id))
    const other = open(prefix)
    await Promise.all([one.start(), other.start()])
    await one.write('mine', wanted('reading'))
    await other.write('theirs', wanted('reading'))
    await one.caughtUp()
    expect(told).toEqual(['mine', 'theirs'])
    await Promise.all([one.stop(), other.stop()])
  })
})
