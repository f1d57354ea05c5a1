import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { topicNameProblem } from '@barnabas/core'
import type { OutgoingRecord } from '@barnabas/core'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { readSurroundings, withCluster } from '../cluster.ts'
import { eventId, eventRecord, problemOfOrder, sentInputs } from '../event-records.ts'
import type { EventData, EventOrder, SentInput } from '../event-records.ts'
import { fileProblem } from '@barnabas/runtime'
import { progressOf, sentSummary } from '../format/sent.ts'
import { produceMany } from '../produce-many.ts'
import { Refusal, usageError } from '../refusal.ts'
import { createdNote, ensureSourceTopics } from '../source-topics.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption, wholeNumber } from './output-option.ts'

interface SendOptions {
  readonly input: SentInput
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly id?: string
  readonly key?: string
  readonly data?: string
  readonly count: number
  readonly output?: 'json'
}

const countMax = 100_000_000
const progressEveryMs = 1_000

export function addSend(program: Command, terminal: Terminal): void {
  program
    .command('send')
    .description("produce events to a topic: CloudEvents in binary mode, or events in Event Grid's schema")
    .argument('<topic>', 'the topic; missing, it is created on the broker that `pnpm start` runs')
    .addOption(
      new Option('--input <input>', 'what the topic carries: `input` of the subscriptions that read it')
        .choices(sentInputs)
        .default('cloudevents'),
    )
    .option('--type <type>', 'CloudEvents type, `eventType` of Event Grid', 'com.example.test')
    .option('--source <source>', 'CloudEvents source, `topic` of Event Grid', '/barnabas/send')
    .option('--subject <subject>', 'its subject (default: none)')
    .option('--id <id>', 'its id (default: a random one); with --count it gets -1, -2 … behind it')
    .option('--key <key>', "the record's key: events of one key stay in one partition, in their order")
    .option('--data <data>', 'JSON, or @FILE for the bytes of a file (default: no data)')
    .option('--count <number>', 'how many events', wholeNumber(countMax), 1)
    .addOption(outputOption(['json']))
    .addHelpText('after', '\nExample:\n  barnabas send orders --type com.example.paid --data \'{"amount": 12}\'')
    .action((topic: string, options: SendOptions) => send(terminal, topic, options))
}

async function send(terminal: Terminal, topic: string, options: SendOptions): Promise<void> {
  const order = await orderOf(terminal, topic, options)
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    if (cluster.names.isInternal(topic)) {
      throw new Refusal(`${topic} is one of Barnabas's own topics and holds no events; send to a source topic`)
    }
    const isJson = options.output === 'json'
    for (const created of await ensureSourceTopics(cluster, [topic])) {
      const note = createdNote(created, cluster)
      if (isJson) terminal.note(note)
      else terminal.print(note)
    }
    await produce(terminal, cluster, order, isJson)
  })
}

async function produce(terminal: Terminal, { kafka }: Cluster, order: EventOrder, isJson: boolean): Promise<void> {
  const startedAt = Date.now()
  let sent = 0
  const progress = setInterval(
    () => terminal.note(progressOf(sent, order.count, Date.now() - startedAt)),
    progressEveryMs,
  )
  const producer = kafka.producer()
  const produced = await produceMany(producer, recordsOf(order), (acknowledged) => {
    sent = acknowledged
  })
  clearInterval(progress)
  if (produced.failure !== null) {
    const part = order.count === 1 ? 'not sent' : `sent ${produced.acknowledged} of ${order.count}, then no more`
    throw new Refusal(`${part}: ${produced.failure}`)
  }
  const ids = { firstId: eventId(order, 1), lastId: eventId(order, order.count) }
  terminal.print(sentSummary({ topic: order.topic, ...ids, ...produced }, Date.now() - startedAt, isJson))
}

function* recordsOf(order: EventOrder): Generator<OutgoingRecord> {
  for (let eventNumber = 1; eventNumber <= order.count; eventNumber++) yield eventRecord(order, eventNumber, Date.now())
}

async function orderOf(terminal: Terminal, topic: string, options: SendOptions): Promise<EventOrder> {
  const topicProblem = topicNameProblem(topic)
  if (topicProblem !== null) throw usageError(`${JSON.stringify(topic)} is not a topic: it ${topicProblem}`)
  const { input, type, source, subject = null, id = randomUUID(), key = null, count } = options
  const data = options.data === undefined ? null : await dataOf(terminal, options.data)
  const order = { topic, input, type, source, subject, id, key, data, count }
  const problem = problemOfOrder(order)
  if (problem !== null)
    throw usageError(`${input === 'cloudevents' ? 'no CloudEvent' : "no event in Event Grid's schema"}: ${problem}`)
  return order
}

/** The bytes as they were given: JSON is checked, never written again. */
async function dataOf(terminal: Terminal, data: string): Promise<EventData> {
  if (data.startsWith('@')) {
    const path = resolve(terminal.cwd, data.slice(1))
    const bytes = await readFile(path).catch((error: unknown) => {
      throw new Refusal(`--data: ${fileProblem(path, error)}`)
    })
    const isJson = extname(path).toLowerCase() === '.json'
    return { bytes, contentType: isJson ? 'application/json' : 'application/octet-stream' }
  }
  try {
    JSON.parse(data)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw usageError(`--data is not JSON (${reason}); text is written as --data '"text"', a file as --data @FILE`)
  }
  return { bytes: Buffer.from(data), contentType: 'application/json' }
}
