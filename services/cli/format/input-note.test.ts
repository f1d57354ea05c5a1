import { expect, test } from 'vitest'
import { inputNote } from './input-note.ts'

const subscription = { id: 'a', topics: ['orders', 'more'] }

test("events in Event Grid's schema are said to be awaited, and how to make one", () => {
  expect(inputNote({ ...subscription, input: 'event-grid' })).toBe(
    "a: takes what is on orders, more for events in Event Grid's schema, and CloudEvents there become dead letters; `barnabas send orders --input event-grid` makes one, and for CloudEvents write `input: cloudevents` and `schema: CloudEventSchemaV1_0`",
  )
})

test.each(['cloudevents', 'custom', 'kafka-record'] as const)('of %s nothing is said', (input) => {
  expect(inputNote({ ...subscription, input })).toBeNull()
})
