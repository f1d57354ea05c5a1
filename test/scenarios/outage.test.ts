/** A receiver in Event Grid's notation that is down for ten minutes and comes back: rows A6, A8, A12. Five hundred times as fast. */
import { expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { SeenStatus } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const cleanUp = cleanUpAfterAll()
const id = 'orders-to-billing'
const patiently = { timeout: 60_000 }
const isResting = (status: SeenStatus) => (status as { readonly probation?: unknown }).probation != null

test(
  'everything is delivered once it is back, and nothing has become a dead letter',
  { timeout: 120_000 },
  async () => {
    const prefix = randomName('outage')
    const env = { BARNABAS_TIME_SCALE: '0.002' }
    cleanUp(() => removeEverything(prefix))
    let isDown = true
    const receiver = await startReceiver(() => (isDown ? 'reset' : 200))
    cleanUp(() => receiver.close())
    const topic = await createSourceTopic(prefix, 'outage', 2)
    const barnabas = await startBarnabas(prefix, env)
    cleanUp(() => barnabas.stop())
    const control = await followControlTopics(prefix)
    cleanUp(() => control.stop())
    const tier = await followTopics(plainKafka(), [`${prefix}.retry.10m`])
    cleanUp(() => tier.stop())
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: receiver.url } }
    const properties = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
    // Scaled: 60 ms, the usual time, is little for an answer on a busy machine.
    const ours = { handshake: 'none', deadLetter: {}, probation: { after: 10 }, timeout: '10m' }
    await apply(prefix, [{ id, topics: [topic], ...ours, properties }], env)

    const ids = Array.from({ length: 60 }, (_, index) => String(index))
    const send = (some: readonly string[]) =>
      produce(
        plainKafka(),
        topic,
        some.map((each) => binaryEvent(each)),
      )
    await send(ids.slice(0, 30))
    await control.untilStatus(id, isResting)
    await send(ids.slice(30))
    // The schedule has come to its step of ten minutes, so it is down for so long.
    await tier.until((records) => records.some((record) => header(record, 'barnabas-subscription') === id))
    const failed = receiver.requests.length
    isDown = false

    const delivered = () => new Set(receiver.requests.slice(failed).map(({ eventId }) => eventId))
    await expect.poll(() => delivered().size, patiently).toBe(ids.length)
    await expect.poll(() => lagOf(`${prefix}.subscription.${id}`, topic), patiently).toBe(0)
    await expect.poll(() => lagOf(`${prefix}.retrier`, `${prefix}.retry.10m`), patiently).toBe(0)
    expect(delivered()).toEqual(new Set(ids))
    expect(await readTopic(plainKafka(), `${prefix}.dead-letter`)).toEqual([])
  },
)
