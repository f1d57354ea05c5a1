import { expect, test } from 'vitest'
import { windowOf } from './faults.ts'

test.each([
  { kind: 'kill-broker', brokers: 1, isPartialOutage: false },
  { kind: 'slow-write', brokers: 1, isPartialOutage: false },
  { kind: 'kill-broker', brokers: 3, isPartialOutage: true },
  { kind: 'slow-write', brokers: 3, isPartialOutage: true },
  { kind: 'kill-retrier', brokers: 3, isPartialOutage: false },
])(
  '$kind with $brokers brokers: events go on while commits do not: $isPartialOutage',
  ({ kind, brokers, isPartialOutage }) => {
    expect(windowOf(kind, 10, 20, { sessionTimeoutMs: 2_000, brokers })).toEqual({
      kind,
      from: 10,
      to: 2_270,
      isPartialOutage,
      leavesZombie: false,
    })
  },
)

test.each(['freeze-dispatcher', 'freeze-retrier'])('%s leaves a process that knows nothing of it', (kind) => {
  expect(windowOf(kind, 10, 20, { sessionTimeoutMs: 2_000, brokers: 1 }).leavesZombie).toBe(true)
})
