import { healthKey, healthValue, presenceKey } from '@barnabas/core'
import type { HealthRecord } from '@barnabas/core'
import { expect, test } from 'vitest'
import { healthRemains } from './health-cleaning.ts'
import { createHealthLog } from './health-log.ts'

const about = { generation: 1, endpoint: 'e', failing: null, lastSuccess: null, ended: null, probation: null }
const counts = { parkedIn: 3, parkedOut: 1, takenOver: [] }

/** A log in which each of these processes has said something of each of these subscriptions. */
function logOf(said: Record<string, readonly string[]>) {
  const log = createHealthLog()
  let offset = 0
  for (const [process, subscriptions] of Object.entries(said)) {
    log.apply({ key: presenceKey(process), value: Buffer.from('{}'), offset: offset++ }, 0)
    for (const subscription of subscriptions) {
      const record: HealthRecord = { ...about, ...counts, subscription, process }
      log.apply({ key: healthKey(subscription, process), value: healthValue(record), offset: offset++ }, 0)
    }
  }
  return log
}

const exists = (subscription: string) => subscription === 'orders'
const isGone = (process: string) => process.startsWith('dead')

test('what processes that are gone said of subscriptions that were deleted is nobody’s', () => {
  const log = logOf({ dead: ['orders', 'deleted'], living: ['orders', 'deleted'], me: ['orders'] })
  expect(healthRemains(log, { process: 'me', exists, isGone })).toEqual({
    records: [expect.objectContaining({ subscription: 'deleted', process: 'dead' })],
    processes: [],
  })
})

test('so is what this process itself could not remove', () => {
  const log = logOf({ me: ['orders', 'deleted'] })
  const { records } = healthRemains(log, { process: 'me', exists, isGone })
  expect(records).toEqual([expect.objectContaining({ subscription: 'deleted', process: 'me' })])
})

test('the sign of life of a process that is gone is kept until nothing else of it is there', () => {
  const log = logOf({ dead: ['orders'], deadToo: [], living: [] })
  expect(healthRemains(log, { process: 'me', exists, isGone }).processes).toEqual(['deadToo'])
})

test('it is never more than a thousand at a time', () => {
  const deleted = Array.from({ length: 1_200 }, (_, index) => `deleted-${index}`)
  const log = logOf({ dead: deleted, ...Object.fromEntries(deleted.map((name) => [`dead-${name}`, []])) })
  const { records, processes } = healthRemains(log, { process: 'me', exists, isGone })
  expect([records.length, processes.length]).toEqual([1_000, 1_000])
})
