/** What a service needs and does not find when it starts: one clear message, and status 1. */
import { describe, expect, test } from 'vitest'
import { environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { plainKafka, randomName } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'

const cleanUp = cleanUpAfterAll()
const services = ['dispatcher', 'retrier', 'dead-letter', 'standalone']
const mainOf = (service: string) => `services/${service}/main.ts`

/** What a person sees last: not the log's JSON. */
const sentences = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('{'))

describe('no Kafka answers', () => {
  test.concurrent.each(['dispatcher', 'retrier', 'dead-letter'])(
    '%s ends with status 1 and one sentence, within a bounded time',
    async (service) => {
      const env = { KAFKA_BROKERS: '127.0.0.1:1', BARNABAS_HTTP_PORT: '0', BARNABAS_DEMO: 'false' }
      const startedAt = Date.now()
      const { exited, lines } = runProcess(mainOf(service), env)
      expect(await exited).toBe(1)
      expect(Date.now() - startedAt).toBeLessThan(40_000)
      expect(sentences(lines)).toHaveLength(1)
      expect(sentences(lines)[0]).toMatch(/^no Kafka answers at 127\.0\.0\.1:1: /)
      expect(lines.at(-1)).toBe(sentences(lines)[0])
    },
  )
})

test('without KAFKA_BROKERS a single service says what to do, with status 1', async () => {
  const { exited, lines } = runProcess(mainOf('dispatcher'), {})
  expect(await exited).toBe(1)
  expect(sentences(lines)).toEqual([
    'no broker: set KAFKA_BROKERS=host:port for the dispatcher, or run `pnpm start`, which brings its own',
  ])
})

describe('own topics that are not as they must be', () => {
  const prefix = randomName('own-topics')
  const tier = `${prefix}.retry.1m`
  /** The settings of a topic are replaced as a whole. */
  const alter = async (topic: string, settings: Record<string, string>) => {
    const admin = plainKafka().admin()
    await admin.connect()
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }))
    const resources = [{ type: 2, name: topic, configEntries }]
    await admin.alterConfigs({ validateOnly: false, resources })
    await admin.disconnect()
  }

  test.each(services)('%s refuses to start and prints the commands that mend them', async (service) => {
    if (service === services[0]) {
      const barnabas = await startBarnabas(prefix)
      cleanUp(() => removeEverything(prefix))
      await barnabas.stop()
      await alter(tier, {
        'message.timestamp.type': 'LogAppendTime',
        'retention.ms': '604800000',
        'segment.bytes': '67108864',
        'segment.ms': '3600000',
        'max.message.bytes': '16777216',
      })
      await alter(`${prefix}.subscriptions`, { 'cleanup.policy': 'delete' })
      // The operator's to change.
      await alter(`${prefix}.dead-letter`, { 'retention.ms': '60000', 'max.message.bytes': '16777216' })
    }
    const { exited, lines } = runProcess(mainOf(service), {
      ...environment(prefix),
      BARNABAS_DEMO: 'false',
      BARNABAS_HTTP_PORT: '0',
    })
    expect(await exited).toBe(1)
    const said = sentences(lines)
    const command = (topic: string, setting: string) =>
      `kafka-configs --bootstrap-server ${environment(prefix).KAFKA_BROKERS} --alter --entity-type topics ` +
      `--entity-name ${topic} --add-config ${setting}`
    expect(said).toEqual([
      'topics are not as Barnabas needs them:',
      `${prefix}.subscriptions: cleanup.policy is delete, not compact`,
      `${tier}: retention.ms is 604800000, not -1`,
      'Run this, then start again:',
      command(`${prefix}.subscriptions`, 'cleanup.policy=compact'),
      command(tier, 'retention.ms=-1'),
    ])
  })
})
