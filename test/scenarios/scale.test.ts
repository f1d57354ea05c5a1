import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

/** Several dispatchers and retriers, each a process of its own, on one broker: they share the work and each other's fate. */

const prefix = randomName('scale')
const env = {
  KAFKA_BROKERS: testBrokers().join(','),
  BARNABAS_PREFIX: prefix,
  BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
  BARNABAS_PARTITIONS: '4',
  BARNABAS_TIER_PARTITIONS: '4',
  BARNABAS_SESSION_TIMEOUT: '2s',
  BARNABAS_DRAIN_TIMEOUT: '1s',
  BARNABAS_HTTP_PORT: '0',
}
const partitions = 4
const running: RunningProcess[] = []
let receiver: Receiver
let topic: string

type Name = 'dispatcher' | 'retrier'

async function run(name: Name): Promise<RunningProcess> {
  const started = runProcess(`services/${name}/main.ts`, env)
  running.push(started)
  await started.line(new RegExp(`${name} is ready`))
  return started
}

async function httpUrl(service: RunningProcess): Promise<string> {
  return (JSON.parse(await service.line(/health and metrics at/)) as { readonly url: string }).url
}

/** How many partitions each member of the group has. */
async function assignments(groupId: string): Promise<number[]> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    const { groups } = await admin.describeGroups([groupId])
    return (groups[0]?.members ?? []).map(({ memberAssignment }) => assignedCount(memberAssignment))
  } finally {
    await admin.disconnect()
  }
}

/** The protocol's ConsumerPartitionAssignment: version, then topics with their partitions. */
function assignedCount(assignment: Buffer): number {
  if (assignment.length === 0) return 0
  let at = 2
  let count = 0
  const int32 = () => assignment.readInt32BE((at += 4) - 4)
  for (let topics = int32(); topics > 0; topics--) {
    at += 2 + assignment.readInt16BE(at)
    const ofTopic = int32()
    count += ofTopic
    at += 4 * ofTopic
  }
  return count
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)

let produced = 0
/** Spread over all partitions; event n fails for ever when n % 4 = 3, once when n % 4 = 1, and else arrives at once. */
async function produceEvents(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => {
    const id = produced + index
    return binaryEvent(String(id), { partition: Math.floor(id / 4) % partitions })
  })
  produced += count
  await produce(plainKafka(), topic, events)
}
const fate = (id: string) => Number(id) % 4

/** Resolves when each event has come to its end, and checks that it is the right one. */
async function accountForAll(): Promise<void> {
  const ids = Array.from({ length: produced }, (_, index) => String(index))
  await receiver.until((requests) => {
    const ended = requests.filter(
      ({ eventId, attempt }) => attempt === { 1: 2, 3: 3 }[fate(eventId)] || fate(eventId) % 2 === 0,
    )
    return new Set(ended.map(({ eventId }) => eventId)).size === produced
  })
  const dead = ids.filter((id) => fate(id) === 3)
  const letters = await readTopic(plainKafka(), `${prefix}.dead-letter`, (messages) => messages.length >= dead.length)
  expect(new Set(letters.map(eventIdOf))).toEqual(new Set(dead))
  for (const id of ids) {
    const attempts = new Set(receiver.of(id).map(({ attempt }) => attempt))
    expect(attempts, `attempts of event ${id}`).toEqual(new Set({ 1: [1, 2], 3: [1, 2, 3] }[fate(id)] ?? [1]))
  }
  await expect.poll(() => lagOf(`${prefix}.subscription.shared`, topic), { timeout: 5_000 }).toBe(0)
}

beforeAll(async () => {
  receiver = await startReceiver(({ eventId, attempt }) => {
    if (fate(eventId) === 3) return 503
    return fate(eventId) === 1 && attempt === 1 ? 503 : 200
  })
  topic = await createSourceTopic(prefix, 'scale', partitions)
  await Promise.all([run('dispatcher'), run('retrier')])
  const retry = { schedule: ['1s', '1s'] }
  await apply(prefix, [{ id: 'shared', topics: [topic], sink: receiver.url, retry }], env)
})
afterAll(async () => {
  await Promise.all(running.map((each) => each.kill('SIGTERM')))
  await receiver?.close()
  await removeEverything(prefix)
})

test('two dispatchers and two retriers share the partitions, and every event is accounted for exactly', async () => {
  await Promise.all([run('dispatcher'), run('retrier')])
  const groups = [`${prefix}.subscription.shared`, `${prefix}.retrier`]
  await expect.poll(() => assignments(groups[0]!), { timeout: 20_000 }).toEqual([2, 2])
  await expect.poll(async () => sorted(await assignments(groups[1]!)), { timeout: 20_000 }).toEqual([42, 42])

  await produceEvents(200)
  await accountForAll()
  expect(receiver.requests).toHaveLength(200 + 50 + 2 * 50)
  for (const service of running) {
    const url = await httpUrl(service)
    expect(await metric(url, 'barnabas_attempts_total'), service.child.spawnargs.join(' ')).toBeGreaterThan(0)
  }
})

test('who joins and leaves while events flow loses nothing', async () => {
  const before = receiver.requests.length
  const flowing = (async () => {
    for (let round = 0; round < 8; round++) {
      await produceEvents(40)
      await receiver.until((requests) => requests.length > before + round * 40)
    }
  })()
  const [dispatcher, retrier] = await Promise.all([run('dispatcher'), run('retrier')])
  expect(await dispatcher.kill('SIGTERM')).toBe(0)
  expect(await retrier.kill('SIGTERM')).toBe(0)
  await flowing
  await accountForAll()
})

test.each<Name>(['dispatcher', 'retrier'])('when one %s is killed the other takes over', async (name) => {
  const alive = running.filter((each) => each.child.exitCode === null && each.child.signalCode === null)
  const [victim, other] = alive.filter((each) => each.child.spawnargs.join(' ').includes(`services/${name}/`))
  onTestFinished(async () => void (await run(name)))
  expect(other).toBeDefined()
  const before = receiver.requests.length
  await produceEvents(80)
  await receiver.until((requests) => requests.length > before + (name === 'dispatcher' ? 10 : 90))
  await victim?.kill('SIGKILL')
  await produceEvents(40)
  await accountForAll()
  const group = name === 'dispatcher' ? `${prefix}.subscription.shared` : `${prefix}.retrier`
  await expect.poll(() => assignments(group)).toHaveLength(1)
})
