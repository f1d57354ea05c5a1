/** Rows B6, B7: dead letters are carried to another Kafka, a real second one, which is killed in the middle. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endLeftOverBroker, fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { apply, createSourceTopic, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, header } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import { canRunOwnBroker, freePort } from '../support/start.ts'

describe.skipIf(!(await canRunOwnBroker()))('a second Kafka', () => {
  test('B6, B7: gets every dead letter, although it is killed while they are carried', async () => {
    const prefix = randomName('second')
    const folder = await mkdtemp(join(tmpdir(), 'barnabas-second-kafka-'))
    const dataDir = join(folder, 'kafka')
    onTestFinished(async () => {
      await endLeftOverBroker(dataDir, 1_000)
      await rm(folder, { recursive: true, force: true })
    })
    const port = await freePort()
    const options = { dataDir, port, portIsFixed: true, heapMb: 256, jvmFlags: fastStartJvmFlags, endsWithParent: true }
    const first = await startLocalKafka(options)
    const there = plainKafka([first.brokers])
    await createTopic(there, 'letters', 2)
    const file = join(folder, 'clusters.yaml')
    await writeFile(file, `audit: { brokers: [${first.brokers}] }`)

    const receiver = await startReceiver(() => 400)
    onTestFinished(() => receiver.close())
    onTestFinished(() => removeEverything(prefix))
    const barnabas = await startBarnabas(prefix, { BARNABAS_CLUSTERS_FILE: file })
    onTestFinished(() => barnabas.stop())
    const source = await createSourceTopic(prefix, 'orders')
    const target = 'kafka://audit/letters'
    await apply(prefix, [
      { id: 'orders', topics: [source], from: 'earliest', sink: receiver.url, deadLetter: { target } },
    ])
    const ids = Array.from({ length: 400 }, (_, index) => String(index))
    const write = (some: readonly string[]) =>
      produce(
        plainKafka(),
        source,
        some.map((id) => binaryEvent(id)),
      )
    await write(ids.slice(0, 200))
    await readTopic(there, 'letters', (letters) => letters.length > 0)
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    await write(ids.slice(200))
    await receiver.until((requests) => requests.length >= ids.length)

    const second = await startLocalKafka(options)
    onTestFinished(() => second.stop())
    const copies = await readTopic(there, 'letters', (letters) => new Set(letters.map(eventIdOf)).size === ids.length)
    expect(new Set(copies.map(eventIdOf))).toEqual(new Set(ids))
    expect(new Set(copies.map((copy) => header(copy, 'barnabas-subscription')))).toEqual(new Set(['orders']))
    const lag = () => metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target })
    await vi.waitFor(async () => expect(await lag()).toBe(0), { timeout: 15_000, interval: 200 })
  })
})
