/** Rows B6, B7: dead letters are carried to a real RocketMQ that comes late, is killed, and comes again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import { messageBytesMax, startRocketMq } from '../support/rocketmq.ts'
import type { RocketMq } from '../support/rocketmq.ts'
import { canRunOwnBroker } from '../support/start.ts'

const prefix = randomName('rocketmq')
const target = 'rocketmq://queues/letters'
const letter = (name: string) => `barnabas_dead_letters_${name}_total`

describe.skipIf(!(await canRunOwnBroker()))('a RocketMQ', () => {
  const cleanUp = cleanUpAfterAll()
  let rocketMq: RocketMq
  let barnabas: Barnabas
  let source: string
  const write = (...events: Parameters<typeof binaryEvent>[]) =>
    produce(
      plainKafka(),
      source,
      events.map((event) => binaryEvent(...event)),
    )
  const count = (name: string) => metric(barnabas.url, name, { target })
  const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 100_000, interval: 200 })

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'barnabas-targets-'))
    cleanUp(() => rm(folder, { recursive: true, force: true }))
    cleanUp(() => removeEverything(prefix))
    rocketMq = await startRocketMq()
    cleanUp(() => rocketMq.remove())
    const file = join(folder, 'targets.yaml')
    await writeFile(file, `queues: { rocketmq: { endpoints: ["${rocketMq.endpoint}"] } }`)
    const receiver = await startReceiver(() => 400)
    cleanUp(() => receiver.close())
    barnabas = await startBarnabas(prefix, { BARNABAS_TARGETS_FILE: file })
    cleanUp(() => barnabas.stop())
    source = await createSourceTopic(prefix, 'orders')
    await apply(prefix, [
      { id: 'orders', topics: [source], from: 'earliest', sink: receiver.url, deadLetter: { target } },
    ])
  })

  test('B7: a topic that is missing is waited for, and what RocketMQ never takes stops nobody', async () => {
    await write(['first'], ['large', { data: JSON.stringify('x'.repeat(messageBytesMax)) }], ['last'])
    await barnabas.process.line(/cannot carry dead letters to rocketmq:\/\/queues\/letters.*40402/)
    await rocketMq.createTopic('letters')

    await until(async () => {
      expect(await count(letter('carried'))).toBe(2)
      expect(await count(letter('refused'))).toBe(1)
      expect(await count('barnabas_dead_letter_target_lag')).toBe(0)
    })
    const messages = await rocketMq.messages('letters')
    expect(messages.map(({ event }) => String(event['id'])).toSorted()).toEqual(['first', 'last'])
    const first = messages.find(({ event }) => event['id'] === 'first')
    expect(first?.event).toMatchObject({
      specversion: '1.0',
      deadletterreason: 'UndeliverableDueToHttpBadRequest',
      deliveryattempts: 1,
      lasthttpstatuscode: 400,
      barnabassubscription: 'orders',
    })
    expect(first?.told).toMatch(new RegExp(`KEYS=${prefix}\\.dead-letter/\\d/\\d[,}]`))
    expect(first?.told).toContain('content-type=application/cloudevents+json')
    expect(first?.told).toContain('barnabas-subscription=orders')
    expect(first?.told).toContain('barnabas-dead-letter-reason=UndeliverableDueToHttpBadRequest')
    expect(first?.told).toContain('barnabas-attempts=1')
    await barnabas.process.line(/rocketmq:.* refuses the dead letter .* of orders for good: .*exceed/)
  }, 120_000)

  test('B7: killed in the middle, it gets everything when it is back', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `after-${index}`)
    await rocketMq.kill()
    await write(...ids.map((id): Parameters<typeof binaryEvent> => [id]))
    await until(async () => expect(await count('barnabas_dead_letter_target_lag')).toBe(300))

    await rocketMq.start()
    await until(async () => expect(await count('barnabas_dead_letter_target_lag')).toBe(0))
    const messages = await rocketMq.messages('letters')
    const arrived = new Set(messages.map(({ event }) => event['id']))
    expect(ids.filter((id) => !arrived.has(id))).toEqual([])
  }, 120_000)
})
