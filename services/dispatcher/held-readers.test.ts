import { names as namesOf } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createHeldReaders } from './held-readers.ts'
import type { HeldReadersOptions, HeldWish } from './held-readers.ts'

const held = (id: string) => `shop.held.${id}`

/** Readers that write down what is done, over topics and wishes that the test changes. */
function recordedReaders(changes: Partial<HeldReadersOptions> = {}) {
  const steps: string[] = []
  const wishes = new Map<string, HeldWish>()
  const lag = new Map<string, number>()
  const failures: ((message: string) => void)[] = []
  let now = 0
  const readers = createHeldReaders({
    names: namesOf('shop'),
    admin: {
      offsets: async ([topic = '']) => [{ topic, partition: 0, low: 0, high: 10 }],
      committed: async (_group, [topic = '']) => [
        { topic, partition: 0, offset: 10 - (lag.get(topic) ?? 0), metadata: '' },
      ],
      deleteTopics: async ([topic]) => void steps.push(`topic ${topic} deleted`),
      deleteGroup: async (group) => {
        steps.push(`group ${group} deleted`)
        return true
      },
    },
    wishOf: (id) => wishes.get(id) ?? 'read',
    async read(id, onFailed) {
      steps.push(`${id} read`)
      failures.push(onFailed)
      return {
        changed: () => void steps.push(`${id} changed`),
        stop: async () => void steps.push(`${id} stopped`),
        lastHeartbeatAt: 7,
      }
    },
    caughtUp: async () => {},
    drainTimeoutMs: 1_000,
    timeScale: 1,
    now: () => now,
    logger: { debug() {}, info() {}, warn: () => void steps.push('warned'), error() {} },
    ...changes,
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    readers,
    steps,
    wishes,
    lag,
    failures,
    settle,
    later: (ms: number) => (now += ms),
    async topicsAre(...topics: string[]) {
      readers.topicsAre(new Set(topics))
      await settle()
    },
  }
}

test('each held topic is read once, and nothing else is', async () => {
  const { readers, steps, topicsAre } = recordedReaders()
  expect(readers.lastHeartbeatAt).toBe(Infinity)
  await topicsAre('orders', 'shop.retry.1s', 'other.held.three', held('one'))
  await topicsAre(held('one'), held('two'))
  expect(steps).toEqual(['one read', 'two read'])
  expect(readers.lastHeartbeatAt).toBe(7)
  await readers.close(0)
  expect(steps.slice(2)).toEqual(['one stopped', 'two stopped'])
})

test('what is held of a subscription that rests waits, until it goes on', async () => {
  const { readers, steps, wishes, topicsAre, settle } = recordedReaders()
  wishes.set('one', 'rest')
  await topicsAre(held('one'))
  expect(steps).toEqual([])
  wishes.set('one', 'read')
  readers.changed('one')
  await settle()
  wishes.set('one', 'rest')
  readers.changed('one')
  await settle()
  expect(steps).toEqual(['one read', 'one changed', 'one stopped'])
})

test('a topic that is gone is read no more, and one that is back is', async () => {
  const { steps, topicsAre } = recordedReaders()
  await topicsAre(held('one'))
  await topicsAre()
  await topicsAre(held('one'))
  expect(steps).toEqual(['one read', 'one stopped', 'one read'])
})

test('a reader that has failed, or could not begin, is begun again at the next beat', async () => {
  let trouble = 1
  const { steps, failures, topicsAre } = recordedReaders({
    async read(id, onFailed) {
      if (trouble-- > 0) throw new Error('no broker')
      steps.push(`${id} read`)
      failures.push(onFailed)
      return { changed() {}, stop: async () => {}, lastHeartbeatAt: 7 }
    },
  })
  await topicsAre(held('one'))
  expect(steps).toEqual(['warned'])
  await topicsAre(held('one'))
  failures[0]?.('its topic is gone')
  await topicsAre(held('one'))
  expect(steps).toEqual(['warned', 'one read', 'warned', 'one read'])
})

test('the topic of a deleted subscription goes with its group once it has been empty for a minute', async () => {
  const { steps, wishes, lag, later, topicsAre } = recordedReaders()
  wishes.set('one', 'clear')
  lag.set(held('one'), 3)
  await topicsAre(held('one')) // read
  for (let minute = 0; minute < 3; minute++) {
    later(60_000)
    await topicsAre(held('one'))
  }
  expect(steps).toEqual(['one read'])
  lag.delete(held('one'))
  await topicsAre(held('one')) // empty from now on
  later(59_999)
  await topicsAre(held('one'))
  expect(steps).toEqual(['one read'])
  later(1)
  await topicsAre(held('one'))
  expect(steps).toEqual(['one read', 'one stopped', `topic ${held('one')} deleted`, `group ${held('one')} deleted`])
})

test('it stays when the id is made again before it is deleted', async () => {
  const wishes = new Map<string, HeldWish>([['one', 'clear']])
  const { steps, later, topicsAre } = recordedReaders({
    wishOf: (id) => wishes.get(id) ?? 'read',
    caughtUp: async () => void wishes.set('one', 'read'),
  })
  await topicsAre(held('one'))
  await topicsAre(held('one'))
  later(60_000)
  await topicsAre(held('one'))
  expect(steps).toEqual(['one read'])
})

test('who closes does not wait for a reader that cannot begin', async () => {
  const { readers, topicsAre } = recordedReaders({ read: () => new Promise(() => {}) })
  await topicsAre(held('one'))
  await expect(readers.close(0)).resolves.toBeUndefined()
})
