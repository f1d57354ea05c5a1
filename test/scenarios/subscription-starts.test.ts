/** Where a subscription starts, in its first life and in the next: design, "Offsets"; interface, `from` and `generation`. */
import { beforeAll, describe, expect, test } from 'vitest'
import { apply, barnabasCommand, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics, writeSubscription } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, withAdmin } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('starts')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let control: ControlTopics
let letters: FollowedTopics

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ path }) => (path.endsWith('/fails') ? 503 : 200))
  cleanUp(() => receiver.close())
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
})

const send = (topic: string, ids: readonly string[], partition?: number) =>
  produce(
    plainKafka(),
    topic,
    ids.map((id) => binaryEvent(id, partition === undefined ? {} : { partition })),
  )
const arrivalsAt = (path: string) =>
  receiver.requests.filter((each) => each.path === path).map(({ eventId }) => eventId)
const arrived = (path: string, id: string) => receiver.until(() => arrivalsAt(path).includes(id))
const groupOf = (id: string) => `${prefix}.subscription.${id}`

/** By partition; what is not committed is left out. */
async function committedOf(id: string, topic: string): Promise<Record<number, number>> {
  const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId: groupOf(id), topics: [topic] }))
  const committed = (found?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0)
  return Object.fromEntries(committed.map(({ partition, offset }) => [partition, Number(offset)]))
}

/** What an operator's tool does: a member that joins the empty group, commits a place for partition 0, and leaves. */
async function setOffset(groupId: string, topic: string, offset: number): Promise<void> {
  const consumer = plainKafka().consumer({ groupId })
  await consumer.connect()
  await consumer.subscribe({ topic })
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve))
  await consumer.run({ autoCommit: false, eachBatch: async () => {} })
  await joined
  await consumer.commitOffsets([{ topic, partition: 0, offset: String(offset) }])
  await consumer.disconnect()
}

async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
  await barnabas.stop()
  await meanwhile()
  barnabas = await startBarnabas(prefix)
}

describe('the start offsets are committed before the status says Running', () => {
  test.each([
    ['latest', { 0: 2, 1: 1, 2: 0 }],
    ['earliest', { 0: 0, 1: 0, 2: 0 }],
  ] as const)('from %s', async (from, expected) => {
    const id = `at-${from}`
    const topic = await createSourceTopic(prefix, id, 3)
    await send(topic, ['first', 'second'], 0)
    await send(topic, ['third'], 1)
    const running = control.untilStatus(id, ({ status }) => status === 'Running').then(() => committedOf(id, topic))
    // Nothing matches, so nothing but the start can have been committed as long as nobody commits what was filtered.
    const applied = apply(prefix, [{ id, topics: [topic], sink: `${receiver.url}/${id}`, from, types: ['none'] }])
    const committed = await running
    await applied
    const stored = (await control.stored(id))['startOffsets']
    expect(stored).toEqual({ [topic]: expected })
    expect(Object.keys(committed)).toEqual(['0', '1', '2'])
    for (const [partition, offset] of Object.entries(committed)) {
      expect(offset).toBeGreaterThanOrEqual(expected[Number(partition) as 0 | 1 | 2])
    }
    if (from === 'latest') expect(committed).toEqual(expected)
  })
})

describe('a subscription that is deleted and made again is another life', () => {
  test('events that the first life had parked become dead letters SubscriptionDeleted', async () => {
    const topic = await createSourceTopic(prefix, 'parked')
    const subscription = { id: 'parked', topics: [topic], sink: `${receiver.url}/fails`, retry: { schedule: ['4s'] } }
    await apply(prefix, [subscription])
    const first = (await control.stored('parked'))['generation']
    await send(topic, ['parked in the first life'])
    await arrived('/fails', 'parked in the first life')
    await writeSubscription(prefix, 'parked', null)
    await apply(prefix, [{ ...subscription, sink: `${receiver.url}/second-life` }])
    const second = (await control.stored('parked'))['generation']
    expect(Number(second)).toBeGreaterThan(Number(first))

    const isIt = (record: FollowedRecord) => header(record, 'ce_id') === 'parked in the first life'
    const letter = (await letters.until((all) => all.some(isIt))).find(isIt)!
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('SubscriptionDeleted')
    expect(header(letter, 'barnabas-subscription-generation')).toBe(String(first))
    expect(header(letter, 'barnabas-attempts')).toBe('1')
    expect(header(letter, 'barnabas-last-outcome')).toBe('Busy')
    expect(arrivalsAt('/second-life')).toEqual([])
  })

  // While Barnabas runs the group goes with the subscription; while it does not, the old commits outlive it.
  describe.each(['running', 'stopped'] as const)('while Barnabas is %s', (when) => {
    test.each([
      ['latest', ['after']],
      ['earliest', ['after', 'before', 'between']],
    ] as const)('from %s: the new life starts where its own start offsets say', async (from, expected) => {
      const id = `again-${from}-${when}`
      const topic = await createSourceTopic(prefix, id)
      const subscription = { id, topics: [topic], from, sink: `${receiver.url}/${id}-first` }
      await apply(prefix, [subscription])
      await send(topic, ['before'])
      await arrived(`/${id}-first`, 'before')
      await expect.poll(() => committedOf(id, topic), { timeout: 5_000 }).toEqual({ 0: 1 })

      const second = { ...subscription, sink: `${receiver.url}/${id}-second` }
      if (when === 'running') {
        await writeSubscription(prefix, id, null)
        await control.untilRemoved(id)
        await send(topic, ['between'])
        await apply(prefix, [second])
      } else {
        await restart(async () => {
          await writeSubscription(prefix, id, null)
          await send(topic, ['between'])
          await apply(prefix, [second], {}, ['--no-wait'])
          expect(await committedOf(id, topic)).toEqual({ 0: 1 })
        })
      }
      await send(topic, ['after'])
      await arrived(`/${id}-second`, 'after')
      expect(arrivalsAt(`/${id}-second`).toSorted()).toEqual(expected)
      expect(arrivalsAt(`/${id}-first`)).toEqual(['before'])
    })
  })
})

test('a subscription that is deleted while nothing runs leaves no status and no group behind', async () => {
  const id = 'forgotten'
  const topic = await createSourceTopic(prefix, id)
  await apply(prefix, [{ id, topics: [topic], sink: `${receiver.url}/forgotten` }])
  await restart(() => writeSubscription(prefix, id, null))
  await control.untilRemoved(id)
  const groupIds = () => withAdmin(async (admin) => (await admin.listGroups()).groups.map(({ groupId }) => groupId))
  await expect.poll(groupIds, { timeout: 5_000, interval: 100 }).not.toContain(groupOf(id))
})

test('a subscription that has lost its committed offsets never jumps: Start Failed until an operator sets them and says start', async () => {
  const id = 'lost'
  const topic = await createSourceTopic(prefix, id)
  await apply(prefix, [{ id, topics: [topic], sink: `${receiver.url}/lost` }])
  await send(topic, ['one', 'two', 'three'])
  await receiver.until(() => arrivalsAt('/lost').length === 3)
  await expect.poll(() => committedOf(id, topic), { timeout: 5_000 }).toEqual({ 0: 3 })
  await restart(async () => {
    await withAdmin((admin) => admin.deleteGroups([groupOf(id)]))
    await send(topic, ['four', 'five'])
  })
  const failed = await control.untilStatus(id, ({ status }) => status === 'Start Failed')
  expect(failed.reason).toContain(`the group ${groupOf(id)} has lost its committed offset of ${topic}/0`)
  expect(failed.reason).toContain(`kafka-consumer-groups --group ${groupOf(id)}`)
  // Another start changes nothing.
  await restart(() => send(topic, ['six']))
  await barnabas.process.line(new RegExp(`"subscription":"${id}".*has lost its committed offset`))
  expect(arrivalsAt('/lost').toSorted()).toEqual(['one', 'three', 'two'])
  const start = () => barnabasCommand(prefix, ['start', id])
  const refused = await start()
  expect(refused.status).toBe(1)
  expect(refused.text).toContain(`${id}: Start Failed: the group ${groupOf(id)} has lost its committed offset`)
  await setOffset(groupOf(id), topic, 4)
  expect(await start()).toEqual({ status: 0, text: `${id} Running` })
  await receiver.until(() => arrivalsAt('/lost').length >= 5)
  expect(arrivalsAt('/lost').toSorted()).toEqual(['five', 'one', 'six', 'three', 'two'])
})
