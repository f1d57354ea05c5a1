import { expect, test } from 'vitest'
import type { Handling } from './verdict.ts'
import { verdictWithoutRequest } from './without-request.ts'

const handling: Handling = { faultTolerance: 'allowed', order: 'none', deadLettering: true }

test("A3: in Event Grid's notation what no request can be built for is a dead letter at once, or dropped", () => {
  const cloud = { notation: 'event-grid' } as const
  expect(verdictWithoutRequest(cloud, handling)).toEqual({ kind: 'dead-letter', reason: 'DestinationInvalid' })
  const dropping = { ...handling, deadLettering: false }
  expect(verdictWithoutRequest(cloud, dropping)).toEqual({ kind: 'drop', reason: 'DestinationInvalid' })
})

test.each(['barnabas', 'event-grid-kubernetes'] as const)(
  'B3: in the notation %s the subscription stops',
  (notation) => {
    expect(verdictWithoutRequest({ notation }, handling)).toBeNull()
  },
)
