import type { KnownPlace } from '@barnabas/core'
import { expect, test } from 'vitest'
import { trackPartition } from './tracked-partition.ts'

const at = { topic: 'orders', partition: 2 }
const label = { generation: 7, skippedOffsets: 0, topicId: null, voidStart: null, isAnew: false }

function tracked(offset: number) {
  const steps: string[] = []
  const place = { kind: 'known', offset, done: [] } as unknown as KnownPlace
  const partition = trackPartition(at, place, label, {
    consumer: {
      pause: () => void steps.push('pause'),
      resume: () => void steps.push('resume'),
      seek: (_at, to) => void steps.push(`seek ${to}`),
    },
    keepsAllDone: true,
    isDraining: () => false,
    leaseIsOver: () => false,
    settled: () => undefined,
    onFinished: () => void steps.push('finished'),
    commitNow: async () => {},
  })
  return { partition, steps }
}

test('what is open is handed over again, what is done is not, and the commit says the same', () => {
  const { partition, steps } = tracked(40)
  const open = [40, 41, 42, 43, 44].map((offset) => partition.take(offset)!)
  partition.finish(open[1]!, false)
  partition.finish(open[3]!, true)
  const before = partition.position()
  partition.rewind()
  expect(steps).toEqual(['finished', 'finished', 'seek 40'])
  expect(partition.position()).toEqual(before)
  expect([partition.openCount, partition.isRewound]).toEqual([0, true])
  const again = [40, 41, 42, 43, 44].map((offset) => partition.take(offset))
  expect(again.map((record) => record?.offset ?? null)).toEqual([40, null, 42, null, 44])
  for (const record of again) if (record !== null) partition.finish(record, false)
  expect(partition.position().offset).toBe(45)
})

test('where nothing is open, or the partition is others’ by now, nothing happens', () => {
  const { partition, steps } = tracked(40)
  partition.finish(partition.take(40)!, false)
  partition.rewind()
  partition.take(41)
  partition.isLost = true
  partition.rewind()
  expect(steps).toEqual(['finished'])
})
