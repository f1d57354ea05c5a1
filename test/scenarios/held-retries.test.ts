/**
 * A due retry that may not be attempted now leaves the tier, which all subscriptions share, for a topic of its own
 * subscription (design, promise 8; "Tiers"). What hangs here hangs until it is told to go on: nothing depends on time.
 */
import { expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const prefix = randomName('held')
const cleanUp = cleanUpAfterAll()
/** More than the retrier keeps in memory. */
const eventCount = 6_000
const otherCount = 100
const numbered = (count: number) => Array.from({ length: count }, (_, index) => index)

test(
  'retries that find their receiver hanging make no others late, and are attempted when it answers again',
  {
    timeout: 120_000,
  },
  async () => {
    cleanUp(() => removeEverything(prefix))
    let hangs = true
    const slow = await startReceiver(() => (hangs ? 'hang' : 200))
    cleanUp(() => slow.close())
    const fast = await startReceiver(() => 200)
    cleanUp(() => fast.close())
    const barnabas = await startBarnabas(prefix)
    cleanUp(() => barnabas.stop())
    const topic = await createSourceTopic(prefix, 'held')
    const retry = { schedule: ['1s', '1s', '1s', '1s', '1s'] }
    await apply(prefix, [
      { id: 'slow', topics: [topic], sink: slow.url, timeout: '10m', concurrency: 8, retry },
      { id: 'fast', topics: [topic], sink: fast.url, retry },
    ])
    const control = await followControlTopics(prefix)
    cleanUp(() => control.stop())
    const due = async (subscription: string, count: number) => {
      const { generation } = await control.stored(subscription)
      const of = (offset: number) => ({ subscription, generation: String(generation), topic, offset })
      const records = numbered(count).map((offset) => retryRecord(`${subscription}-${offset}`, of(offset)))
      await produce(
        plainKafka(),
        `${prefix}.retry.now`,
        records.map((record, index) => ({ ...record, partition: index % 2 })),
      )
    }

    await due('slow', eventCount)
    await slow.until((requests) => requests.length === 8)
    await due('fast', otherCount)
    await fast.until((requests) => requests.length === otherCount)
    expect(slow.requests).toHaveLength(8)
    // But for those that hang or wait for their place in memory, all are held, and wait for the subscription alone.
    await expect.poll(() => lagOf(`${prefix}.held.slow`, `${prefix}.held.slow`)).toBeGreaterThan(eventCount - 600)

    hangs = false
    slow.cutOff()
    const answered = (await slow.until((requests) => requests.length === eventCount + 8)).slice(8)
    expect(new Set(answered.map(({ eventId }) => eventId)).size).toBe(eventCount)
    // Only what was cut off is at its fifth attempt: to be held counts for nothing.
    expect(answered.filter(({ attempt }) => attempt !== 4)).toHaveLength(8)
    await expect.poll(() => lagOf(`${prefix}.held.slow`, `${prefix}.held.slow`)).toBe(0)
    expect(await readTopic(plainKafka(), `${prefix}.dead-letter`)).toEqual([])
  },
)
