/**
 * Baseline N: the loop that anybody would write first. Reads a topic with kafkajs, posts each record with undici, at
 * the same concurrency; no tracker, no verdict, no commit, no deadline. Says when it has joined its group.
 * Arguments: URL, concurrency, brokers, topic.
 */
import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import type { IHeaders } from 'kafkajs'
import { Pool } from 'undici'

const [url = '', concurrency = '', brokers = '', topic = ''] = process.argv.slice(2)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1, allowH2: false })
const kafka = new Kafka({ clientId: 'naive', brokers: brokers.split(','), logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({ groupId: `bench-naive-${randomUUID()}`, maxBytesPerPartition: 256 * 1024 })

let inFlight = 0
const waiting: (() => void)[] = []

async function post(value: Buffer | null, recordHeaders: IHeaders | undefined): Promise<void> {
  const headers: Record<string, string> = {}
  for (const [name, bytes] of Object.entries(recordHeaders ?? {})) {
    headers[name.startsWith('ce_') ? `ce-${name.slice(3)}` : name] = String(bytes)
  }
  const answer = await pool.request({ method: 'POST', path: pathname, headers, body: value })
  await answer.body.dump()
  inFlight -= 1
  waiting.shift()?.()
}

consumer.on(consumer.events.GROUP_JOIN, () => process.send?.({ joined: true }))
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
await consumer.run({
  autoCommit: false,
  partitionsConsumedConcurrently: 8,
  async eachBatch({ batch }) {
    for (const { value, headers } of batch.messages) {
      while (inFlight >= Number(concurrency)) await new Promise<void>((resolve) => waiting.push(resolve))
      inFlight += 1
      void post(value, headers)
    }
  },
})
