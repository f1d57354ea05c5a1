import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { deadLetterRecords, encodeCommitMetadata, nextStatus, plainLabel } from '@barnabas/core'
import type { DeadLetter, SubscriptionStatus } from '@barnabas/core'
import { connectKafka } from '@barnabas/kafka'
import type { CloudEvent } from 'cloudevents'
import { Kafka as KafkaBinding } from 'cloudevents'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { createTopic, plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'

/**
 * The command as people call it: a process of its own, on a real broker, looked at through its output, its exit
 * status, and plain kafkajs. No dispatcher runs here: what one would say, the test writes into the status topic.
 */
const root = resolve(import.meta.dirname, '../..')
const bin = join(root, 'node_modules/.bin')
const prefix = randomName('cli')
const kafka = plainKafka()
let cwd: string
/** A data directory whose `broker.json` names the shared broker, as if `start` ran it. */
let localData: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'barnabas-cli-'))
  localData = join(cwd, 'local')
  await mkdir(localData)
  const brokers = inject('kafkaBrokers')
  const file = {
    brokers,
    port: Number(brokers.split(',')[0]?.split(':')[1]),
    pid: null,
    clusterId: null,
    allowedNetworks: ['127.0.0.0/8'],
    runId: 'test',
    startedAt: new Date().toISOString(),
    kafkaVersion: '4.4.0',
  }
  await writeFile(join(localData, 'broker.json'), JSON.stringify(file))
  slow = beginSlowCommands()
})

let slow: ReturnType<typeof beginSlowCommands>

afterAll(async () => {
  await Promise.allSettled(Object.values(slow))
  await rm(cwd, { recursive: true, force: true })
})

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

interface How {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** `remote`: KAFKA_BROKERS; `local`: found through `broker.json`. */
  readonly broker?: 'remote' | 'local' | 'none'
  readonly command?: readonly [string, ...string[]]
}

function environment({ env = {}, broker = 'remote' }: How): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BARNABAS|KAFKA)_/.test(name))
  return {
    ...Object.fromEntries(inherited),
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    BARNABAS_PREFIX: prefix,
    BARNABAS_PARTITIONS: '3',
    BARNABAS_TIER_PARTITIONS: '1',
    BARNABAS_DATA_DIR: broker === 'local' ? localData : join(cwd, 'nothing'),
    ...(broker === 'remote' ? { KAFKA_BROKERS: inject('kafkaBrokers') } : {}),
    ...env,
  }
}

async function barnabas(args: readonly string[], how: How = {}): Promise<Ended> {
  const [program, ...first] = how.command ?? [join(bin, 'barnabas')]
  const child = spawn(program, [...first, ...args], { cwd, env: environment(how) })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  child.stdin.on('error', () => undefined)
  child.stdin.end(how.stdin ?? '')
  const status = await new Promise<number | null>((done, fail) => {
    child.on('error', fail)
    child.on('close', done)
  })
  // Of a stack trace nobody who runs a command has any use, and kafkajs's own lines are not ours.
  expect(err).not.toMatch(/\n\s+at |kafkajs|"level":/)
  return { status, out, err }
}

/** Applies a subscription to a topic that exists and gives its id. */
async function applied(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const id = randomName('sub')
  const ended = await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: await subscription({ id, ...fields }) })
  expect(ended).toMatchObject({ status: 0, err: '' })
  return id
}

async function subscription(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const topics = fields['topics'] ?? [await sourceTopic()]
  return JSON.stringify({ sink: 'https://example.com/hook', ...fields, topics })
}

async function sourceTopic(partitions = 1): Promise<string> {
  const topic = randomName('orders')
  await createTopic(kafka, topic, partitions)
  return topic
}

/** What is stored under the id, as JSON; null when it was deleted. */
async function stored(id: string): Promise<Record<string, unknown> | null> {
  const records = await readTopic(kafka, `${prefix}.subscriptions`)
  const value = records.findLast(({ key }) => key?.toString() === id)?.value
  return value ? (JSON.parse(value.toString()) as Record<string, unknown>) : null
}

async function writeStatus(id: string, status: SubscriptionStatus, reason: string, revision: number): Promise<void> {
  const generation = Number((await stored(id))?.['generation'])
  const record = nextStatus(id, null, { status, reason, generation, revision, now: Date.now() })
  await produce(kafka, `${prefix}.status`, [{ key: id, value: JSON.stringify(record) }])
}

test('a subscription is created, changed, left unchanged, shown, applied again as it was shown, and deleted', async () => {
  const id = randomName('sub')
  const topic = await sourceTopic(2)
  await produce(kafka, topic, [{ value: 'before', partition: 1 }])
  const text = `id: ${id}\ntopics: [${topic}]\nsink: https://example.com/hook\n`

  expect(await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: text })).toEqual({
    status: 0,
    out: `${id} created\n`,
    err: '',
  })
  // `from: latest` is resolved now, and stored.
  expect(await stored(id)).toMatchObject({ id, revision: 1, startOffsets: { [topic]: { '0': 0, '1': 1 } } })
  expect((await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: text })).out).toBe(`${id} unchanged\n`)
  const changed = await barnabas(['apply', '-f', '-', '--no-wait', '-o', 'json'], {
    stdin: `${text}deadLetter: none\n`,
  })
  expect(JSON.parse(changed.out)).toEqual([
    {
      id,
      result: 'changed',
      generation: (await stored(id))?.['generation'],
      revision: 2,
      warnings: [expect.stringMatching(/^deadLetter: none: /)],
    },
  ])
  expect(changed.err).toMatch(new RegExp(`^warning: ${id}: deadLetter: none: .*discarded`))

  const shown = await barnabas(['get', id, '-o', 'yaml'])
  expect(shown.out).toContain('revision: 2\n')
  expect((await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: shown.out })).out).toBe(`${id} unchanged\n`)
  expect(JSON.parse((await barnabas(['get', id, '-o', 'json'])).out)).toEqual({ ...(await stored(id)), status: null })

  expect(await barnabas(['delete', id])).toMatchObject({ status: 2, err: expect.stringContaining('--yes') })
  expect(await stored(id)).not.toBeNull()
  expect(await barnabas(['delete', id, '--yes'])).toEqual({ status: 0, out: `${id} deleted\n`, err: '' })
  expect(await stored(id)).toBeNull()
  expect(await barnabas(['delete', id, '--yes'])).toMatchObject({
    status: 1,
    err: expect.stringMatching(new RegExp(`^error: there is no subscription "${id}"`)),
  })
})

test('a file of another revision is refused, and overwrites with --force', async () => {
  const id = await applied()
  const shown = await barnabas(['get', id, '-o', 'yaml'])
  const first = shown.out.replace('revision: 1', 'timeout: 5s\nrevision: 1')
  const second = shown.out.replace('revision: 1', 'timeout: 6s\nrevision: 1')
  expect((await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: first })).out).toBe(`${id} changed\n`)
  const refused = await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: second })
  expect(refused).toMatchObject({ status: 1, out: '' })
  expect(refused.err).toMatch(/the file is revision 1 of .*, but the present one is 2; .*--force/)
  expect(await stored(id)).toMatchObject({ timeout: '5s', revision: 2 })
  expect((await barnabas(['apply', '-f', '-', '--no-wait', '--force'], { stdin: second })).out).toBe(`${id} changed\n`)
  expect(await stored(id)).toMatchObject({ timeout: '6s', revision: 3 })
})

test('when one of several is invalid every problem is told and nothing is written', async () => {
  const [good, stale] = [randomName('sub'), await applied()]
  const topic = await sourceTopic()
  await writeFile(join(cwd, 'good.yaml'), `id: ${good}\ntopics: [${topic}]\nsink: https://example.com/hook\n`)
  await writeFile(
    join(cwd, 'bad.yaml'),
    `- id: bad\n  topics: [${topic}]\n  sink: https://example.com/hook\n  retry:\n    schedule: evnt-grid\n`,
  )
  await writeFile(join(cwd, 'private.yaml'), `id: private\ntopics: [${topic}]\nsink: http://10.1.2.3/hook\n`)
  await writeFile(
    join(cwd, 'stale.yaml'),
    `id: ${stale}\ntopics: [${topic}]\nsink: https://example.com/hook\nrevision: 9\n`,
  )

  const invalid = await barnabas(['apply', '-f', 'good.yaml', 'bad.yaml', '-f', 'private.yaml', '--no-wait'])
  expect(invalid).toMatchObject({ status: 1, out: '' })
  expect(invalid.err).toMatch(
    /bad\.yaml:5:15: retry\.schedule: "evnt-grid" is not a schedule; one of event-grid, .*did you mean event-grid\?/,
  )
  expect(invalid.err).toMatch(
    /private\.yaml:3:7: sink: 10\.1\.2\.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10\.0\.0\.0\/8/,
  )
  expect(await stored(good)).toBeNull()

  const conflict = await barnabas(['apply', '-f', 'good.yaml', 'stale.yaml', '--no-wait'])
  expect(conflict).toMatchObject({ status: 1, out: '' })
  expect(conflict.err).toMatch(/the file is revision 9[^]*Nothing was applied/)
  expect(await stored(good)).toBeNull()

  const dry = await barnabas(['apply', '-f', 'good.yaml', '--dry-run'])
  expect(dry).toEqual({ status: 0, out: `${good} created (dry run)\n`, err: '' })
  expect(await stored(good)).toBeNull()
})

test('a missing source topic is created on the broker that start runs, and refused with the command elsewhere', async () => {
  const [id, topic, other] = [randomName('sub'), randomName('orders'), randomName('orders')]
  const stdin = await subscription({ id, topics: [topic], sink: 'http://127.0.0.1:9/hook' })

  const elsewhere = await barnabas(['apply', '-f', '-', '--no-wait'], {
    stdin: await subscription({ id, topics: [topic] }),
  })
  expect(elsewhere).toMatchObject({ status: 1, out: '' })
  expect(elsewhere.err).toContain(`topic ${topic} does not exist`)
  expect(elsewhere.err).toMatch(
    new RegExp(`kafka-topics --bootstrap-server .* --create .*--topic ${topic} --partitions 3 --replication-factor 1`),
  )
  expect(await barnabas(['send', other])).toMatchObject({ status: 1, err: expect.stringContaining('kafka-topics') })

  // What `start` allows webhooks to reach stands in broker.json too.
  expect((await barnabas(['apply', '-f', '-', '--dry-run'], { stdin, broker: 'local' })).out).toBe(
    `topic ${topic} would be created\n${id} created (dry run)\n`,
  )
  const local = await barnabas(['apply', '-f', '-', '--no-wait'], { stdin, broker: 'local' })
  expect(local).toEqual({ status: 0, out: `topic ${topic} created with 3 partitions\n${id} created\n`, err: '' })
  expect(await stored(id)).toMatchObject({ startOffsets: { [topic]: { '0': 0, '1': 0, '2': 0 } } })
  const sent = await barnabas(['send', other, '--id', 'i'], { broker: 'local' })
  expect(sent.out).toMatch(new RegExp(`^topic ${other} created with 3 partitions\\nsent i to ${other}/[012]/0\\n$`))
})

test('a missing dead-letter topic is created on the broker that start runs, and warned of elsewhere', async () => {
  const topic = randomName('letters')
  const how = (broker: 'remote' | 'local', id: string) =>
    subscription({ id, deadLetter: { topic } }).then((stdin) => ({ stdin, broker }))
  const elsewhere = await barnabas(['apply', '-f', '-', '--no-wait'], await how('remote', randomName('sub')))
  expect(elsewhere.status).toBe(0)
  expect(elsewhere.err).toContain(`deadLetter.topic: ${topic} does not exist; until it does`)
  expect(elsewhere.err).toContain(`--create --if-not-exists --topic ${topic}`)
  const local = await barnabas(['apply', '-f', '-', '--no-wait'], await how('local', randomName('sub')))
  expect(local).toMatchObject({ status: 0, err: '' })
  expect(local.out).toContain(`topic ${topic} created with 3 partitions`)
})

test('a Kafka topic as sink is created on the broker that start runs alone', async () => {
  const [topic, id] = [randomName('copies'), randomName('sub')]
  const stdin = await subscription({ id, sink: `kafka:${topic}` })
  expect(await barnabas(['apply', '-f', '-', '--no-wait'], { stdin })).toMatchObject({
    status: 0,
    out: `${id} created\n`,
  })
  const local = await barnabas(['apply', '-f', '-', '--no-wait'], { stdin, broker: 'local' })
  expect(local).toMatchObject({ status: 0, out: expect.stringContaining(`topic ${topic} created with 3 partitions`) })
})

test('apply does not hold the services to its own environment: their topics are as they made them', async () => {
  await applied()
  const ended = await barnabas(['apply', '-f', '-', '--no-wait'], {
    stdin: await subscription({ id: randomName('sub') }),
    env: { BARNABAS_TIER_PARTITIONS: '5' },
  })
  expect(ended).toMatchObject({ status: 0, err: '' })
})

test('apply waits for the status that this revision reaches', async () => {
  const id = await applied()
  await writeStatus(id, 'Running', 'an old story', 1)
  const stdin = (await barnabas(['get', id, '-o', 'yaml'])).out.replace('revision', 'timeout: 7s\nrevision')
  const applying = barnabas(['apply', '-f', '-'], { stdin })
  await revisionStored(id, 2)
  await writeStatus(id, 'Starting', '', 2)
  await writeStatus(id, 'Running', 'partitions: 1', 2)
  expect(await applying).toEqual({ status: 0, out: `${id} changed\n${id} Running: partitions: 1\n`, err: '' })

  const failing = barnabas(['apply', '-f', '-', '-o', 'json'], {
    stdin: stdin.replace('7s', '8s').replace('revision: 1', 'revision: 2'),
  })
  await revisionStored(id, 3)
  await writeStatus(id, 'Start Failed', 'the topic is gone', 3)
  const failed = await failing
  expect(failed).toMatchObject({ status: 1, err: `error: ${id}: Start Failed: the topic is gone\n` })
  expect(JSON.parse(failed.out)).toMatchObject([
    { id, result: 'changed', revision: 3, status: { status: 'Start Failed' } },
  ])
})

async function revisionStored(id: string, revision: number): Promise<void> {
  await readTopic(kafka, `${prefix}.subscriptions`, (records) =>
    records.some(
      ({ key, value }) => key?.toString() === id && value !== null && JSON.parse(String(value)).revision === revision,
    ),
  )
}

test('what send sends is a CloudEvent, its data byte for byte', async () => {
  const topic = await sourceTopic()
  const data = '{"amount": 1.0, "amount": 9007199254740993, "text": "ü\\u0000"}'
  const sent = await barnabas([
    'send',
    topic,
    '--type',
    'com.example.paid',
    '--source',
    '/shop',
    '--id',
    'i',
    '--key',
    'k',
    '--data',
    data,
    '-o',
    'json',
  ])
  expect(sent).toMatchObject({ status: 0, err: '' })
  expect(JSON.parse(sent.out)).toEqual({ id: 'i', topic, partition: 0, offset: 0 })
  await writeFile(join(cwd, 'photo.jpg'), Buffer.from([0xff, 0, 0x80]))
  await writeFile(join(cwd, 'order.json'), '{"n": 1.0}')
  for (const file of ['photo.jpg', 'order.json']) {
    expect((await barnabas(['send', topic, '--data', `@${file}`])).status).toBe(0)
  }
  expect((await barnabas(['send', topic])).status).toBe(0)

  const messages = await readTopic(kafka, topic)
  expect(messages.map(({ value }) => value)).toEqual([
    Buffer.from(data),
    Buffer.from([0xff, 0, 0x80]),
    Buffer.from('{"n": 1.0}'),
    Buffer.alloc(0),
  ])
  expect(messages[0]?.key?.toString()).toBe('k')
  expect(messages.map(({ headers }) => headers?.['content-type']?.toString())).toEqual([
    'application/json',
    'application/octet-stream',
    'application/json',
    undefined,
  ])
  // The SDK is the oracle of what a CloudEvent in binary mode is; it knows none without data.
  for (const { headers, value } of messages.slice(0, 3)) {
    const texts = Object.fromEntries(Object.entries(headers ?? {}).map(([name, bytes]) => [name, String(bytes)]))
    const message = { headers: texts, body: undefined, key: '', value: value?.toString('latin1') ?? '' }
    expect((KafkaBinding.toEvent(message) as CloudEvent<unknown>).validate()).toBe(true)
  }
  expect(messages[0]?.headers).toMatchObject({
    ce_type: Buffer.from('com.example.paid'),
    ce_source: Buffer.from('/shop'),
  })
  expect(new Set(messages.map(({ headers }) => String(headers?.['ce_id']))).size).toBe(4)
})

test('many events are sent in seconds, each once and under an id of its own', { timeout: 120_000 }, async () => {
  const topic = await sourceTopic(3)
  const sent = await barnabas(['send', topic, '--count', '20000', '--id', 'many', '--data', '1', '-o', 'json'])
  expect(sent.status).toBe(0)
  for (const line of sent.err.split('\n').filter((each) => each !== '')) {
    expect(line).toMatch(/^sent [\d,]+ of 20,000 \([\d,]+\/s\)$/)
  }
  expect(JSON.parse(sent.out)).toMatchObject({ topic, sent: 20_000, firstId: 'many-1', lastId: 'many-20000' })
  const messages = await readTopic(kafka, topic)
  expect(messages).toHaveLength(20_000)
  expect(new Set(messages.map(({ headers }) => String(headers?.['ce_id']))).size).toBe(20_000)
})

test('what the broker refuses is told, and Barnabas’s own topics take no events', async () => {
  await writeFile(join(cwd, 'large.bin'), Buffer.alloc(1_100_000))
  const topic = await sourceTopic()
  expect(await barnabas(['send', topic, '--data', '@large.bin'])).toMatchObject({
    status: 1,
    out: '',
    err: `error: not sent: the record is larger than topic ${topic} allows (max.message.bytes)\n`,
  })
  expect(await barnabas(['send', `${prefix}.retry.1s`])).toMatchObject({
    status: 1,
    err: expect.stringMatching(/own topics/),
  })
})

test('get -o json through pnpm and a pipe is JSON and nothing else', async () => {
  const id = await applied()
  const command = ['sh', '-c', `cd '${root}' && npx -y pnpm@10 barnabas get -o json | cat`] as const
  const { out } = await barnabas([], { command: [...command] })
  const ids = (JSON.parse(out) as { id: string }[]).map((each) => each.id)
  expect(ids).toContain(id)
  expect(ids).toEqual(ids.toSorted())
})

test('output that nobody reads to its end is no error', async () => {
  await applied()
  const command = ['sh', '-c', '"$0" get -o json | head -c 1; "$0" get | true', join(bin, 'barnabas')] as const
  expect(await barnabas([], { command: [...command] })).toEqual({ status: 0, out: '[', err: '' })
})

test('get shows a table without secrets and colours, and names ids that are like a wrong one', async () => {
  const id = await applied({ sink: 'https://example.com/hook?token=secret' })
  const { out } = await barnabas(['get'])
  expect(out).toMatch(/^ID +STATUS +TOPICS +SINK +SCHEDULE +AGE +REVISION\n/)
  expect(out).toMatch(new RegExp(`\n${id} +Unknown +\\S+ +https://example.com/hook +event-grid +\\d+[sm] +1\n`))
  expect(out).not.toContain('secret')
  expect(out).not.toContain('\u001b')
  expect((await barnabas(['get', `${id.slice(0, -1)}-`])).err).toContain(`did you mean ${id}?`)
  expect(await barnabas(['describe', '\u001b[2J'])).toMatchObject({
    status: 1,
    err: expect.not.stringContaining('\u001b'),
  })
})

test('get -w prints what changes', async () => {
  const id = await applied()
  const args = ['get', id, '-w', '-o', 'json']
  // A group of its own: `barnabas` is a shell script here, and the command is what that started.
  const child = spawn(join(bin, 'barnabas'), args, { cwd, env: environment({}), detached: true })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    process.kill(-child.pid!, 'SIGKILL')
    await ended
  })
  const lines = linesOf(child.stdout)
  expect(JSON.parse(await lines())).toMatchObject({ id, revision: 1, status: null })
  await writeStatus(id, 'Running', 'all is well', 1)
  expect(JSON.parse(await lines())).toMatchObject({ id, status: { status: 'Running', reason: 'all is well' } })
  await barnabas(['apply', '-f', '-', '--no-wait'], { stdin: await subscription({ id }) })
  expect(JSON.parse(await lines())).toMatchObject({ id, revision: 2 })
})

/** Gives one line after the other. */
function linesOf(stream: NodeJS.ReadableStream): () => Promise<string> {
  const waiting: string[] = []
  let text = ''
  let wake = () => {}
  stream.on('data', (chunk) => {
    const parts = (text + String(chunk)).split('\n')
    text = parts.pop() ?? ''
    waiting.push(...parts)
    wake()
  })
  return async () => {
    while (waiting.length === 0) await new Promise<void>((resolveWait) => (wake = resolveWait))
    return waiting.shift() ?? ''
  }
}

test('describe shows what is resolved, how far the group is, and the history of the status', async () => {
  const topic = await sourceTopic(2)
  const id = await applied({ topics: [topic], from: 'earliest', retry: { schedule: ['1s', '10s', '10s'] } })
  await writeStatus(id, 'Running', 'all is well', 1)
  await produce(
    kafka,
    topic,
    [0, 0, 0, 1].map((partition) => ({ value: 'x', partition })),
  )
  const group = `${prefix}.subscription.${id}`
  await commit(group, topic, 2, Number((await stored(id))?.['generation']))

  const { status, out, err } = await barnabas(['describe', id])
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect(out).toMatch(/schedule +list: 1s, 2 × 10s\n/)
  expect(out).toMatch(/ends after +4 attempts\n/)
  expect(out).toMatch(/never retried +400, 401, 403, 410, 413\n/)
  expect(out).toContain(group)
  expect(out).toContain(`to ${prefix}.dead-letter`)
  expect(out).toMatch(new RegExp(`${topic}/0 +2 +3 +1\n${topic}/1 +- +1 +1\n`))
  expect(out).toMatch(/TIME +FROM +TO +REASON\n\S+ +- +Running +all is well/)

  const json = JSON.parse((await barnabas(['describe', id, '-o', 'json'])).out)
  expect(json).toMatchObject({
    id,
    group,
    resolved: { timeoutMs: 30_000, retry: { maxAttempts: 4, timeToLiveMs: null } },
    partitions: [
      { topic, partition: 0, committed: 2, end: 3, lag: 1 },
      { topic, partition: 1, committed: null, end: 1, lag: 1 },
    ],
    deadLetters: { topic: `${prefix}.dead-letter`, responseBody: true },
    status: { status: 'Running' },
  })
})

async function commit(groupId: string, topic: string, offset: number, generation: number): Promise<void> {
  const ignore = () => undefined
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const client = connectKafka({ brokers: testBrokers(), clientId: 'cli-test', logger })
  const options = { groupId, topics: [topic], onRecords: ignore, onAssigned: ignore, onFailed: ignore }
  const consumer = client.consumer(options)
  await consumer.start()
  const metadata = encodeCommitMetadata(plainLabel(generation), offset)
  expect(await consumer.commit([{ topic, partition: 0, offset, metadata }])).toBe(true)
  await client.close()
}

test('what somebody wrote into the subscriptions topic by hand is shown with its problems, and can be deleted', async () => {
  await applied()
  const id = randomName('hand')
  const garbage = `${randomName('garbage')} \u001b[2J ü`
  await produce(kafka, `${prefix}.subscriptions`, [
    { key: id, value: JSON.stringify({ id, topics: ['x'], sink: 'https://example.com/' }) },
    { key: garbage, value: Buffer.from([0xff, 0xfe]) },
  ])
  const table = await barnabas(['get'])
  expect(table.out).toMatch(new RegExp(`\n${id} +Invalid `))
  expect(table.out).not.toContain('\u001b')
  expect((await barnabas(['describe', id])).out).toContain('was not written by `apply`')
  const all = JSON.parse((await barnabas(['get', '-o', 'json'])).out) as { id: string; problems?: string[] }[]
  expect(all.find((each) => each.id === garbage)?.problems).toEqual([expect.stringMatching(/not a JSON object/)])
  for (const name of [id, garbage]) expect((await barnabas(['delete', name, '--yes'])).status).toBe(0)
  expect((await barnabas(['get', '-o', 'json'])).out).not.toContain(id)
})

test('dead letters are listed, the newest last, from every topic that subscriptions name, and shown whole', async () => {
  const own = randomName('dead')
  await createTopic(kafka, own)
  const [one, two] = [await applied(), await applied({ deadLetter: { topic: own } })]
  const time = Date.now() - 60_000
  await produceDeadLetter({ topic: `${prefix}.dead-letter`, time: time + 2, id: 'second', subscriptionId: one })
  await produceDeadLetter({ topic: own, time: time + 1, id: 'first', subscriptionId: two })
  await produceDeadLetter({ topic: own, time: time + 3, id: 'third', subscriptionId: two })
  await produce(kafka, own, [{ value: 'somebody else wrote this' }])

  const list = async (...args: string[]) => {
    const { out } = await barnabas(['dead-letters', 'list', '-o', 'json', ...args])
    return (JSON.parse(out) as { event: { id: string }; position: string }[]).map(({ event }) => event.id)
  }
  expect(await list()).toEqual(['first', 'second', 'third'])
  expect(await list('--subscription', two)).toEqual(['first', 'third'])
  expect(await list('--topic', own, '--limit', '1')).toEqual(['third'])
  expect(await list('--limit', '2')).toEqual(['second', 'third'])

  const text = await barnabas(['dead-letters', 'list'])
  expect(text.out).toMatch(/^TIME +SUBSCRIPTION +REASON +ATTEMPTS +EVENT TYPE +EVENT ID +POSITION\n/)
  expect(text.out).toMatch(new RegExp(`${two} +MaxDeliveryAttemptsExceeded +3 +t +third +${own}/0/1\n$`))

  const shown = await barnabas(['dead-letters', 'show', `${own}/0/1`, '-o', 'json'])
  expect(JSON.parse(shown.out)).toMatchObject({
    subscription: two,
    attempts: 3,
    lastStatus: 500,
    responseBody: 'no',
    source: { topic: 'orders', partition: 1, offset: 7 },
    event: { id: 'third' },
    data: '{"n": 1.0}',
    headers: { 'barnabas-dead-letter-reason': 'MaxDeliveryAttemptsExceeded' },
  })
  expect((await barnabas(['dead-letters', 'show', `${own}/0/1`])).out).toContain('{"n": 1.0}')
  for (const [position, message] of [
    [`${own}/0/2`, /is no dead letter/],
    [`${own}/0/9`, /holds offsets 0 to 2; 9 is not there/],
    [`${own}/5/0`, /has partitions 0 to 0, not 5/],
    [`${randomName('none')}/0/0`, /does not exist/],
  ] as const) {
    expect(await barnabas(['dead-letters', 'show', position])).toMatchObject({
      status: 1,
      err: expect.stringMatching(message),
    })
  }
})

async function produceDeadLetter({
  topic,
  time,
  id,
  subscriptionId,
}: Pick<DeadLetter, 'topic' | 'time'> & { id: string; subscriptionId: string }) {
  const headers = { ce_specversion: '1.0', ce_id: id, ce_source: '/s', ce_type: 't' }
  const [record] = deadLetterRecords({
    topic,
    time,
    key: null,
    value: Buffer.from('{"n": 1.0}'),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    state: {
      subscriptionId,
      attempts: 3,
      lastStatus: 500,
      source: { topic: 'orders', partition: 1, offset: 7 },
    },
    reason: 'MaxDeliveryAttemptsExceeded',
    responseBody: Buffer.from('no'),
  })
  await produce(kafka, topic, [{ value: record.value, headers: record.headers as Record<string, Buffer> }])
}

test('where Barnabas never ran there is nothing to see, and looking makes nothing', async () => {
  const fresh = randomName('fresh')
  const env = { BARNABAS_PREFIX: fresh }
  expect(await barnabas(['get', '-o', 'json'], { env })).toEqual({ status: 0, out: '[]\n', err: '' })
  expect(await barnabas(['get'], { env })).toMatchObject({
    status: 0,
    out: '',
    err: expect.stringMatching(/barnabas apply/),
  })
  expect(await barnabas(['dead-letters', 'list', '-o', 'json'], { env })).toMatchObject({ status: 0, out: '[]\n' })
  const stdin = await subscription({ id: 'a' })
  expect(await barnabas(['apply', '-f', '-', '--dry-run'], { env, stdin })).toMatchObject({ status: 0 })
  const admin = kafka.admin()
  await admin.connect()
  expect((await admin.listTopics()).filter((topic) => topic.startsWith(fresh))).toEqual([])
  await admin.disconnect()
})

test('without a broker the command says how to get one', async () => {
  expect(await barnabas(['get'], { broker: 'none' })).toEqual({
    status: 1,
    out: '',
    err: 'error: no broker: run `pnpm start` or set KAFKA_BROKERS\n',
  })
})

test('a broker that takes connections and never answers is given up after ten seconds', async () => {
  const { ended, tookMs } = await slow.silentBroker
  expect(ended).toMatchObject({ status: 1, out: '' })
  expect(ended.err).toMatch(
    /^error: Kafka at 127\.0\.0\.1:\d+ does not answer .*; is it running, and is KAFKA_BROKERS right\?\n$/,
  )
  expect(tookMs).toBeLessThan(25_000)
})

test('apply says after 30 s that no dispatcher answers', async () => {
  const { ended, tookMs } = await slow.noDispatcher
  expect(ended).toMatchObject({
    status: 1,
    out: 'nobody created\n',
    err: expect.stringMatching(/^error: nobody: no dispatcher answers/),
  })
  expect(tookMs).toBeGreaterThanOrEqual(30_000)
})

/** What waits by design, begun before the other tests so that nobody waits for it. */
function beginSlowCommands() {
  const silentBroker = async () => {
    const silent = createServer()
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const timed = await taking(() => barnabas(['get'], { env: { KAFKA_BROKERS: `127.0.0.1:${port}` } }))
    silent.close()
    return timed
  }
  const noDispatcher = async () => {
    const stdin = await subscription({ id: 'nobody' })
    return await taking(() => barnabas(['apply', '-f', '-'], { stdin, env: { BARNABAS_PREFIX: randomName('cli') } }))
  }
  const begun = { silentBroker: silentBroker(), noDispatcher: noDispatcher() }
  // What fails is told by the test that waits for it.
  void Promise.allSettled(Object.values(begun))
  return begun
}

async function taking(work: () => Promise<Ended>) {
  const before = Date.now()
  const ended = await work()
  return { ended, tookMs: Date.now() - before }
}
