/** A source topic that grows while it is read: partitions that are added later are read from their beginning. */
import { expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { growTopic, plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const prefix = randomName('growing')
const cleanUp = cleanUpAfterAll()

// The client looks for new partitions every 30 s.
test('what was written to a new partition before anybody knew of it arrives, once', { timeout: 90_000 }, async () => {
  cleanUp(() => removeEverything(prefix))
  const receiver = await startReceiver(() => 200)
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  const topic = await createSourceTopic(prefix, 'growing')
  const send = (ids: readonly string[], partition: number) =>
    produce(
      plainKafka(),
      topic,
      ids.map((id) => binaryEvent(id, { partition })),
    )

  await send(['old'], 0)
  await apply(prefix, [{ id: 'growing', topics: [topic], sink: `${receiver.url}/growing`, from: 'latest' }])
  await growTopic(topic, 3)
  await send(['one', 'two'], 1)
  await send(['three'], 2)
  await send(['four'], 0)
  await receiver.until((all) => all.length >= 4)
  await expect.poll(() => lagOf(`${prefix}.subscription.growing`, topic), { timeout: 5_000 }).toBe(0)
  expect(receiver.requests.map(({ eventId }) => eventId).toSorted()).toEqual(['four', 'one', 'three', 'two'])
})
