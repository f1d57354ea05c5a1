/** One process takes up as many subscriptions as there are, each with a consumer group of its own: row A1; design, promise 8. */
import { expect, test } from 'vitest'
import { createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const cleanUp = cleanUpAfterAll()
const idsOf = (count: number) => Array.from({ length: count }, (_each, index) => `many-${index}`)
const life = { generation: 1_700_000_000_000, revision: 1, startOffsets: {} }

const isRunning = ({ status }: { readonly status: string }) => status === 'Running'

test('200 subscriptions that are there at start all run, and each gets the event', { timeout: 120_000 }, async () => {
  const [prefix, ids] = [randomName('many'), idsOf(200)]
  cleanUp(() => removeEverything(prefix))
  const receiver = await startReceiver(() => 200)
  cleanUp(() => receiver.close())
  const first = await startBarnabas(prefix)
  await first.stop()
  const topic = await createSourceTopic(prefix, 'many')
  const subscriptions = ids.map((id) => ({
    key: id,
    value: JSON.stringify({ id, topics: [topic], sink: `${receiver.url}/${id}`, ...life }),
  }))
  await produce(plainKafka(), `${prefix}.subscriptions`, subscriptions)

  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  const control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  for (const id of ids) await control.untilStatus(id, isRunning)
  await produce(plainKafka(), topic, [binaryEvent('to all')])
  await receiver.until((all) => all.length >= ids.length)
  const arrived = receiver.requests.map(
    ({ path, headers }) => `${path} for ${String(headers['barnabas-subscription'])}`,
  )
  expect(arrived.toSorted()).toEqual(ids.map((id) => `/${id} for ${id}`).toSorted())
})

test(
  'a thousand that are created at once all run and get the event; deleted at once, they leave nothing',
  { timeout: 240_000 },
  async () => {
    const [prefix, ids] = [randomName('thousand'), idsOf(1_000)]
    cleanUp(() => removeEverything(prefix))
    const receiver = await startReceiver(() => 200)
    cleanUp(() => receiver.close())
    const barnabas = await startBarnabas(prefix)
    cleanUp(() => barnabas.stop())
    const topic = await createSourceTopic(prefix, 'thousand')
    const control = await followControlTopics(prefix)
    cleanUp(() => control.stop())
    const write = (valueOf: (id: string) => object | null) =>
      produce(
        plainKafka(),
        `${prefix}.subscriptions`,
        ids.map((key) => ({ key, value: valueOf(key) && JSON.stringify(valueOf(key)) })),
      )

    await write((id) => ({ id, topics: [topic], sink: `${receiver.url}/${id}`, ...life }))
    for (const id of ids) await control.untilStatus(id, isRunning)
    await produce(plainKafka(), topic, [binaryEvent('to all')])
    await receiver.until((all) => all.length >= ids.length)
    expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(ids.length)

    await write(() => null)
    for (const id of ids) await control.untilRemoved(id)
    const admin = plainKafka().admin()
    await admin.connect()
    cleanUp(() => admin.disconnect())
    const groups = async () =>
      (await admin.listGroups()).groups.filter(({ groupId }) => groupId.startsWith(`${prefix}.subscription.`))
    await expect.poll(groups, { timeout: 30_000 }).toEqual([])
    expect(receiver.requests).toHaveLength(ids.length)
  },
)
