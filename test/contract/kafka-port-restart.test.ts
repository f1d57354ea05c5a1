/** What the port promises while its broker goes away and comes back: on a broker of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastStartJvmFlags, findKafkaWay, startLocalKafka } from '@barnabas/local-kafka'
import type { LocalKafka } from '@barnabas/local-kafka'
import type { KafkaRecord } from '@barnabas/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { randomName } from '../support/kafka.ts'
import { Arrivals, connectPort, lastOf, names, startMember, untilRecords } from './port-under-test.ts'

const { KAFKA_BROKERS: _, BARNABAS_TEST_KAFKA: __, ...env } = process.env
const hasJdk = await findKafkaWay({ env }).then(
  ({ kind }) => kind === 'jdk',
  () => false,
)
if (!hasJdk)
  console.warn('kafka-port-restart.test.ts is skipped: it runs a broker itself, which takes a JDK 17 and Maven')

const value = Buffer.from('x')

describe.skipIf(!hasJdk)('while the broker restarts', () => {
  test('nothing ends, nothing is lost, and what waited is written', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'barnabas-contract-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    let kafka = await start(dataDir, 0)
    onTestFinished(() => kafka.stop())

    const port = connectPort({ brokers: [kafka.brokers], sessionTimeoutMs: 6_000 })
    const [topic, groupId] = [randomName('contract'), randomName('contract')]
    await port.admin.createTopics([{ topic, partitions: 2, replication: 1, config: {} }])
    const producer = port.producer()
    const produce = (partition: number) => producer.produce({ topic, partition, key: null, value, headers: {} })
    const member = await startMember(port, { topics: [topic], groupId })
    const read = new Arrivals<KafkaRecord>()
    const troubles: (string | null)[] = []
    const reader = port.logReader({
      topic,
      from: 'beginning',
      onRecord: (record) => read.add(record),
      onTrouble: (trouble) => troubles.push(trouble),
    })
    await reader.start()
    expect([await produce(0), await produce(1)]).toMatchObject([{ kind: 'acknowledged' }, { kind: 'acknowledged' }])
    await member.records.until((all) => all.length === 2)
    member.consumer.pause([{ topic, partition: 1 }])

    await kafka.stop()
    const waiting = [produce(0), produce(1)]
    const caughtUp = reader.caughtUp()
    const committed = member.consumer.commit([{ topic, partition: 0, offset: 1, metadata: 'm' }])
    kafka = await start(dataDir, kafka.port)

    expect(await Promise.all(waiting)).toMatchObject([{ kind: 'acknowledged' }, { kind: 'acknowledged' }])
    await caughtUp
    await read.until((all) => all.length >= 4)
    await untilRecords(
      member,
      (all) => all.filter(({ partition, offset }) => partition === 0 && offset === 1).length === 1,
    )
    expect(troubles).toEqual([expect.stringContaining(topic), null])
    expect(member.failures.items).toEqual([])
    expect(await committed.catch(() => 'thrown')).not.toBe('thrown')

    // The same member or a new one, it owns everything again, and a pause holds for a partition that was kept.
    await member.consumer.commit([{ topic, partition: 0, offset: 2, metadata: 'later' }])
    const { kept, gained } = lastOf(member.assignments)
    expect(names([...kept, ...gained])).toEqual([`${topic}/0`, `${topic}/1`])
    member.consumer.resume([{ topic, partition: 1 }])
    await untilRecords(member, (all) => all.some(({ partition, offset }) => partition === 1 && offset === 1))
    expect(port.log.filter(({ level }) => level === 'error')).toEqual([])

    await kafka.stop()
    const stoppedAt = Date.now()
    await member.consumer.stop()
    await reader.stop()
    expect(Date.now() - stoppedAt).toBeLessThan(8_000)
  }, 90_000)

  test('a producer that finds no broker at all says so within 30 s', async () => {
    const kafka = connectPort({ brokers: ['127.0.0.1:1'] })
    const startedAt = Date.now()
    const results = await Promise.all(
      [0, 1].map((partition) => kafka.producer().produce({ topic: 't', partition, key: null, value, headers: {} })),
    )
    expect(results).toMatchObject([{ kind: 'unavailable' }, { kind: 'unavailable' }])
    expect(Date.now() - startedAt).toBeLessThan(30_000)
    expect(kafka.log.filter(({ level }) => level !== 'debug')).toEqual([])
  })
})

async function start(dataDir: string, port: number): Promise<LocalKafka> {
  return await startLocalKafka({ dataDir, port, portIsFixed: port !== 0, heapMb: 256, jvmFlags: fastStartJvmFlags })
}
