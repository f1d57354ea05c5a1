import { newDeliveryState } from '@barnabas/core'
import type { InPlaceEvent } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createResolutions } from './resolutions.ts'

const since = '2026-03-01T12:00:00.000Z'
const blocked = (sinceMs = Date.parse(since)): InPlaceEvent => ({
  state: newDeliveryState({ id: 'orders', generation: 7 }, { topic: 'a', partition: 1, offset: 9 }, 0),
  eventId: null,
  standing: { kind: 'blocked', reason: 'MaxDeliveryAttemptsExceeded', since: sinceMs },
  at: 0,
})
const block = { topic: 'a', partition: 1, offset: 9, since }
const said = { subscription: 'orders', by: 'k', at: since }

test('B5: of each block the first word counts, and only of that one', () => {
  const resolutions = createResolutions()
  expect(resolutions.of(blocked())).toBeNull()
  resolutions.said({ ...said, command: 'start' })
  resolutions.said({ ...said, command: 'skip', block: { ...block, offset: 8 } })
  resolutions.said({ ...said, command: 'skip', subscription: 'others', block })
  expect(resolutions.of(blocked())).toBeNull()
  resolutions.said({ ...said, command: 'start', block })
  resolutions.said({ ...said, command: 'skip', block })
  expect(resolutions.of(blocked())).toBe('start')
  // It came to another block at the same event, of which nothing was said yet.
  expect(resolutions.of(blocked(Date.parse(since) + 1))).toBeNull()
  expect(resolutions.of({ ...blocked(), standing: { kind: 'waiting', dueAt: 0 } })).toBeNull()
})
