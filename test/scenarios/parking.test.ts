import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

/** Parked events are not in flight: they wait in Kafka and cost no memory (design, promise 9). */

const prefix = randomName('parking')
const parked = 20_000
let barnabas: Barnabas
let receiver: Receiver
let topic: string

beforeAll(async () => {
  receiver = await startReceiver(() => 503)
  topic = await createSourceTopic(prefix, 'parking', 4)
  barnabas = await startBarnabas(prefix)
  await apply(prefix, [{ id: 'parks', topics: [topic], sink: receiver.url, retry: { schedule: ['10m'] } }])
})
afterAll(async () => {
  await barnabas?.stop()
  await receiver?.close()
  await removeEverything(prefix)
})

test(`${parked} events that wait for ten minutes stand in their tier, and memory hardly grows`, async () => {
  const before = await residentMb(barnabas.process.child.pid)
  for (let from = 0; from < parked; from += 2_000) {
    const events = Array.from({ length: 2_000 }, (_, index) =>
      binaryEvent(String(from + index), { partition: index % 4 }),
    )
    await produce(plainKafka(), topic, events)
  }
  await receiver.until((requests) => requests.length >= parked)
  await expect.poll(() => lagOf(`${prefix}.subscription.parks`, topic), { timeout: 20_000 }).toBe(0)
  expect(await recordsIn(`${prefix}.retry.10m`)).toBe(parked)
  // A burst leaves garbage behind; it is given back some seconds later.
  await expect
    .poll(async () => (await residentMb(barnabas.process.child.pid)) - before, { interval: 500, timeout: 20_000 })
    .toBeLessThan(50)
  expect(receiver.requests.filter(({ attempt }) => attempt !== 1)).toEqual([])
})

async function recordsIn(tier: string): Promise<number> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    const offsets = await admin.fetchTopicOffsets(tier)
    return offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0)
  } finally {
    await admin.disconnect()
  }
}

/** As Linux counts it (proc(5)). */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
