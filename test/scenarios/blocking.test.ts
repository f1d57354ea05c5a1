/** A subscription that stops at an event which cannot be delivered, until somebody resolves it: rows B4 and B5. */
import { beforeAll, expect, test } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
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
import { plainKafka, produce, randomName, withAdmin } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const prefix = randomName('blocking')
const cleanUp = cleanUpAfterAll()
/** What is answered to an event; 200 to those that are not named. */
const answers = new Map<string, number>()
const sessionTimeout = { BARNABAS_SESSION_TIMEOUT: '2s' }

let receiver: Receiver
let barnabas: Barnabas
let control: ControlTopics
let topics: FollowedTopics

beforeAll(async () => {
  receiver = await startReceiver(({ eventId }) => answers.get(eventId) ?? 200)
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix, sessionTimeout)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  topics = await followTopics(plainKafka(), [`${prefix}.dead-letter`, `${prefix}.progress`])
  cleanUp(() => topics.stop())
})

interface Blocked {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly eventId: string
  readonly attempts: number
  readonly lastOutcome: string
  readonly since: string
}

const blockedOf = (status: SeenStatus) => (status as unknown as { readonly blocked: readonly Blocked[] }).blocked
const isDeadLetter = ({ topic }: FollowedRecord) => topic === `${prefix}.dead-letter`
const letterOf = (id: string) => (record: FollowedRecord) => isDeadLetter(record) && eventIdOf(record) === id
const progressOf = (id: string) =>
  topics.records.filter(({ topic, key }) => topic === `${prefix}.progress` && String(key).startsWith(`${id}/`))
const attemptsOf = (eventId: string) => receiver.of(eventId).map(({ attempt }) => attempt)

const say = (...args: readonly string[]) => barnabasCommand(prefix, args)

/** A prohibited subscription to a topic of its own. */
async function blocking(id: string, schedule: readonly string[], more: Record<string, unknown> = {}, partitions = 1) {
  const topic = await createSourceTopic(prefix, id, partitions)
  const retry = { schedule }
  await apply(prefix, [{ id, topics: [topic], sink: receiver.url, faultTolerance: 'prohibited', retry, ...more }])
  return topic
}

const isBlocked = (count: number) => (status: SeenStatus) =>
  status.status === 'Ready' && blockedOf(status).length === count

test('B5: what cannot be delivered is retried in place, then blocks; skip makes it a dead letter, and those behind it go on', async () => {
  answers.set('stuck', 503)
  const topic = await blocking('skipped', ['1s', '500ms'], { deadLetter: 'none' })
  await produce(plainKafka(), topic, [binaryEvent('before'), binaryEvent('stuck')])
  await topics.until(() => progressOf('skipped').length === 1)
  await produce(plainKafka(), topic, [binaryEvent('behind')])

  const status = await control.untilStatus('skipped', isBlocked(1))
  expect(attemptsOf('stuck')).toEqual([1, 2, 3])
  const [first, second, third] = receiver.of('stuck').map(({ time }) => time) as [number, number, number]
  expect([second - first >= 1_000, third - second >= 500]).toEqual([true, true])
  expect(attemptsOf('before')).toEqual([1])
  expect(attemptsOf('behind')).toEqual([])
  const [block] = blockedOf(status)
  expect(block).toMatchObject({ topic, partition: 0, offset: 1, eventId: 'stuck', attempts: 3, lastOutcome: 'Busy' })
  expect(status.reason).toContain(`blocked at event stuck (${topic}/0/1) after 3 attempts, the last one Busy`)
  expect(status.reason).toContain('`barnabas skip skipped`')
  expect((await say('describe', 'skipped')).text).toContain(`${topic}/0/1`)

  expect(await say('skip', 'skipped')).toEqual({
    status: 0,
    text: `skipped: skipped event stuck (${topic}/0/1), now a dead letter; Running`,
  })
  await receiver.until(() => attemptsOf('behind').length === 1)
  const letter = (await topics.until((records) => records.some(letterOf('stuck')))).find(letterOf('stuck'))!
  expect([
    header(letter, 'barnabas-dead-letter-reason'),
    header(letter, 'barnabas-attempts'),
    header(letter, 'barnabas-last-outcome'),
  ]).toEqual(['SkippedByOperator', '3', 'Busy'])
  expect(letter.value?.toString()).toBe('{"number":1}')
  await topics.until(() => progressOf('skipped').at(-1)?.value === null)
  expect(topics.records.filter(letterOf('stuck'))).toHaveLength(1)
  expect(attemptsOf('stuck')).toHaveLength(3)
})

test('B5: several partitions that exhaust at once are each named, nothing else is attempted, and start begins a fresh schedule', async () => {
  for (const id of ['left', 'right']) answers.set(id, 400)
  const retry = { schedule: ['1s'], neverOn: [400] }
  const topic = await blocking('several', ['1s'], { retry }, 2)
  await produce(plainKafka(), topic, [binaryEvent('left', { partition: 0 }), binaryEvent('right', { partition: 1 })])
  const status = await control.untilStatus('several', isBlocked(2))
  // A status that is never retried is exhausted at once.
  expect(blockedOf(status).map(({ eventId, attempts, lastOutcome }) => [eventId, attempts, lastOutcome])).toEqual([
    ['left', 1, 'BadRequest'],
    ['right', 1, 'BadRequest'],
  ])
  await produce(plainKafka(), topic, [
    binaryEvent('left-2', { partition: 0 }),
    binaryEvent('right-2', { partition: 1 }),
  ])

  // So is an event that was sent again: it comes through a tier, and is held until the subscription goes on.
  const { generation } = await control.stored('several')
  const redriven = { subscription: 'several', generation: String(generation), topic }
  await produce(plainKafka(), `${prefix}.retry.now`, [retryRecord('redriven', redriven, { attempts: '0' })])
  await withAdmin(async (admin) => {
    await expect.poll(() => admin.listTopics(), { timeout: 20_000 }).toContain(`${prefix}.held.several`)
  })

  expect(await say('start', 'several')).toEqual({
    status: 1,
    text: expect.stringContaining(
      `it is blocked at 2 events; say which with --event: ${topic}/0/0, ${topic}/1/0`,
    ) as unknown,
  })
  answers.delete('left')
  answers.delete('right')
  expect((await say('start', 'several', '--event', `${topic}/0/0`)).text).toContain(
    `event left (${topic}/0/0) is attempted again; still blocked at ${topic}/1/0`,
  )
  // Nothing of it is attempted while it is blocked elsewhere.
  expect([attemptsOf('left'), attemptsOf('left-2'), attemptsOf('redriven')]).toEqual([[1], [], []])
  expect((await say('start', 'several')).text).toContain('is attempted again; Running')
  await receiver.until(() => ['left-2', 'right-2', 'redriven'].every((id) => attemptsOf(id).length === 1))
  // A fresh schedule begins at attempt 1.
  expect([attemptsOf('left'), attemptsOf('right')]).toEqual([
    [1, 1],
    [1, 1],
  ])
  await expect.poll(() => lagOf(`${prefix}.subscription.several`, topic), { timeout: 10_000 }).toBe(0)
})

test('B5: kill -9 in the middle of a wait goes on counting, and waits out the rest of the same wait', async () => {
  answers.set('counted', 503)
  const topic = await blocking('killed', ['1ms', '2500ms', '1ms'])
  await produce(plainKafka(), topic, [binaryEvent('counted'), binaryEvent('follower')])
  const isSecond = ({ topic: of, key, value }: FollowedRecord) =>
    of === `${prefix}.progress` && String(key).startsWith('killed/') && String(value).includes('"attempts":2')
  const written = (await topics.until((records) => records.some(isSecond))).find(isSecond)!
  const { dueTime } = JSON.parse(String(written.value)) as { readonly dueTime: string }
  await barnabas.process.kill('SIGKILL')
  barnabas = await startBarnabas(prefix, sessionTimeout)
  const status = await control.untilStatus('killed', isBlocked(1))
  expect(attemptsOf('counted')).toEqual([1, 2, 3, 4])
  expect(receiver.of('counted')[2]!.time).toBeGreaterThanOrEqual(Date.parse(dueTime))
  expect(blockedOf(status)).toMatchObject([{ eventId: 'counted', attempts: 4 }])

  // What an operator says while nobody runs is done by who runs next.
  await barnabas.process.kill('SIGKILL')
  const [{ since }] = blockedOf(status) as [Blocked]
  const block = { topic, partition: 0, offset: 0, since }
  const skip = { command: 'skip', subscription: 'killed', block, by: 'kay', at: new Date().toISOString() }
  await produce(plainKafka(), `${prefix}.commands`, [{ key: 'killed', value: JSON.stringify(skip) }])
  barnabas = await startBarnabas(prefix, sessionTimeout)
  const letter = (await topics.until((records) => records.some(letterOf('counted')))).find(letterOf('counted'))!
  expect(header(letter, 'barnabas-dead-letter-reason')).toBe('SkippedByOperator')
  // At least once: it may have been attempted beside the other one, before the kill.
  await receiver.until(() => attemptsOf('follower').length >= 1)
  expect(attemptsOf('counted')).toHaveLength(4)
})

test('what is damaged loses nothing: a record of progress that cannot be read, an event that retention has removed', async () => {
  answers.set('removed', 503)
  const topic = await blocking('damaged', ['2s'])
  const other = await createSourceTopic(prefix, 'other')
  await apply(prefix, [{ id: 'neighbour', topics: [topic, other], sink: `${receiver.url}/neighbour` }])
  await produce(plainKafka(), topic, [binaryEvent('removed'), { value: 'no event' }, binaryEvent('after')])
  await topics.until(() => progressOf('damaged').length === 1)
  const [{ key }] = progressOf('damaged') as [FollowedRecord]
  // Who knows better does not believe it.
  await produce(plainKafka(), `${prefix}.progress`, [{ key, value: '{"kind":"blocked"' }])
  const status = await control.untilStatus('damaged', isBlocked(1))
  expect(blockedOf(status)).toMatchObject([{ eventId: 'removed', attempts: 2, offset: 0 }])

  await withAdmin(async (admin) => {
    // kafkajs deletes records of topics only that it knows.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] })
  })
  expect(await say('skip', 'damaged')).toMatchObject({ status: 0 })
  const isSkipped = (record: FollowedRecord) =>
    isDeadLetter(record) && header(record, 'barnabas-source-topic') === topic && record.value === null
  const letter = (await topics.until((records) => records.some(isSkipped))).find(isSkipped)!
  expect([header(letter, 'barnabas-dead-letter-reason'), header(letter, 'barnabas-source-offset')]).toEqual([
    'SkippedByOperator',
    '0',
  ])
  expect(header(letter, 'barnabas-last-error')).toContain('was removed from its topic before it was given up')
  // Damage is a dead letter under either setting, and nobody else was held up.
  const isMalformed = (record: FollowedRecord) => header(record, 'barnabas-dead-letter-reason') === 'EventMalformed'
  await topics.until((records) => records.filter(isMalformed).length === 2)
  await receiver.until((requests) => requests.filter(({ eventId }) => eventId === 'after').length === 2)
})
