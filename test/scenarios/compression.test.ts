/** Records compressed by the broker itself, with every codec that it knows (row D3), and a codec that the service lacks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { followControlTopics, writeSubscription } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const codecs = ['gzip', 'snappy', 'lz4', 'zstd']
const prefix = randomName('compression')
let barnabas: Barnabas
let receiver: Receiver
let control: ControlTopics
const topicOf = (codec: string) => `${prefix}.${codec}`
const subscription = (codec: string) => ({
  id: codec,
  topics: [topicOf(codec)],
  sink: `${receiver.url}/${codec}`,
  generation: 1_700_000_000_000,
  revision: 1,
  startOffsets: {},
})
/** Longer than one block of any codec's framing, and worth compressing. */
const long = JSON.stringify({ text: 'a sentence that comes again and again, and '.repeat(5_000) })

beforeAll(async () => {
  receiver = await startReceiver(() => 200)
  barnabas = await startBarnabas(prefix)
  control = await followControlTopics(prefix)
  const admin = plainKafka().admin()
  await admin.connect()
  // The broker compresses what it stores, so what is read was written by Kafka's own libraries.
  await admin.createTopics({
    waitForLeaders: true,
    topics: codecs.map((codec) => ({
      topic: topicOf(codec),
      numPartitions: 2,
      configEntries: [{ name: 'compression.type', value: codec }],
    })),
  })
  await admin.disconnect()
})

afterAll(async () => {
  await control.stop()
  await barnabas.stop()
  await receiver.close()
  await removeEverything(prefix)
})

describe('records that are compressed', () => {
  test.each(codecs)('with %s are delivered', async (codec) => {
    const events = [
      binaryEvent(`${codec} short`, { partition: 1 }),
      binaryEvent(`${codec} long`, { data: long, partition: 1 }),
      binaryEvent(`${codec} empty`, { data: null, partition: 1 }),
    ]
    await produce(plainKafka(), topicOf(codec), events)
    await writeSubscription(prefix, codec, subscription(codec))
    await receiver.until((all) => all.filter(({ path }) => path === `/${codec}`).length >= 3)
    expect(receiver.of(`${codec} short`).map(({ body }) => body.toString())).toEqual(['{"number":1}'])
    expect(receiver.of(`${codec} long`).map(({ body }) => body.toString() === long)).toEqual([true])
    expect(receiver.of(`${codec} empty`).map(({ body }) => body.length)).toEqual([0])
  })

  test('with a codec that the service does not know: Start Failed names codec and partition, and a restart goes on', async () => {
    await barnabas.stop()
    const dispatcher = runProcess('test/support/dispatcher-without-zstd.ts', environment(prefix))
    await dispatcher.line(/dispatcher is ready/)
    for (const codec of ['lz4', 'zstd']) {
      await produce(plainKafka(), topicOf(codec), [binaryEvent(`${codec} later`, { partition: 1 })])
    }
    const failed = await control.untilStatus('zstd', ({ status }) => status === 'Start Failed')
    expect(failed.reason).toContain(`partition 1 of topic ${topicOf('zstd')}`)
    expect(failed.reason).toContain('zstd')
    await receiver.until(() => receiver.of('lz4 later').length > 0)
    expect(receiver.of('zstd later')).toEqual([])
    await dispatcher.kill('SIGTERM')

    barnabas = await startBarnabas(prefix)
    await receiver.until(() => receiver.of('zstd later').length > 0)
    await control.untilStatus('zstd', ({ status, time }) => status === 'Running' && time >= failed.time)
    // What was delivered before the restart was committed.
    expect(receiver.of('zstd long')).toHaveLength(1)
  })
})
