/** Subscriptions come, change and go while Barnabas runs: rows A1, A9; "taken up within 2 s without a restart". */
import type { Message } from 'kafkajs'
import { beforeAll, describe, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics, writeSubscription } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'

/** 2 s are promised; what a busy machine adds is given. */
const takenUpWithinMs = 3_000

const prefix = randomName('subscriptions')
const cleanUp = cleanUpAfterAll()
let receiver: Receiver
let control: ControlTopics
let letters: FollowedTopics

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ path }) => {
    if (path.endsWith('/fails')) return 503
    return path.endsWith('/hangs') ? 'hang' : 200
  })
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
})

const send = (topic: string, ...events: Message[]) => produce(plainKafka(), topic, events)
const at = (path: string) => (request: ReceivedRequest) => request.path === path
const until = async (isIt: (request: ReceivedRequest) => boolean) =>
  (await receiver.until((all) => all.some(isIt))).find(isIt)!
/** The event of this id at this path. */
const arrival = (path: string, id: string) => until((request) => request.path === path && request.eventId === id)
const isRunning = (revision: number) => (each: { readonly status: string; readonly revision: number }) =>
  each.status === 'Running' && each.revision === revision

/** Writes an event every 50 ms while `work` goes on: so a change shows as soon as it takes effect. */
async function whileEventsFlow<Result>(topic: string, type: string, work: () => Promise<Result>): Promise<Result> {
  const producer = plainKafka().producer()
  await producer.connect()
  let count = 0
  let sending: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    count += 1
    const messages = [binaryEvent(`${type} ${count}`, { type })]
    sending = sending.then(() => producer.send({ topic, messages }))
  }, 50)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await sending
    await producer.disconnect()
  }
}

/** The ids of the group's members: another one has joined anew. */
async function membersOf(id: string): Promise<readonly string[]> {
  const admin = plainKafka().admin()
  await admin.connect()
  const { groups } = await admin.describeGroups([`${prefix}.subscription.${id}`])
  await admin.disconnect()
  return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId))
}

describe('what is written is taken up within 2 s, without a restart', () => {
  const id = 'changing'
  let topic: string
  let subscription: Written

  const change = async (changes: Record<string, unknown>) => {
    subscription = { ...subscription, ...changes }
    await apply(prefix, [subscription])
  }
  const msSinceWritten = async (request: { readonly time: number }) => request.time - (await control.writtenAt(id))

  beforeAll(async () => {
    topic = await createSourceTopic(prefix, 'changing', 2)
    subscription = { id, topics: [topic], sink: `${receiver.url}/one` }
  })

  test('created: Starting, then Running, then events', async () => {
    await whileEventsFlow(topic, 'created', async () => {
      await change({})
      expect(await msSinceWritten(await until(at('/one')))).toBeLessThan(takenUpWithinMs)
    })
    const running = await control.untilStatus(id, isRunning(1))
    expect(await msSinceWritten(running)).toBeLessThan(takenUpWithinMs)
    expect(control.statusesOf(id).map(({ status }) => status)).toEqual(['Starting', 'Running'])
  })

  test('its sink changed: the next events go to the new one, and nobody joins the group anew', async () => {
    const members = await membersOf(id)
    await whileEventsFlow(topic, 'sink', async () => {
      await change({ sink: `${receiver.url}/two` })
      expect(await msSinceWritten(await until(at('/two')))).toBeLessThan(takenUpWithinMs)
    })
    await control.untilStatus(id, isRunning(2))
    expect(await membersOf(id)).toEqual(members)
    const seen = [...receiver.requests]
    await send(topic, binaryEvent('to the new sink'))
    await arrival('/two', 'to the new sink')
    expect(receiver.requests.slice(seen.length).filter(at('/one'))).toEqual([])
  })

  test('its filters changed: what no longer matches stays away', async () => {
    const members = await membersOf(id)
    await change({ types: ['wanted', 'also'], filters: [{ prefix: { source: '/te' } }] })
    await control.untilStatus(id, isRunning(3))
    expect((await control.untilStatus(id, isRunning(3))).time - (await control.writtenAt(id))).toBeLessThan(
      takenUpWithinMs,
    )
    await send(
      topic,
      binaryEvent('other type', { type: 'unwanted', partition: 0 }),
      binaryEvent('other source', { type: 'wanted', source: '/other', partition: 0 }),
      binaryEvent('matching', { type: 'wanted', partition: 0 }),
    )
    await arrival('/two', 'matching')
    expect([...receiver.of('other type'), ...receiver.of('other source')]).toEqual([])
    expect(await membersOf(id)).toEqual(members)
  })

  test('its retry policy changed: the next failure follows the new one', async () => {
    const members = await membersOf(id)
    await change({ sink: `${receiver.url}/fails`, types: [], filters: [], retry: { schedule: ['1h'] } })
    await control.untilStatus(id, isRunning(4))
    await send(topic, binaryEvent('parked for an hour'))
    await arrival('/fails', 'parked for an hour')
    const isLetter = (record: FollowedRecord) => header(record, 'ce_type') === 'given up'
    await whileEventsFlow(topic, 'given up', async () => {
      await change({ retry: { schedule: ['1h'], maxAttempts: 1 } })
      const letter = (await letters.until((all) => all.some(isLetter))).find(isLetter)!
      expect(Number(letter.timestamp) - (await control.writtenAt(id))).toBeLessThan(takenUpWithinMs)
      expect(header(letter, 'barnabas-attempts')).toBe('1')
      expect(header(letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    })
    expect(letters.records.filter((record) => header(record, 'ce_id') === 'parked for an hour')).toEqual([])
    expect(await membersOf(id)).toEqual(members)
  })

  test('its concurrency changed: so many attempts are in flight', async () => {
    const timeoutMs = 600
    const members = await membersOf(id)
    const gapsOf = async (type: string) => {
      const ids = [1, 2, 3].map((index) => `${type} ${index}`)
      await send(topic, ...ids.map((each) => binaryEvent(each, { type })))
      const isOfType = ({ eventId }: ReceivedRequest) => ids.includes(eventId)
      await receiver.until((all) => all.filter(isOfType).length === ids.length)
      const times = receiver.requests.filter(isOfType).map(({ time }) => time)
      return times.slice(1).map((time, index) => time - times[index]!)
    }
    await change({ sink: `${receiver.url}/hangs`, timeout: `${timeoutMs}ms`, concurrency: 1 })
    await control.untilStatus(id, isRunning(6))
    // Each begins when the one before it has timed out; 100 ms for the clocks of two processes.
    for (const gap of await gapsOf('one by one')) expect(gap).toBeGreaterThan(timeoutMs - 100)
    await change({ concurrency: 3 })
    await control.untilStatus(id, isRunning(7))
    for (const gap of await gapsOf('all at once')) expect(gap).toBeLessThan(timeoutMs - 100)
    expect(await membersOf(id)).toEqual(members)
  })

  test('its topics changed: another member reads them, and an added topic starts as `from` says', async () => {
    const members = await membersOf(id)
    const added = await createSourceTopic(prefix, 'added')
    await send(added, binaryEvent('before it was added'))
    await whileEventsFlow(added, 'added', async () => {
      await change({ sink: `${receiver.url}/three`, topics: [topic, added], concurrency: 64 })
      expect(await msSinceWritten(await until(at('/three')))).toBeLessThan(takenUpWithinMs)
    })
    await control.untilStatus(id, isRunning(8))
    expect(await membersOf(id)).not.toEqual(members)
    await send(topic, binaryEvent('from the old topic'))
    await arrival('/three', 'from the old topic')
    expect(receiver.of('before it was added')).toEqual([])

    await change({ topics: [added] })
    await control.untilStatus(id, isRunning(9))
    await send(topic, binaryEvent('from a topic that was taken away'))
    await send(added, binaryEvent('from the topic that stays'))
    await arrival('/three', 'from the topic that stays')
    expect(receiver.of('from a topic that was taken away')).toEqual([])
    // Nothing was lost or read twice on the way.
    const flowed = receiver.requests.filter((request) => at('/three')(request) && request.eventId.startsWith('added '))
    expect(new Set(flowed.map(({ eventId }) => eventId)).size).toBe(flowed.length)
  })

  test('deleted: no more attempts, its status and its group are gone', async () => {
    const [added] = subscription['topics'] as [string]
    await whileEventsFlow(added, 'until it was deleted', async () => {
      await until(({ eventId }) => eventId.startsWith('until it was deleted'))
      await writeSubscription(prefix, id, null)
      const removed = await control.untilRemoved(id)
      expect(removed - (await control.writtenAt(id))).toBeLessThan(takenUpWithinMs)
    })
    const before = receiver.requests.length
    await send(added, binaryEvent('after it was deleted'))
    await expect.poll(() => membersOf(id), { timeout: 5_000, interval: 100 }).toEqual([])
    const admin = plainKafka().admin()
    await admin.connect()
    const groupIds = async () => (await admin.listGroups()).groups.map(({ groupId }) => groupId)
    await expect.poll(groupIds, { timeout: 5_000, interval: 100 }).not.toContain(`${prefix}.subscription.${id}`)
    await admin.disconnect()
    expect(receiver.requests.slice(before)).toEqual([])
  })
})

describe('with attempts in flight', () => {
  // One attempt hangs, and another event waits behind it.
  const waitsBehind = async (id: string, changes: Record<string, unknown> = {}) => {
    const topic = await createSourceTopic(prefix, id)
    const sink = `${receiver.url}/${id}/hangs`
    const written = {
      id,
      topics: [topic],
      sink,
      timeout: '10m',
      concurrency: 1,
      retry: { schedule: ['1s'] },
      ...changes,
    }
    await apply(prefix, [written])
    await send(topic, binaryEvent(`${id} in flight`), binaryEvent(`${id} behind`))
    await arrival(`/${id}/hangs`, `${id} in flight`)
    return written
  }

  test('changed: they end as they began, and what waits and what is retried goes by the new fields', async () => {
    const before = await waitsBehind('in-flight')
    await apply(prefix, [{ ...before, sink: `${receiver.url}/in-flight/new`, concurrency: 2 }])
    // There is a second place now.
    expect((await arrival('/in-flight/new', 'in-flight behind')).attempt).toBe(1)
    receiver.cutOff()
    expect((await arrival('/in-flight/new', 'in-flight in flight')).attempt).toBe(2)
    expect(receiver.requests.filter(at('/in-flight/hangs'))).toHaveLength(1)
    expect(receiver.requests.filter(at('/in-flight/new'))).toHaveLength(2)
  })

  test('deleted: they are drained, what failed becomes a dead letter, and what waits is attempted no more', async () => {
    await waitsBehind('removed')
    await writeSubscription(prefix, 'removed', null)
    await control.untilRemoved('removed')
    const isIt = (record: FollowedRecord) => header(record, 'ce_id') === 'removed in flight'
    const letter = (await letters.until((all) => all.some(isIt))).find(isIt)!
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('SubscriptionDeleted')
    expect(header(letter, 'barnabas-last-outcome')).toBe('Canceled')
    expect(header(letter, 'barnabas-attempts')).toBe('1')
    expect(receiver.of('removed behind')).toEqual([])
    expect(letters.records.filter((record) => header(record, 'ce_id') === 'removed behind')).toEqual([])
  })
})

test('an existing topic added to a subscription with `from: earliest` is read from its beginning', async () => {
  const [one, other] = [await createSourceTopic(prefix, 'one'), await createSourceTopic(prefix, 'other')]
  await send(other, binaryEvent('long ago'))
  const earliest = { id: 'earliest', topics: [one], sink: `${receiver.url}/earliest`, from: 'earliest' }
  await apply(prefix, [earliest])
  await apply(prefix, [{ ...earliest, topics: [one, other] }])
  await arrival('/earliest', 'long ago')
})

test('one subscription that changes does not touch another', async () => {
  const topic = await createSourceTopic(prefix, 'two')
  const [calm, busy] = ['calm', 'busy'].map((id) => ({ id, topics: [topic], sink: `${receiver.url}/${id}` }))
  await apply(prefix, [calm!, busy!])
  const members = await membersOf('calm')
  const statuses = control.statusesOf('calm')
  const other = await createSourceTopic(prefix, 'more')
  await apply(prefix, [{ ...busy!, topics: [topic, other] }])
  await writeSubscription(prefix, 'busy', 'garbage')
  await control.untilStatus('busy', ({ status }) => status === 'Start Failed')
  await writeSubscription(prefix, 'busy', null)
  await control.untilRemoved('busy')
  await send(topic, binaryEvent('undisturbed'))
  await arrival('/calm', 'undisturbed')
  expect(await membersOf('calm')).toEqual(members)
  expect(control.statusesOf('calm')).toEqual(statuses)
})
