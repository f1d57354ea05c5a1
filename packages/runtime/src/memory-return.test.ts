import { expect, test } from 'vitest'
import { createBurstTracker } from './memory-return.ts'

test.each([
  { shares: [0, 0.1, 0.05, 0, 0], over: [] },
  { shares: [0.5, 0.1, 0.1, 0.1, 0.1, 0.1], over: [3] },
  { shares: [0.9, 0.9, 0.9], over: [] },
  { shares: [0.1, 0.2, 0.19, 0, 1.5, 0, 0, 0, 0.3, 0, 0, 0], over: [7, 11] },
])('CPU shares $shares: a burst is over at the looks $over', ({ shares, over }) => {
  const tracker = createBurstTracker()
  const told = shares.map((share) => tracker.look(share))
  expect(told.flatMap((signal, index) => (signal === null ? [] : [index]))).toEqual(over)
})
