import { names as namesOf } from '@barnabas/core'
import { expect, test } from 'vitest'
import type { PreparedTopics } from './prepare-own-topics.ts'
import { createTopicMender } from './topic-mender.ts'

function mender() {
  const steps: string[] = []
  let now = 0
  const mend = createTopicMender({
    names: namesOf('shop'),
    async prepare(): Promise<PreparedTopics> {
      steps.push('prepare')
      return { kind: 'ready', created: [], partitions: new Map() }
    },
    heldTopics: {
      find: async (id) => void steps.push(`find ${id}`),
      forget: (id) => void steps.push(`forget ${id}`),
    },
    now: () => now,
    logger: { info() {}, warn() {} },
  })
  return { steps, mend, later: (ms: number) => (now += ms) }
}

test('the tiers and the dead-letter topic are made again, once for all that wait for them', () => {
  const { steps, mend, later } = mender()
  for (const topic of ['shop.dead-letter', 'shop.dead-letter', 'shop.retry.1s']) mend(topic)
  expect(steps).toEqual(['prepare'])
  later(5_000)
  mend('shop.retry.12h')
  expect(steps).toEqual(['prepare', 'prepare'])
})

test('a held topic is, for each subscription', () => {
  const { steps, mend } = mender()
  for (const topic of ['shop.held.one', 'shop.held.one', 'shop.held.two']) mend(topic)
  expect(steps).toEqual(['forget one', 'find one', 'forget two', 'find two'])
})

test('a topic of somebody else is not', () => {
  const { steps, mend } = mender()
  for (const topic of ['orders', 'orders.dead-letter', 'barnabas.dead-letter', 'shop.orders']) mend(topic)
  expect(steps).toEqual([])
})
