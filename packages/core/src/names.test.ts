import { expect, test } from 'vitest'
import { names, topicNameProblem } from './names.ts'

test('topics and groups begin with the prefix', () => {
  const own = names('shop')
  expect(own.subscriptions).toBe('shop.subscriptions')
  expect(own.status).toBe('shop.status')
  expect(own.commands).toBe('shop.commands')
  expect(own.progress).toBe('shop.progress')
  expect(own.health).toBe('shop.health')
  expect(own.deadLetter).toBe('shop.dead-letter')
  expect(own.retryTopic('512s')).toBe('shop.retry.512s')
  expect(own.retryTopics).toHaveLength(21)
  expect(own.retryTopics[0]).toBe('shop.retry.now')
  expect(own.subscriptionGroup('orders')).toBe('shop.subscription.orders')
  expect(own.retrierGroup).toBe('shop.retrier')
  expect([own.heldTopic('orders'), own.heldGroup('orders')]).toEqual(['shop.held.orders', 'shop.held.orders'])
  expect(['shop.held.orders', 'shop.retry.1s', 'barnabas.held.orders'].map(own.subscriptionOfHeldTopic)).toEqual([
    'orders',
    null,
    null,
  ])
  expect(own.deadLetterGroup('count')).toBe('shop.dead-letter.count')
})

test.each([
  ['shop.subscriptions', true],
  ['shop.status', true],
  ['shop.commands', true],
  ['shop.progress', true],
  ['shop.health', true],
  ['shop.redrives', true],
  ['shop.refusals', true],
  ['shop.retry.10s', true],
  ['shop.held.orders', true],
  ['shop.dead-letter', false],
  ['shop.orders', false],
  ['shop', false],
  ['shopXstatus', false],
  ['barnabas.status', false],
  ['constructor', false],
  ['shop.constructor', false],
])('%s is internal: %s', (topic, internal) => {
  expect(names('shop').isInternal(topic)).toBe(internal)
})

test.each(['orders', 'Orders_2.eu-west', '__proto__', 'x'.repeat(249), '...'])('%s is a legal topic name', (topic) => {
  expect(topicNameProblem(topic)).toBeNull()
})

test.each([
  ['', 'is empty'],
  ['.', 'is not allowed by Kafka'],
  ['..', 'is not allowed by Kafka'],
  ['x'.repeat(250), 'is longer than 249 characters'],
  ['or ders', 'may only contain letters, digits, ".", "_" and "-"'],
  ['orders\n', 'may only contain letters, digits, ".", "_" and "-"'],
  ['größe', 'may only contain letters, digits, ".", "_" and "-"'],
])('%j is no legal topic name: it %s', (topic, problem) => {
  expect(topicNameProblem(topic)).toBe(problem)
})
