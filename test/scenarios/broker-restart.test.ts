import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { endLeftOverBroker, fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'
import { apply, lagOf, startBarnabas } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import { canRunOwnBroker, freePort } from '../support/start.ts'

describe.skipIf(!(await canRunOwnBroker()))('a broker that is killed and started again', () => {
  test('is waited for: the services go on, and every event comes to its end', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'barnabas-broker-restart-'))
    onTestFinished(async () => {
      await endLeftOverBroker(dataDir, 1_000)
      await rm(dataDir, { recursive: true, force: true })
    })
    const port = await freePort()
    const common = { dataDir, port, portIsFixed: true, heapMb: 256, jvmFlags: fastStartJvmFlags, endsWithParent: true }
    const first = await startLocalKafka(common)
    const env = { KAFKA_BROKERS: first.brokers }
    const kafka = plainKafka([first.brokers])
    // A third arrives at once, a third after a retry, a third never.
    const fate = (eventId: string) => Number(eventId) % 3
    const receiver = await startReceiver(({ eventId, attempt }) =>
      fate(eventId) === 0 || (fate(eventId) === 1 && attempt > 1) ? 200 : 503,
    )
    onTestFinished(() => receiver.close())
    const barnabas = await startBarnabas('restart', env)
    onTestFinished(async () => void (await barnabas.process.kill('SIGKILL')))
    await createTopic(kafka, 'orders', 2)
    const retry = { schedule: ['1s'] }
    await apply('restart', [{ id: 'orders', topics: ['orders'], sink: receiver.url, retry }], env)
    const events = (from: number) =>
      Array.from({ length: 60 }, (_, index) => binaryEvent(String(from + index), { partition: index % 2 }))
    await produce(kafka, 'orders', events(0))
    await receiver.until((requests) => requests.length >= 30)

    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const second = await startLocalKafka(common)
    onTestFinished(() => second.stop())
    await produce(kafka, 'orders', events(60))

    const dead = Array.from({ length: 40 }, (_, index) => String(index * 3 + 2))
    const letters = await readTopic(
      kafka,
      'restart.dead-letter',
      (messages) => new Set(messages.map(eventIdOf)).size >= dead.length,
    )
    expect(new Set(letters.map(eventIdOf))).toEqual(new Set(dead))
    await receiver.until((requests) => {
      const arrived = requests.filter(
        ({ eventId, attempt }) => fate(eventId) === 0 || (fate(eventId) === 1 && attempt > 1),
      )
      return new Set(arrived.map(({ eventId }) => eventId)).size === 80
    })
    expect(Math.max(...receiver.requests.map(({ attempt }) => attempt))).toBe(2)
    await expect.poll(() => lagOf('restart.subscription.orders', 'orders', kafka), { timeout: 10_000 }).toBe(0)
    expect(barnabas.process.child.exitCode).toBeNull()
    expect((await fetch(`${barnabas.url}/livez`)).status).toBe(200)
    await expect.poll(async () => (await fetch(`${barnabas.url}/readyz`)).status, { timeout: 10_000 }).toBe(200)

    // Without a broker nothing can be committed any more, and still nobody waits for ever.
    process.kill(second.pid, 'SIGKILL')
    await second.exited
    const stoppedAt = Date.now()
    await barnabas.process.kill('SIGTERM')
    expect(Date.now() - stoppedAt).toBeLessThan(10_000)
  }, 120_000)
})
