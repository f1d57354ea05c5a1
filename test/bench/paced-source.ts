/**
 * Brings forth events at an even pace and tells `{ sent }` when all are acknowledged. Arguments: per second, how many
 * (`Infinity`: until any message comes), then `kafka`, brokers, topic and the number of the first event (0); or `http`,
 * URL, which posts them straight to the sink. Each event carries the moment before it is handed to the client,
 * `senttime`, in ns of the monotonic clock.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { Pool } from 'undici'
import { backlogPartitions } from './backlog.ts'
import { benchHeaders, benchValue } from './events.ts'

const [perSecond = '', events = '', way = '', to = '', topic = '', firstNumber = '0'] = process.argv.slice(2)

/** Hands over the events `first` to `last - 1`. */
type Send = (first: number, last: number) => Promise<unknown>

const send = way === 'kafka' ? await toKafka(to.split(','), topic) : toHttp(to)
const startedAt = performance.now()
const underWay = new Set<Promise<unknown>>()
let end = Number(events)
let sent = 0
process.once('message', () => (end = sent))
while (sent < end) {
  const due = Math.min(end, Math.floor(((performance.now() - startedAt) / 1_000) * Number(perSecond)))
  if (due > sent) {
    const sending = send(sent, due).finally(() => underWay.delete(sending))
    underWay.add(sending)
    sent = due
  }
  await sleep(1)
}
await Promise.all(underWay)
process.send?.({ sent })

async function toKafka(brokers: readonly string[], toTopic: string): Promise<Send> {
  const kafka = new Kafka({ clientId: 'bench', brokers: [...brokers], logLevel: logLevel.NOTHING })
  const producer = kafka.producer()
  await producer.connect()
  return (first, last) => {
    const messages = indexes(Number(firstNumber) + first, Number(firstNumber) + last).map((index) => ({
      partition: index % backlogPartitions,
      value: benchValue(index),
      headers: { ...benchHeaders(index), ce_senttime: now() },
    }))
    return producer.send({ topic: toTopic, messages, acks: -1 })
  }
}

function toHttp(url: string): Send {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: 64, pipelining: 1, allowH2: false })
  return (first, last) =>
    Promise.all(
      indexes(first, last).map(async (index) => {
        const headers: Record<string, string> = { 'ce-senttime': now() }
        for (const [name, value] of Object.entries(benchHeaders(index))) headers[name.replace('ce_', 'ce-')] = value
        const answer = await pool.request({ method: 'POST', path: pathname, headers, body: benchValue(index) })
        await answer.body.dump()
      }),
    )
}

function indexes(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first }, (_each, index) => first + index)
}

function now(): string {
  return String(process.hrtime.bigint())
}
