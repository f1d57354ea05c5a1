/** A topic of our own that is deleted while everything runs is made again: nothing is lost that comes after (design, promise 7). */
import { expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const prefix = randomName('missing')
const cleanUp = cleanUpAfterAll()

test('the default dead-letter topic, deleted while a dead letter is to be written', async () => {
  cleanUp(() => removeEverything(prefix))
  const receiver = await startReceiver(() => 400)
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  const source = await createSourceTopic(prefix, 'refused')
  await apply(prefix, [{ id: 'refused', topics: [source], sink: receiver.url }])
  const admin = plainKafka().admin()
  await admin.connect()
  cleanUp(() => admin.disconnect())
  const letters = `${prefix}.dead-letter`
  await admin.deleteTopics({ topics: [letters] })
  await vi.waitUntil(async () => !(await admin.listTopics()).includes(letters), 5_000)

  await produce(plainKafka(), source, [binaryEvent('refused')])
  await vi.waitUntil(async () => (await admin.listTopics()).includes(letters), 20_000)
  const [letter] = await readTopic(plainKafka(), letters, (all) => all.length > 0)
  expect(header(letter!, 'ce_id')).toBe('refused')
  expect(header(letter!, 'barnabas-attempts')).toBe('1')
  await expect.poll(() => lagOf(`${prefix}.subscription.refused`, source), { timeout: 5_000 }).toBe(0)
  expect(receiver.requests).toHaveLength(1)
  // Made as at the first start.
  const { resources } = await admin.describeConfigs({ resources: [{ type: 2, name: letters }], includeSynonyms: false })
  const config = Object.fromEntries(resources[0]!.configEntries.map((each) => [each.configName, each.configValue]))
  expect(config).toMatchObject({ 'retention.ms': '1209600000', 'max.message.bytes': '16777216' })
})

test(
  'a tier that is deleted and made again is read from its beginning, though it has grown beyond what was read of it',
  { timeout: 60_000 },
  async () => {
    const tierPrefix = randomName('missing-tier')
    cleanUp(() => removeEverything(tierPrefix))
    const receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 500 : 200))
    cleanUp(() => receiver.close())
    const barnabas = await startBarnabas(tierPrefix)
    cleanUp(() => barnabas.stop())
    const source = await createSourceTopic(tierPrefix, 'retried')
    const retry = { schedule: ['200ms'] }
    await apply(tierPrefix, [{ id: 'retried', topics: [source], sink: receiver.url, concurrency: 500, retry }])
    const admin = plainKafka().admin()
    await admin.connect()
    cleanUp(() => admin.disconnect())
    const tier = `${tierPrefix}.retry.now`
    const ids = (stem: string, count: number) => Array.from({ length: count }, (_, index) => `${stem} ${index}`)
    const send = (events: readonly string[]) =>
      produce(
        plainKafka(),
        source,
        events.map((id) => binaryEvent(id)),
      )
    const areRetried = (events: readonly string[]) => events.every((id) => receiver.of(id).length > 1)
    const before = ids('before', 40)
    await send(before)
    await receiver.until(() => areRetried(before))

    await admin.deleteTopics({ topics: [tier] })
    // What is written to it until it is gone is gone with it.
    await vi.waitUntil(async () => !(await admin.listTopics()).includes(tier), 5_000)
    const after = ids('after', 400)
    await send(after)
    await receiver.until(() => areRetried(after))
    await expect.poll(() => lagOf(`${tierPrefix}.retrier`, tier), { timeout: 10_000 }).toBe(0)
  },
)
