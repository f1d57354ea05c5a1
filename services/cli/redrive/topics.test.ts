import { names } from '@barnabas/core'
import { expect, test } from 'vitest'
import { redriveTopics } from './topics.ts'

const day = 86_400_000
const own = names('barnabas')
const tier = own.retryTopic('now')

type Config = Readonly<Record<string, string>>

function topics(configs: Readonly<Record<string, Config>>, existing = [tier, own.redrives]) {
  const admin = {
    describeTopics: () => Promise.resolve(existing.map((topic) => ({ topic, partitions: 3, replication: 1 }))),
    topicConfig: () => Promise.resolve(new Map(Object.entries(configs))),
  }
  const letters = Object.keys(configs).filter((name) => name !== tier && name !== own.redrives)
  return redriveTopics({ kafka: { admin }, names: own, brokers: 'kafka:9092' }, letters)
}

const kept = (ms: number, policy = 'delete'): Config => ({ 'retention.ms': String(ms), 'cleanup.policy': policy })

test.each([
  ['a day longer than the dead letters', 15 * day, [kept(14 * day)]],
  ['for ever, and dead letters too', -1, [kept(-1)]],
  ['for ever', -1, [kept(14 * day), kept(30 * day)]],
])('B8: marks that are kept %s will do', async (_, marksMs, letters) => {
  const found = await topics({
    [own.redrives]: kept(marksMs, 'compact,delete'),
    [tier]: { 'max.message.bytes': '1000' },
    ...Object.fromEntries(letters.map((config, index) => [`letters-${index}`, config])),
  })
  const marksKeptMs = marksMs === -1 ? Infinity : marksMs
  expect(found).toEqual({ tier: { topic: tier, partitions: 3 }, recordBytesMax: 1_000, marksKeptMs })
})

test.each([
  ['a millisecond less than a day longer', 15 * day - 1, kept(14 * day), 15 * day],
  ['as long', 14 * day, kept(14 * day), 15 * day],
  ['shorter than for ever', 15 * day, kept(-1), -1],
  ['shorter than what is compacted and never deleted', 15 * day, kept(1_000, 'compact'), -1],
])(
  'B8: with marks that are kept %s nothing is sent, for it could be sent twice',
  async (_, marksMs, letters, wanted) => {
    const refused = topics({
      [own.redrives]: kept(marksMs, 'compact,delete'),
      [tier]: {},
      fine: kept(day),
      letters,
    })
    await expect(refused).rejects.toThrow(
      `dead letters in letters are kept longer than the marks of what was sent again, which would then be sent twice; run\n` +
        `kafka-configs --bootstrap-server kafka:9092 --alter --entity-type topics --entity-name barnabas.redrives --add-config retention.ms=${wanted}`,
    )
  },
)

test('without the topics for marks and for what is due now nothing is sent', async () => {
  await expect(topics({}, [])).rejects.toThrow('barnabas.retry.now and barnabas.redrives does not exist')
})
