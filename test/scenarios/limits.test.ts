/** What one subscription may have in hand: design, promises 8 and 11; the table of docs/subscriptions.md. */
import { expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer } from '../support/receiver.ts'

const prefix = randomName('limits')
const cleanUp = cleanUpAfterAll()

test(
  'large events fill the bytes that may be in flight before they fill concurrency, and stop nobody else',
  {
    timeout: 60_000,
  },
  async () => {
    cleanUp(() => removeEverything(prefix))
    let answer: Answer = 'hang'
    const receiver = await startReceiver(({ path }) => (path === '/large' ? answer : 200))
    cleanUp(() => receiver.close())
    const barnabas = await startBarnabas(prefix)
    cleanUp(() => barnabas.stop())
    const [large, small] = [await createSourceTopic(prefix, 'large', 2), await createSourceTopic(prefix, 'small')]
    await apply(prefix, [
      { id: 'large', topics: [large], sink: `${receiver.url}/large`, retry: { schedule: ['1s'] } },
      { id: 'small', topics: [small], sink: `${receiver.url}/small` },
    ])
    const at = (path: string) => receiver.requests.filter((request) => request.path === path)

    const data = Buffer.alloc(900_000, 'x')
    const mostInFlight = Math.floor((16 * 1024 * 1024) / data.length)
    for (let index = 0; index < 40; index += 1) {
      await produce(plainKafka(), large, [binaryEvent(`large ${index}`, { data, partition: index % 2 })])
    }
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
