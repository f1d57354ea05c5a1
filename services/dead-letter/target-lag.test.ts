import { expect, test } from 'vitest'
import { createTargetLag } from './target-lag.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

test('the lag of a target is that of its group over all its topics, until it is read no more', async () => {
  const told: (number | null)[] = []
  const looked: number[][] = []
  let fails = false
  const lag = createTargetLag({
    admin: {
      async offsets(topics) {
        if (fails) throw new Error('no broker answers')
        expect(topics).toEqual(['a', 'b'])
        return [
          { topic: 'a', partition: 0, low: 10, high: 15 },
          { topic: 'a', partition: 1, low: 3, high: 7 },
          // Retention has removed what was committed.
          { topic: 'b', partition: 0, low: 8, high: 9 },
          // The topic was made anew.
          { topic: 'b', partition: 1, low: 0, high: 2 },
        ]
      },
      async committed(groupId) {
        expect(groupId).toBe('barnabas.dead-letter.kafka.audit/letters')
        return [
          { topic: 'a', partition: 0, offset: 13, metadata: '' },
          { topic: 'b', partition: 0, offset: 2, metadata: '' },
          { topic: 'b', partition: 1, offset: 50, metadata: '' },
        ]
      },
    },
    target: 'kafka://audit/letters',
    groupId: 'barnabas.dead-letter.kafka.audit/letters',
    topics: () => ['a', 'b'],
    retention: { look: async (behind) => void looked.push(behind.map(({ offset }) => offset)) },
    counts: { targetLag: (_, records) => void told.push(records) },
    logger,
  })
  lag.look()
  lag.look()
  await new Promise((turn) => setImmediate(turn))
  expect(told).toEqual([2 + 4 + 1 + 0])
  expect(looked).toEqual([[13, 3, 8]])
  fails = true
  lag.look()
  await lag.close()
  expect(told).toEqual([7, null])
})
