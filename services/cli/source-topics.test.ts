import { expect, test } from 'vitest'
import { missingMessage } from './source-topics.ts'

const topic = { topic: 'orders', partitions: 8, replication: 1, config: {}, operatorOwned: [] }

test('a missing topic is named with the command that makes it', () => {
  expect(missingMessage('kafka:9092', [topic])).toBe(
    'topic orders does not exist at kafka:9092; create it first:\n' +
      '  kafka-topics --bootstrap-server kafka:9092 --create --if-not-exists --topic orders --partitions 8 --replication-factor 1',
  )
})

test('several are named with a command each', () => {
  const wanted = [topic, { ...topic, topic: 'more', replication: 3, config: { 'min.insync.replicas': '2' } }]
  const message = missingMessage('kafka:9092', wanted)
  expect(message).toMatch(/^topics orders, more do not exist at kafka:9092; create them first:\n/)
  expect(message).toContain('--topic more --partitions 8 --replication-factor 3 --config min.insync.replicas=2')
})
