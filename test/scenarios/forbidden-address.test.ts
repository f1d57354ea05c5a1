/**
 * Issue 5, point 12: whoever may not go to an address tries again, and ends the subscription after ten attempts in a row.
 * That a name which resolves to one is such an address too is tested beside the connector. Times are a tenth.
 */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'

const prefix = randomName('forbidden')
const cleanUp = cleanUpAfterAll()
let control: ControlTopics

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix, { BARNABAS_TIME_SCALE: '0.1' })
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

/** Whoever applies it may go there, the services may not. */
const applied = (subscription: Parameters<typeof apply>[1][number]) =>
  apply(prefix, [subscription], { BARNABAS_ALLOWED_NETWORKS: '10.0.0.0/8' }, ['--no-wait'])
const problem = '10.1.2.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10.0.0.0/8'
const retry = { schedule: ['1s', 'repeat'], maxAttempts: 1_000 }

test('retries of one event: ten in a row, Start Failed, and start takes it up again', async () => {
  const topic = await createSourceTopic(prefix, 'retries')
  await produce(plainKafka(), topic, [binaryEvent('one')])
  await applied({ id: 'retries', topics: [topic], sink: 'http://10.1.2.3/', from: 'earliest', retry })
  const failed = await control.untilStatus('retries', ({ status }) => status === 'Start Failed')
  expect(failed.reason).toBe(
    `sink: ${problem}; so 10 attempts in a row have failed. Mend it, then say \`barnabas start retries\``,
  )
  const { exited } = runProcess('services/cli/bin/barnabas', environment(prefix), ['start', 'retries'])
  await control.untilStatus('retries', ({ status, time }) => status === 'Running' && time > failed.time)
  expect(await exited).toBe(0)
  // What was held is attempted again, and so it ends again.
  await control.untilStatus('retries', ({ status, time }) => status === 'Start Failed' && time > failed.time)
})

test("first attempts, in Event Grid's notation: endpointUrl", async () => {
  const topic = await createSourceTopic(prefix, 'firsts')
  const events = Array.from({ length: 10 }, (_, index) => binaryEvent(String(index)))
  await produce(plainKafka(), topic, events)
  const properties = { endpointUrl: 'http://10.1.2.3/' }
  await applied({
    id: 'firsts',
    topics: [topic],
    from: 'earliest',
    handshake: 'none',
    properties: {
      destination: { endpointType: 'WebHook', properties },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    },
  })
  const { reason } = await control.untilStatus('firsts', ({ status }) => status === 'Start Failed')
  expect(reason.startsWith(`endpointUrl: ${problem}; `)).toBe(true)
})
