/** Blocks under `kill -9` of everything, in a rebalance, and with two operators at once: rows B4, B5 and B8. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlockedEvent, Command, StatusRecord } from '@barnabas/core'
import { endLeftOverBroker, fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  environment,
  lagOf,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics, SeenStatus } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, randomName, readTopic, withAdmin } from '../support/kafka.ts'
import type { ReadMessage } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { canRunOwnBroker, freePort } from '../support/start.ts'

const prefix = randomName('blocking-faults')
const deadLetterTopic = `${prefix}.dead-letter`
const cleanUp = cleanUpAfterAll()
/** What is answered to an event, once that is decided; 200 to those that are not named. */
const answers = new Map<string, number | Promise<number>>()
const neighbourPath = '/neighbour'
const sessionTimeout = { BARNABAS_SESSION_TIMEOUT: '2s' }

let receiver: Receiver
let barnabas: Barnabas
let control: ControlTopics
let topics: FollowedTopics

beforeAll(async () => {
  receiver = await startReceiver(({ eventId, path }) => (path === neighbourPath ? 200 : (answers.get(eventId) ?? 200)))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix, sessionTimeout)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  topics = await followTopics(plainKafka(), [deadLetterTopic, `${prefix}.progress`, `${prefix}.commands`])
  cleanUp(() => topics.stop())
})

const numbered = (count: number) => Array.from({ length: count }, (_, index) => index)
const requestsOf = (eventId: string, path = '/') => receiver.of(eventId).filter((request) => request.path === path)
const attemptsOf = (eventId: string) => requestsOf(eventId).map(({ attempt }) => attempt)
const untilAttempted = (ids: readonly string[], path = '/') =>
  receiver.until(() => ids.every((id) => requestsOf(id, path).length > 0))
const say = (...args: readonly string[]) => barnabasCommand(prefix, args)
const isBlocked = (count: number) => (status: SeenStatus) =>
  status.status === 'Ready' && status.blocked.length === count
const placeOf = ({ topic, partition, offset }: BlockedEvent) => `${topic}/${partition}/${offset}`

/** The dead letters of events of one topic, all that there are now, in the order of those events. */
async function lettersOf(topic: string, of = prefix, kafka = plainKafka()) {
  const letters = await readTopic(kafka, `${of}.dead-letter`)
  const numberIn = (letter: ReadMessage, name: string) => Number(header(letter, `barnabas-source-${name}`))
  return letters
    .filter((letter) => header(letter, 'barnabas-source-topic') === topic)
    .toSorted(
      (one, other) =>
        numberIn(one, 'partition') - numberIn(other, 'partition') ||
        numberIn(one, 'offset') - numberIn(other, 'offset'),
    )
}

/** What an operator says of a block, as the command line writes it. */
function word(command: 'start' | 'skip', subscription: string, { topic, partition, offset, since }: BlockedEvent) {
  const block = { topic, partition, offset, since }
  const said: Command = { command, subscription, block, by: 'kay', at: new Date().toISOString() }
  return { key: subscription, value: JSON.stringify(said) }
}

const write = (...words: readonly ReturnType<typeof word>[]) => produce(plainKafka(), `${prefix}.commands`, [...words])

async function killAndRestart(meanwhile: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  await barnabas.process.kill('SIGKILL')
  await meanwhile()
  barnabas = await startBarnabas(prefix, sessionTimeout)
}

/** A subscription that is blocked at one event of each partition, and what comes behind each of them. */
async function blockedEverywhere(id: string, partitions: number) {
  const topic = await createSourceTopic(prefix, id, partitions)
  const stuck = numbered(partitions).map((partition) => `${id}-stuck-${partition}`)
  const behind = numbered(partitions).map((partition) => `${id}-behind-${partition}`)
  // After the first block no other event is attempted: all have to be under way by then.
  const { promise: allUnderWay, resolve: refuse } = Promise.withResolvers<number>()
  for (const each of stuck) answers.set(each, allUnderWay)
  await apply(prefix, [{ id, topics: [topic], sink: receiver.url, faultTolerance: 'prohibited' }])
  const produceAll = (ids: readonly string[]) =>
    produce(
      plainKafka(),
      topic,
      ids.map((each, partition) => binaryEvent(each, { partition })),
    )
  await produceAll(stuck)
  await untilAttempted(stuck)
  refuse(400)
  const { blocked } = await control.untilStatus(id, isBlocked(partitions))
  await produceAll(behind)
  return { topic, stuck, behind, blocked }
}

/** What stands in `progress` of each event of a subscription. */
function progressOf(id: string, records: readonly FollowedRecord[]): ReadonlyMap<string, Buffer | null> {
  const ofId = records.filter(({ topic, key }) => topic === `${prefix}.progress` && String(key).startsWith(`${id}/`))
  return new Map(ofId.map(({ key, value }) => [String(key), value]))
}

/** Every event of the topic has come to its end, and nothing is known of a block any more. */
async function isOver(id: string, topic: string): Promise<void> {
  await expect.poll(() => lagOf(`${prefix}.subscription.${id}`, topic), { timeout: 10_000 }).toBe(0)
  await topics.until((records) => {
    const values = [...progressOf(id, records).values()]
    return values.length > 0 && values.every((value) => value === null)
  })
  await expect.poll(async () => (await statusesOf(id)).at(-1)?.status, { timeout: 10_000 }).toBe('Running')
}

/** All that were written of a subscription. */
async function statusesOf(id: string, of = prefix, kafka = plainKafka()): Promise<readonly StatusRecord[]> {
  const records = await readTopic(kafka, `${of}.status`)
  const ofId = records.filter(({ key, value }) => String(key) === id && value !== null)
  return ofId.map(({ value }) => JSON.parse(String(value)) as StatusRecord)
}

/** Whether a rebalance is under way, and how many members there are. */
async function membersOf(groupId: string) {
  const { groups } = await withAdmin((admin) => admin.describeGroups([groupId]))
  return [groups[0]?.state, groups[0]?.members.length]
}

test('B5, B8: kill -9 in the middle of eight skips: each event is a dead letter, none is attempted again, and all go on', async () => {
  const { topic, stuck, behind, blocked } = await blockedEverywhere('skips', 8)
  const isSkipped = (record: FollowedRecord) =>
    record.topic === deadLetterTopic && header(record, 'barnabas-source-topic') === topic
  await write(...blocked.map((block) => word('skip', 'skips', block)))
  await topics.until((records) => records.some(isSkipped))
  await killAndRestart()
  await untilAttempted(behind)
  await isOver('skips', topic)

  const letters = Map.groupBy(await lettersOf(topic), eventIdOf)
  expect(new Set(letters.keys())).toEqual(new Set(stuck))
  for (const [id, copies] of letters) {
    const reasons = new Set(copies.map((letter) => header(letter, 'barnabas-dead-letter-reason')))
    expect(reasons, `dead letters of ${id}`).toEqual(new Set(['SkippedByOperator']))
    // Of the steps of a skip a crash may repeat the one that it cut off, once.
    expect(copies.length, `dead letters of ${id}`).toBeLessThanOrEqual(2)
  }
  for (const id of [...stuck, ...behind]) expect(attemptsOf(id), `attempts of ${id}`).toEqual([1])
})

test('B5, B8: kill -9 right after a skip was said, and before its block is removed: who runs next ends it, and it is said once', async () => {
  const { topic, stuck, behind, blocked } = await blockedEverywhere('skip', 1)
  const [[block], [event], [follower]] = [blocked, stuck, behind] as [BlockedEvent[], string[], string[]]
  const saying = say('skip', 'skip')
  await topics.until((records) =>
    records.some(({ topic: of, key }) => of === `${prefix}.commands` && String(key) === 'skip'),
  )
  await killAndRestart()
  expect(await saying).toEqual({
    status: 0,
    text: `skip: skipped event ${event} (${placeOf(block!)}), now a dead letter; Running`,
  })
  await untilAttempted(behind)
  await isOver('skip', topic)
  const letters = await lettersOf(topic)
  expect([1, 2]).toContain(letters.length)
  expect(new Set(letters.map((letter) => header(letter, 'barnabas-dead-letter-reason')))).toEqual(
    new Set(['SkippedByOperator']),
  )

  // What a crash between the commit and the last step leaves: the block, of an event that is done.
  const isOf = ({ topic: of, key }: FollowedRecord) => of === `${prefix}.progress` && String(key).startsWith('skip/')
  const { key, value } = topics.records.findLast((record) => isOf(record) && record.value !== null)!
  const removals = () => topics.records.filter((record) => isOf(record) && record.value === null).length
  const before = removals()
  await killAndRestart(() => produce(plainKafka(), `${prefix}.progress`, [{ key, value }]))
  await topics.until(() => removals() > before)
  await isOver('skip', topic)
  expect(await say('skip', 'skip', '--event', placeOf(block!))).toMatchObject({ status: 1 })
  expect(await lettersOf(topic)).toHaveLength(letters.length)
  expect([attemptsOf(event!), attemptsOf(follower!)]).toEqual([[1], [1]])
})

test('B5, B8: skip and start at the same time: the first word counts, the other is refused, and nothing is done twice', async () => {
  const { topic, stuck, behind, blocked } = await blockedEverywhere('race', 3)
  for (const each of stuck) answers.set(each, 200)
  const [first, second, third] = blocked as [BlockedEvent, BlockedEvent, BlockedEvent]
  const sayOf = (command: string) => say(command, 'race', '--event', placeOf(first))
  const [started, skipped] = await Promise.all([sayOf('start'), sayOf('skip')])
  const winner = started.status === 0 ? 'start' : 'skip'
  const loser = winner === 'start' ? skipped : started
  expect([started.status, skipped.status]).toEqual(winner === 'start' ? [0, 1] : [1, 0])
  // Whoever comes when it is over already is told that it is.
  expect(loser.text).toMatch(new RegExp(`has said ${winner} of ${placeOf(first)} before|is not blocked at`))

  await write(
    word('skip', 'race', second),
    word('start', 'race', second),
    word('start', 'race', third),
    word('skip', 'race', third),
  )
  await untilAttempted(behind)
  await isOver('race', topic)
  const resolved = [winner, 'skip', 'start'] as const
  expect(stuck.map((each) => attemptsOf(each))).toEqual(resolved.map((command) => (command === 'start' ? [1, 1] : [1])))
  expect((await lettersOf(topic)).map(eventIdOf)).toEqual(stuck.filter((_, index) => resolved[index] === 'skip'))
  expect(behind.map((each) => attemptsOf(each))).toEqual([[1], [1], [1]])
})

test.each(['key', 'partition'] as const)(
  'B5: order: %s: what is behind a block comes in its order after the skip, through kill -9 too, and none before it',
  async (order) => {
    const id = `by-${order}`
    const topic = await createSourceTopic(prefix, id)
    const idsOf = (key: string) => numbered(6).map((index) => `${id}-${key}-${index}`)
    const [stuckOfA, stuckOfB] = [idsOf('a')[1]!, idsOf('b')[2]!]
    answers.set(stuckOfA, 503)
    const { promise: allBlockedAtA, resolve: refuse } = Promise.withResolvers<number>()
    answers.set(stuckOfB, allBlockedAtA)
    const retry = { schedule: ['100ms'] }
    await apply(prefix, [{ id, topics: [topic], sink: receiver.url, faultTolerance: 'prohibited', order, retry }])
    const events = numbered(6).flatMap((index) =>
      ['a', 'b'].map((key) => binaryEvent(`${id}-${key}-${index}`, { key })),
    )
    await produce(plainKafka(), topic, events)
    await control.untilStatus(id, isBlocked(1))
    refuse(503)
    // By key, the other one was attempted beside it, and waits in place too.
    await topics.until((records) => progressOf(id, records).size === (order === 'key' ? 2 : 1))
    await killAndRestart()

    const resolvedAt = new Map<string, number>()
    for (const stuck of [stuckOfA, stuckOfB]) {
      const { blocked } = await control.untilStatus(id, ({ blocked: [block] }) => block?.eventId === stuck)
      expect(blocked).toMatchObject([{ attempts: 2, lastOutcome: 'Busy' }])
      expect(attemptsOf(stuck)).toEqual([1, 2])
      resolvedAt.set(stuck, Date.now())
      expect(await say('skip', id)).toMatchObject({ status: 0 })
    }
    await untilAttempted([...idsOf('a'), ...idsOf('b')])
    await isOver(id, topic)

    for (const [key, stuck] of [
      ['a', stuckOfA],
      ['b', stuckOfB],
    ] as const) {
      const ids = idsOf(key)
      const behind = ids.slice(ids.indexOf(stuck) + 1)
      const seen = receiver.requests.flatMap(({ eventId }) => (behind.includes(eventId) ? [eventId] : []))
      expect(seen, `what came behind ${stuck}`).toEqual(behind)
      expect(receiver.of(behind[0]!)[0]!.time).toBeGreaterThanOrEqual(resolvedAt.get(stuck)!)
    }
    expect((await lettersOf(topic)).map(eventIdOf)).toEqual([stuckOfA, stuckOfB])
  },
)

/** A subscription that is blocked at its first event, and a neighbour that reads the same topic, of Barnabas under any prefix. */
async function blockedBesideNeighbour(
  of: string,
  topic: string,
  kafka = plainKafka(),
  env: Record<string, string> = {},
) {
  const stuck = `${of}-stuck`
  answers.set(stuck, 503)
  const retry = { schedule: ['100ms'] }
  const subscriptions = [
    { id: 'ledger', topics: [topic], sink: receiver.url, faultTolerance: 'prohibited', retry },
    { id: 'neighbour', topics: [topic], sink: `${receiver.url}${neighbourPath}` },
  ]
  await apply(of, subscriptions, env)
  await produce(kafka, topic, [binaryEvent(stuck, { partition: 0 })])
  const following = await followControlTopics(of, kafka)
  const { blocked } = await following.untilStatus('ledger', isBlocked(1))
  await following.stop()
  expect(blocked).toMatchObject([{ topic, partition: 0, offset: 0, eventId: stuck, attempts: 2, lastOutcome: 'Busy' }])
  const behind: string[] = []
  return {
    stuck,
    behind,
    /** Events in both partitions reach the neighbour, and of the subscription nothing is attempted. */
    async standsStill() {
      const wave = [0, 1].map((partition) => `${of}-${behind.length + partition}`)
      await produce(
        kafka,
        topic,
        wave.map((id, partition) => binaryEvent(id, { partition })),
      )
      behind.push(...wave)
      await untilAttempted(wave, neighbourPath)
      expect([attemptsOf(stuck), ...behind.map((id) => attemptsOf(id))]).toEqual([[1, 2], ...behind.map(() => [])])
      const statuses = await statusesOf('ledger', of, kafka)
      const later = statuses.slice(statuses.findIndex(({ status }) => status === 'Ready'))
      expect(later.map((status) => [status.status, status.blocked])).toEqual(later.map(() => ['Ready', blocked]))
    },
  }
}

test('B5: a block stays through rebalances, when its owner is killed and when another joins; skip makes one dead letter', async () => {
  const of = randomName('blocking-rebalanced')
  cleanUp(() => removeEverything(of))
  const dispatch = async () => {
    const dispatcher = runProcess('services/dispatcher/main.ts', { ...environment(of), ...sessionTimeout })
    cleanUp(() => dispatcher.kill('SIGKILL'))
    await dispatcher.line(/dispatcher is ready/)
    return dispatcher
  }
  const untilMembers = (count: number) =>
    expect.poll(() => membersOf(`${of}.subscription.ledger`), { timeout: 20_000 }).toEqual(['Stable', count])
  const both = await Promise.all([dispatch(), dispatch()])
  const topic = await createSourceTopic(of, 'moved', 2)
  const { stuck, behind, standsStill } = await blockedBesideNeighbour(of, topic)
  await untilMembers(2)
  await standsStill()

  const owner = both.find(({ lines }) => lines.some((line) => line.includes(`"eventId":"${stuck}"`)))
  await owner!.kill('SIGKILL')
  await untilMembers(1)
  await standsStill()
  await dispatch()
  await untilMembers(2)
  await standsStill()

  const saidAt = Date.now()
  expect(await barnabasCommand(of, ['skip', 'ledger'])).toMatchObject({ status: 0 })
  await untilAttempted(behind)
  await expect.poll(() => lagOf(`${of}.subscription.ledger`, topic), { timeout: 10_000 }).toBe(0)
  const letters = await lettersOf(topic, of)
  expect(letters.map((letter) => [eventIdOf(letter), header(letter, 'barnabas-dead-letter-reason')])).toEqual([
    [stuck, 'SkippedByOperator'],
  ])
  expect([attemptsOf(stuck), ...behind.map((id) => attemptsOf(id))]).toEqual([[1, 2], ...behind.map(() => [1])])
  for (const id of behind) expect(requestsOf(id)[0]!.time).toBeGreaterThanOrEqual(saidAt)
})

test('B5: a dispatcher that is joining while the subscription is blocked attempts nothing of it', async () => {
  const of = randomName('blocking-joined')
  cleanUp(() => removeEverything(of))
  const dispatch = () => {
    const dispatcher = runProcess('services/dispatcher/main.ts', environment(of))
    cleanUp(() => dispatcher.kill('SIGKILL'))
    return dispatcher
  }
  // Whoever takes over the partition of the block has one beside it.
  const topic = await createSourceTopic(of, 'joined', 4)
  const stuck = `${of}-stuck`
  const behind = numbered(4).map((partition) => `${of}-${partition}`)
  const group = `${of}.subscription.ledger`
  const { promise: isJoining, resolve: refuse } = Promise.withResolvers<number>()
  answers.set(stuck, isJoining)
  dispatch()
  await apply(of, [
    { id: 'ledger', topics: [topic], sink: receiver.url, faultTolerance: 'prohibited' },
    { id: 'neighbour', topics: [topic], sink: `${receiver.url}${neighbourPath}` },
  ])
  await produce(plainKafka(), topic, [binaryEvent(stuck, { partition: 0 })])
  await untilAttempted([stuck])

  // Its join is answered once the first one has joined anew, and that one waits for its attempt.
  dispatch()
  await expect.poll(() => membersOf(group), { timeout: 20_000 }).toEqual(['PreparingRebalance', 2])
  refuse(400)
  await expect.poll(() => membersOf(group), { timeout: 20_000 }).toEqual(['Stable', 2])
  const following = await followControlTopics(of)
  await following.untilStatus('ledger', isBlocked(1))
  await following.stop()
  await produce(
    plainKafka(),
    topic,
    behind.map((id, partition) => binaryEvent(id, { partition })),
  )
  await untilAttempted(behind, neighbourPath)
  expect([stuck, ...behind].map(attemptsOf)).toEqual([[1], ...behind.map(() => [])])

  expect(await barnabasCommand(of, ['skip', 'ledger'])).toMatchObject({ status: 0 })
  await untilAttempted(behind)
})

describe.skipIf(!(await canRunOwnBroker()))('a broker that is killed while a subscription is blocked', () => {
  test('B5: and started again leaves the block as it was; start begins at attempt 1, counted as a redrive', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'barnabas-blocked-restart-'))
    cleanUp(async () => {
      await endLeftOverBroker(dataDir, 1_000)
      await rm(dataDir, { recursive: true, force: true })
    })
    const port = await freePort()
    const common = { dataDir, port, portIsFixed: true, heapMb: 256, jvmFlags: fastStartJvmFlags, endsWithParent: true }
    const first = await startLocalKafka(common)
    const env = { ...sessionTimeout, KAFKA_BROKERS: first.brokers }
    const kafka = plainKafka([first.brokers])
    const of = 'restart'
    const { process: running } = await startBarnabas(of, env)
    cleanUp(() => running.kill('SIGKILL'))
    await createTopic(kafka, 'bookings', 2)
    const { stuck, behind, standsStill } = await blockedBesideNeighbour(of, 'bookings', kafka, env)
    await standsStill()

    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const second = await startLocalKafka(common)
    cleanUp(() => second.stop())
    await standsStill()

    const sayHere = (command: string) => barnabasCommand(of, [command, 'ledger'], env)
    const attempted = receiver.until(() => attemptsOf(stuck).length === 4)
    expect(await sayHere('start')).toMatchObject({ status: 0 })
    await attempted
    const isAnew = async () => (await statusesOf('ledger', of, kafka)).at(-1)?.blocked.map(({ attempts }) => attempts)
    await expect.poll(isAnew, { timeout: 10_000 }).toEqual([2])
    const saidAt = Date.now()
    expect(await sayHere('skip')).toMatchObject({ status: 0 })
    await untilAttempted(behind)
    expect([attemptsOf(stuck), ...behind.map((id) => attemptsOf(id))]).toEqual([[1, 2, 1, 2], ...behind.map(() => [1])])
    const [letter, ...others] = await lettersOf('bookings', of, kafka)
    expect(others).toEqual([])
    expect([
      eventIdOf(letter!),
      header(letter!, 'barnabas-dead-letter-reason'),
      header(letter!, 'barnabas-attempts'),
      header(letter!, 'barnabas-redrives'),
    ]).toEqual([stuck, 'SkippedByOperator', '2', '1'])
    expect(requestsOf(behind[0]!)[0]!.time).toBeGreaterThanOrEqual(saidAt)
  }, 120_000)
})
