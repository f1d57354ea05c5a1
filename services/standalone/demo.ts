import { randomUUID } from 'node:crypto'
import { parseSubscription, rfc3339 } from '@barnabas/core'
import type { OutgoingRecord } from '@barnabas/core'
import type { DeliveryReport } from '@barnabas/delivery'
import type { Host } from '@barnabas/host'
import { applySubscription, deleteSubscription } from '@barnabas/registry'
import type { ServiceProcess } from '@barnabas/runtime'
import { startDemoReceiver } from './demo-receiver.ts'

const topic = 'barnabas-demo'
const deadLetterTopic = 'barnabas-demo.dead-letter'

/** The four things that can become of an event, each with a subscription of its own. */
const parts = [
  { name: 'delivered', retry: ['1s'], promise: 'is delivered at once' },
  { name: 'retried', retry: ['2s', '4s'], promise: 'fails twice and then arrives' },
  { name: 'refused', retry: ['1s'], promise: 'is refused with 400, which is never retried' },
  { name: 'exhausted', retry: ['1s', '3s'], promise: 'fails until its attempts run out' },
] as const

const idOf = (name: string) => `barnabas-demo-${name}`
/** Nothing in the demo takes longer than some seconds; a machine that is this slow goes on without it. */
const limitMs = 60_000

/**
 * Plays the demo against a receiver of its own and removes everything that it made, also what a demo that was cut
 * off has left. Ends early when the process is to stop.
 */
export async function playDemo(host: Host, service: ServiceProcess): Promise<void> {
  const { logger } = host
  const receiver = await startDemoReceiver()
  const producer = host.kafka.producer()
  const removeAll = () => remove(host, producer)
  try {
    for (const { name } of parts) host.toldElsewhere.add(idOf(name))
    await removeAll()
    await create(host, producer, receiver.url)
    logger.info('demo: four events, each to a subscription of its own')
    for (const { name, promise } of parts) logger.info(`demo: ${idOf(name)}: an event that ${promise}`)
    await play(host, service, producer)
  } finally {
    await removeAll()
    await producer.close()
    await receiver.close()
  }
  if (!service.stopping.aborted) logger.info('demo: played; its topics and subscriptions are removed')
}

type Producer = ReturnType<Host['kafka']['producer']>

async function create(host: Host, producer: Producer, receiverUrl: string): Promise<void> {
  const { kafka, names, config, registry, statuses } = host
  const replication = config.replication === 'auto' ? Math.min(3, await kafka.admin.brokerCount()) : config.replication
  const { refused } = await kafka.admin.createTopics(
    [topic, deadLetterTopic].map((each) => ({ topic: each, partitions: 1, replication, config: {} })),
  )
  if (refused.length > 0) throw new Error(refused.map((each) => `${each.topic}: ${each.message}`).join('; '))
  for (const { name, retry } of parts) {
    const parsed = parseSubscription(
      {
        id: idOf(name),
        topics: [topic],
        sink: `${receiverUrl}/${name}`,
        types: [`demo.${name}`],
        retry: { schedule: retry },
        deadLetter: { topic: deadLetterTopic },
      },
      { prefix: config.prefix, timeScale: config.timeScale },
    )
    if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join('; '))
    const applied = await applySubscription(
      parsed,
      { admin: kafka.admin, producer, registry, statuses, names, now: Date.now },
      { force: true, dryRun: false },
    )
    if (applied.kind === 'failed' || applied.kind === 'conflict') throw new Error(applied.message)
  }
}

/** Sends the events and tells each delivery until every one of them has come to its end. */
async function play(host: Host, service: ServiceProcess, producer: Producer): Promise<void> {
  const open = new Set<string>(parts.map(({ name }) => idOf(name)))
  const ended = Promise.withResolvers<void>()
  host.onDelivery((report) => {
    const id = report.state.subscriptionId
    const isWaiting = report.verdict.kind === 'park' || report.verdict.kind === 'hold'
    if (id === undefined || !open.has(id) || isWaiting) return
    host.logger.info(lineOf(id, report))
    if (report.verdict.kind !== 'retry') open.delete(id)
    if (open.size === 0) ended.resolve()
  })
  const events = parts.map(({ name }) => demoEvent(name))
  const results = await Promise.all(events.map((event) => producer.produce(event)))
  const failed = results.find((result) => result.kind !== 'acknowledged')
  if (failed !== undefined) throw new Error(failed.message)
  const limit = setTimeout(() => ended.resolve(), limitMs)
  service.stopping.addEventListener('abort', () => ended.resolve())
  await ended.promise
  clearTimeout(limit)
}

function demoEvent(name: string): OutgoingRecord {
  const headers = {
    ce_specversion: '1.0',
    ce_id: randomUUID(),
    ce_source: '/barnabas/demo',
    ce_type: `demo.${name}`,
    ce_time: rfc3339(Date.now()),
    'content-type': 'application/json',
  }
  return {
    topic,
    partition: 0,
    key: null,
    value: Buffer.from(JSON.stringify({ story: name })),
    headers: Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, Buffer.from(text)])),
  }
}

/** One readable line: attempt number, outcome, and what is next. */
function lineOf(id: string, { state, result, verdict }: DeliveryReport): string {
  const status = result?.status ?? null
  const outcome = `attempt ${state.attempts}: ${result?.outcome ?? 'none'}${status === null ? '' : ` (${status})`}`
  switch (verdict.kind) {
    case 'done':
      return `demo: ${id}: ${outcome}`
    case 'retry':
      return `demo: ${id}: ${outcome}, next attempt due at ${rfc3339(verdict.dueAt)}`
    case 'dead-letter':
      return `demo: ${id}: ${outcome}, dead letter in ${deadLetterTopic}: ${verdict.reason}`
    default:
      return `demo: ${id}: ${outcome}, ${verdict.kind}`
  }
}

async function remove(host: Host, producer: Producer): Promise<void> {
  const { kafka, names, registry } = host
  for (const { name } of parts) await deleteSubscription(idOf(name), { producer, registry, names })
  const present = await kafka.admin.topics()
  const own = [topic, deadLetterTopic].filter((each) => present.has(each))
  if (own.length > 0) await kafka.admin.deleteTopics(own)
}
