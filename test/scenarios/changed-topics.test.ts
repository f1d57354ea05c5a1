/** A source topic that is not what it was: made anew under its name, or with records deleted before they were read. */
import { connectKafka } from '@barnabas/kafka'
import { beforeAll, expect, test } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  lagOf,
  metric,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { createTopic, plainKafka, produce, randomName, testBrokers, withAdmin } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const prefix = randomName('changed')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let control: ControlTopics

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(() => 200)
  cleanUp(() => receiver.close())
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

const groupOf = (id: string) => `${prefix}.subscription.${id}`
const arrivals = (id: string) => receiver.requests.filter(({ path }) => path === `/${id}`).map(({ eventId }) => eventId)
const untilArrived = (id: string, count: number) => receiver.until(() => arrivals(id).length >= count)
const untilCommitted = (id: string, topic: string) =>
  expect.poll(() => lagOf(groupOf(id), topic), { timeout: 10_000 }).toBe(0)
const send = (topic: string, ids: readonly string[]) =>
  produce(
    plainKafka(),
    topic,
    ids.map((id) => binaryEvent(id, { partition: 0 })),
  )
const names = (stem: string, count: number) => Array.from({ length: count }, (_, index) => `${stem} ${index}`)

async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
  await barnabas.stop()
  await meanwhile()
  barnabas = await startBarnabas(prefix)
}

/** A subscription that has delivered the first events of its topic, with a start offset that is not the beginning. */
async function readSome(id: string, count: number): Promise<string> {
  const topic = await createSourceTopic(prefix, id)
  await send(topic, names('before', 2))
  await apply(prefix, [{ id, topics: [topic], sink: `${receiver.url}/${id}`, from: 'latest' }])
  await send(topic, names('first', count))
  await untilArrived(id, count)
  await untilCommitted(id, topic)
  return topic
}

async function makeAnew(topic: string, ids: readonly string[]): Promise<void> {
  await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
  // The name is free when the broker says so, not before.
  await expect
    .poll(() =>
      createTopic(plainKafka(), topic).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await send(topic, ids)
}

test.each(['running', 'stopped'] as const)(
  'a topic that is deleted and made again while Barnabas is %s is read from its beginning, though it has grown beyond what was read',
  { timeout: 60_000 },
  async (when) => {
    const id = `anew-${when}`
    const topic = await readSome(id, 3)
    const ids = names('anew', 9)
    if (when === 'running') await makeAnew(topic, ids)
    else await restart(() => makeAnew(topic, ids))

    await receiver.until(() => ids.every((event) => arrivals(id).includes(event)))
    await untilCommitted(id, topic)
    const { reason } = await control.untilStatus(id, (status) => status.reason.includes('made again'))
    expect(reason).toBe(`reading 1 topic; ${topic} was deleted and made again, and it is read from the beginning`)
    await barnabas.process.line(new RegExp(`"topic":"${topic}".*made again`))

    // The next reader goes on where this one ended, below the start offset of the former topic or not.
    const before = arrivals(id).length
    await restart(() => send(topic, ['last']))
    await receiver.until(() => arrivals(id).includes('last'))
    expect(arrivals(id).slice(before)).toEqual(['last'])
  },
)

test(
  'what is deleted before it is read is skipped, counted, and told in the status, by describe and in the metrics',
  { timeout: 60_000 },
  async () => {
    const id = 'truncated'
    const topic = await readSome(id, 3)
    await restart(async () => {
      await send(topic, names('never', 5))
      const kafka = connectKafka({ brokers: testBrokers(), clientId: prefix, logger: silent })
      await kafka.admin.deleteRecords([{ topic, partition: 0, offset: 9 }])
      await kafka.close()
    })
    // Offsets 5 to 8 are gone; the last of what was sent is there.
    await untilArrived(id, 4)
    expect(arrivals(id).slice(3)).toEqual(['never 4'])
    const status = await control.untilStatus(id, (each) => (each as { skippedOffsets?: number }).skippedOffsets === 4)
    expect(status.status).toBe('Running')
    expect(await metric(barnabas.url, 'barnabas_skipped_offsets_total', { subscription: id })).toBe(4)
    await barnabas.process.line(/"skippedOffsets":4.*records were deleted before they were read/)
    const described = await barnabasCommand(prefix, ['describe', id])
    expect(described.status).toBe(0)
    expect(described.text).toMatch(/skipped +4 offsets were gone before they could be read/)
  },
)
