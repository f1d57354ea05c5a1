import { expect, test } from 'vitest'
import { compareTopic, describeDifference } from './compare-topic.ts'
import { createCommand, heldTopic, ownTopics } from './own-topics.ts'

const options = { prefix: 'shop', partitions: 8, tierPartitions: 4, replication: 3 }
const topics = ownTopics(options)
const topic = (name: string) => topics.find((each) => each.topic === `shop.${name}`)!

test('a first start makes the control topics, every tier and the dead-letter topic', () => {
  expect(topics).toHaveLength(7 + 21 + 1)
  expect(topic('subscriptions')).toEqual({
    topic: 'shop.subscriptions',
    partitions: 1,
    replication: 3,
    config: { 'cleanup.policy': 'compact', 'min.insync.replicas': '2' },
    operatorOwned: [],
  })
  expect(topic('status')).toMatchObject({ partitions: 1, config: { 'cleanup.policy': 'compact' } })
  expect(topic('health')).toMatchObject({ partitions: 1, config: { 'cleanup.policy': 'compact' } })
  expect(topic('commands')).toMatchObject({
    partitions: 1,
    config: { 'cleanup.policy': 'delete', 'retention.ms': '7776000000' },
    operatorOwned: ['retention.ms', 'cleanup.policy'],
  })
  expect(topic('progress')).toMatchObject({ partitions: 1, config: { 'cleanup.policy': 'compact' } })
  for (const tier of ['now', '1s', '512s', '12h']) {
    expect(topic(`retry.${tier}`)).toMatchObject({
      partitions: 4,
      replication: 3,
      config: {
        'cleanup.policy': 'delete',
        'message.timestamp.type': 'LogAppendTime',
        'retention.ms': '-1',
        'retention.bytes': '-1',
        'segment.bytes': '67108864',
        'segment.ms': '3600000',
        'max.message.bytes': '16777216',
        'min.insync.replicas': '2',
      },
    })
  }
  expect(topic('dead-letter')).toMatchObject({
    partitions: 8,
    config: { 'cleanup.policy': 'delete', 'retention.ms': '1209600000', 'max.message.bytes': '16777216' },
  })
})

test('a held topic is made as a tier is, when it is needed', () => {
  expect(heldTopic(options, 'orders')).toEqual({ ...topic('retry.now'), topic: 'shop.held.orders' })
})

test.each([
  [1, '1'],
  [2, '1'],
  [3, '2'],
])('with %d replicas %s must have a record', (replication, expected) => {
  for (const each of ownTopics({ ...options, replication })) expect(each.config['min.insync.replicas']).toBe(expected)
})

test('the command to create a topic names all of it', () => {
  expect(createCommand(topic('status'), 'kafka:9092')).toBe(
    'kafka-topics --bootstrap-server kafka:9092 --create --if-not-exists --topic shop.status --partitions 1 ' +
      '--replication-factor 3 --config cleanup.policy=compact --config min.insync.replicas=2',
  )
})

test.each(topics.map((each) => [each.topic, each] as const))('%s as it was made has no difference', (_, each) => {
  expect(compareTopic(each, each, 'kafka:9092')).toEqual([])
})

test('what differs is told with the command that mends it', () => {
  const tier = topic('retry.1m')
  const found = {
    partitions: 2,
    replication: 3,
    config: { ...tier.config, 'retention.ms': '604800000', 'message.timestamp.type': 'CreateTime' },
  }
  const differences = compareTopic(tier, found, 'kafka:9092')
  expect(differences.map(describeDifference)).toEqual([
    'shop.retry.1m: partitions is 2, not 4',
    'shop.retry.1m: message.timestamp.type is CreateTime, not LogAppendTime',
    'shop.retry.1m: retention.ms is 604800000, not -1',
  ])
  expect(differences.map(({ command }) => command)).toEqual([
    'kafka-topics --bootstrap-server kafka:9092 --alter --topic shop.retry.1m --partitions 4',
    'kafka-configs --bootstrap-server kafka:9092 --alter --entity-type topics --entity-name shop.retry.1m --add-config message.timestamp.type=LogAppendTime',
    'kafka-configs --bootstrap-server kafka:9092 --alter --entity-type topics --entity-name shop.retry.1m --add-config retention.ms=-1',
  ])
})

test('a setting that the broker does not tell is a difference', () => {
  const differences = compareTopic(topic('status'), { partitions: 1, replication: 1, config: {} }, 'kafka:9092')
  expect(differences.map(describeDifference)).toEqual([
    'shop.status: cleanup.policy is unknown, not compact',
    'shop.status: min.insync.replicas is unknown, not 1',
  ])
})

const tierWith = (config: Record<string, string>, replication = 3) => ({
  partitions: 4,
  replication,
  config: { ...topic('retry.1m').config, ...config },
})

test.each([
  ['more partitions', { ...tierWith({}), partitions: 40 }],
  ['a larger record limit', tierWith({ 'max.message.bytes': '33554432' })],
  ['a stricter durability', tierWith({ 'min.insync.replicas': '3' })],
  ['fewer replicas, with what they allow', tierWith({ 'min.insync.replicas': '1' }, 1)],
])('%s is fine', (_, found) => {
  expect(compareTopic(topic('retry.1m'), found, 'kafka:9092')).toEqual([])
})

test.each([
  ['a smaller record limit', tierWith({ 'max.message.bytes': '1048588' }), 'max.message.bytes'],
  ['one in-sync replica of three', tierWith({ 'min.insync.replicas': '1' }), 'min.insync.replicas'],
  ['more in-sync replicas than replicas', tierWith({ 'min.insync.replicas': '2' }, 1), 'min.insync.replicas'],
  ['compaction of a tier', tierWith({ 'cleanup.policy': 'compact,delete' }), 'cleanup.policy'],
])('%s is refused', (_, found, setting) => {
  expect(compareTopic(topic('retry.1m'), found, 'kafka:9092').map((each) => each.setting)).toEqual([setting])
})

test("a dead-letter topic's retention, cleanup and partitions are the operator's", () => {
  const found = {
    partitions: 1,
    replication: 3,
    config: { ...topic('dead-letter').config, 'retention.ms': '-1', 'cleanup.policy': 'compact,delete' },
  }
  expect(compareTopic(topic('dead-letter'), found, 'kafka:9092')).toEqual([])
})
