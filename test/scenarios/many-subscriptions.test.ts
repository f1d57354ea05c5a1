/** One process takes up as many subscriptions as there are, each with a consumer group of its own: row A1; design, promise 8. */
import { expect, test } from 'vitest'
import { createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const prefix = randomName('many')
const cleanUp = cleanUpAfterAll()
const ids = Array.from({ length: 200 }, (_each, index) => `many-${index}`)

test('200 subscriptions that are there at start all run, and each gets the event', { timeout: 120_000 }, async () => {
  cleanUp(() => removeEverything(prefix))
  const receiver = await startReceiver(() => 200)
  cleanUp(() => receiver.close())
  const first = await startBarnabas(prefix)
  await first.stop()
  const topic = await createSourceTopic(prefix, 'many')
  const life = { generation: 1_700_000_000_000, revision: 1, startOffsets: {} }
  const subscriptions = ids.map((id) => ({
    key: id,
    value: JSON.stringify({ id, topics: [topic], sink: `${receiver.url}/${id}`, ...life }),
  }))
  await produce(plainKafka(), `${prefix}.subscriptions`, subscriptions)

  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  const control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  for (const id of ids) await control.untilStatus(id, ({ status }) => status === 'Running')
  await produce(plainKafka(), topic, [binaryEvent('to all')])
  await receiver.until((all) => all.length >= ids.length)
  const arrived = receiver.requests.map(
    ({ path, headers }) => `${path} for ${String(headers['barnabas-subscription'])}`,
  )
  expect(arrived.toSorted()).toEqual(ids.map((id) => `/${id} for ${id}`).toSorted())
})
