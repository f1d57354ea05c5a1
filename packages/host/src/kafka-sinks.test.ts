import type { Subscription } from '@barnabas/core'
import { names } from '@barnabas/core'
import type { KafkaClient } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { createKafkaSinks } from './kafka-sinks.ts'

const kafka = { producer: () => ({}) } as unknown as KafkaClient
const brokersOf: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit.example.com:9092'],
  self: ['OWN.example.com:9092'],
}
const sinks = createKafkaSinks({
  kafka,
  brokers: ['own.example.com:9092'],
  clusters: {
    client: (name) =>
      name in brokersOf ? { kind: 'client', kafka } : { kind: 'unknown', message: `the cluster ${name} is not known` },
    brokersOf: (name) => brokersOf[name],
    close: async () => {},
  },
  names: names('barnabas'),
  findSecret: (name) => ({ kind: 'unknown', message: name }),
})

function problemOf(sink: string, target?: readonly [connection: string, topic: string]): string | null {
  const [connection, resource] = target ?? []
  const deadLetter: Subscription['deadLetter'] = {
    topic: 'orders-dead',
    responseBody: true,
    ...(connection === undefined || resource === undefined ? {} : { target: { kind: 'kafka', connection, resource } }),
  }
  return sinks.problemOf({ sink, topics: ['orders'], deadLetter })
}

const webhook = 'https://billing.example.com/'

test.each<[sink: string, target: readonly [string, string] | undefined]>([
  [webhook, undefined],
  ['kafka:copies', undefined],
  ['kafka://audit/orders', undefined],
  [webhook, ['audit', 'orders-dead']],
  // Another subscription may read it.
  [webhook, ['self', 'letters']],
])('%s with dead letters for %j has no problem', (sink, target) => {
  expect(problemOf(sink, target)).toBe(null)
})

test.each<[sink: string, target: readonly [string, string] | undefined, problem: string]>([
  ['kafka://gone/copies', undefined, 'sink: the cluster gone is not known'],
  ['kafka://self/orders', undefined, 'sink: the cluster self is the Kafka that we work on, and "orders" is read by'],
  [webhook, ['gone', 'letters'], 'deadLetter.target: the cluster gone is not known'],
  [webhook, ['self', 'orders'], 'deadLetter.target: the cluster self is the Kafka that we work on, and "orders" is'],
  [webhook, ['self', 'orders-dead'], 'deadLetter.target: the cluster self is the Kafka that we work on'],
  [webhook, ['self', 'barnabas.dead-letter'], '"barnabas.dead-letter" is one of Barnabas\'s own topics; name another'],
  [webhook, ['self', 'barnabas.retry.now'], "is one of Barnabas's own topics; name another"],
])('%s with dead letters for %j is a problem: %s', (sink, target, problem) => {
  expect(problemOf(sink, target)).toContain(problem)
})
