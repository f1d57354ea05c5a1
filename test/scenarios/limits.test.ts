/** What one subscription, and one process, may have in hand: design, promises 8 and 11; the tables of docs/subscriptions.md. */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, Receiver } from '../support/receiver.ts'

const prefix = randomName('limits')
const cleanUp = cleanUpAfterAll()
const retry = { schedule: ['1s', '1s', '1s'] }
const data = Buffer.alloc(900_000, 'x')
/** Of 16 MiB. */
const mostInFlight = 18
let receiver: Receiver
let answer: Answer = 'hang'

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ path }) => (path.startsWith('/large') ? answer : 200))
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
})

const at = (path: string) => receiver.requests.filter((request) => request.path === path)
async function produceLarge(topic: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await produce(plainKafka(), topic, [binaryEvent(`large ${index}`, { data, partition: index % 2 })])
  }
}

test(
  'large events fill the bytes that may be in flight before they fill concurrency, and stop nobody else',
  {
    timeout: 60_000,
  },
  async () => {
    const [large, small] = [await createSourceTopic(prefix, 'large', 2), await createSourceTopic(prefix, 'small')]
    await apply(prefix, [
      { id: 'large', topics: [large], sink: `${receiver.url}/large`, retry },
      { id: 'small', topics: [small], sink: `${receiver.url}/small` },
    ])
    await produceLarge(large, 40)
    await receiver.until(() => at('/large').length >= mostInFlight)
    await produce(
      plainKafka(),
      small,
      Array.from({ length: 100 }, (_, index) => binaryEvent(`small ${index}`)),
    )
    await receiver.until(() => at('/small').length === 100)
    expect(at('/large')).toHaveLength(mostInFlight)

    answer = 200
    receiver.cutOff()
    await receiver.until(() => at('/large').length === 40 + mostInFlight)
    await expect.poll(() => lagOf(`${prefix}.subscription.large`, large)).toBe(0)
  },
)

test(
  'subscriptions that fill all that a process may have read leave the others their share',
  {
    timeout: 120_000,
  },
  async () => {
    const [large, small] = [await createSourceTopic(prefix, 'full', 2), await createSourceTopic(prefix, 'share', 4)]
    const paths = ['/large-1', '/large-2', '/large-3', '/large-4', '/large-5']
    await apply(prefix, [
      ...paths.map((path) => ({
        id: path.slice(1),
        topics: [large],
        sink: receiver.url + path,
        timeout: '10m',
        retry,
      })),
      { id: 'share', topics: [small], sink: `${receiver.url}/share` },
    ])
    answer = 'hang'
    await produceLarge(large, 40)
    // 64 MiB are 74 of them, in flight or waiting: fewer than the five may have in flight each for itself.
    const inFlight = () => paths.reduce((sum, path) => sum + at(path).length, 0)
    await receiver.until(() => inFlight() >= 50)
    await produce(
      plainKafka(),
      small,
      Array.from({ length: 2_000 }, (_, index) => binaryEvent(`share ${index}`, { partition: index % 4 })),
    )
    await receiver.until(() => at('/share').length === 2_000)
    expect(inFlight()).toBeLessThan(5 * mostInFlight)

    answer = 200
    receiver.cutOff()
    for (const path of paths) await receiver.until(() => new Set(at(path).map(({ eventId }) => eventId)).size === 40)
    const lags = () => Promise.all(paths.map((path) => lagOf(`${prefix}.subscription.${path.slice(1)}`, large)))
    await expect.poll(lags, { timeout: 20_000 }).toEqual([0, 0, 0, 0, 0])
  },
)
