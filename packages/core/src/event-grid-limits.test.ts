/** Every limit that Event Grid's documents name, at its edge and one beyond: rows A9, A11, A20; spec event-grid.md 1.3, 1.4. */
import { describe, expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

type Json = Readonly<Record<string, unknown>>

const endpointUrl = 'https://billing.example.com/hook'
const webhook = (properties: Json): Json => ({
  destination: { endpointType: 'WebHook', properties: { endpointUrl, ...properties } },
})
const stringIn = (values: readonly string[], key = 'data.a') => ({ operatorType: 'StringIn', key, values })
const filters = (advancedFilters: readonly Json[]): Json => ({ filter: { advancedFilters } })
const times = <Each>(count: number, each: Each): readonly Each[] => Array.from({ length: count }, () => each)
const header = (value: string, name = 'X-Team') => ({ name, type: 'Static', properties: { value } })

interface Limit {
  readonly what: string
  readonly field: string
  readonly least?: number
  readonly most: number
  readonly body: (amount: number) => Json
}

const limits: readonly Limit[] = [
  {
    what: 'A9: attempts',
    field: 'properties.retryPolicy.maxDeliveryAttempts',
    least: 1,
    most: 30,
    body: (maxDeliveryAttempts) => ({ retryPolicy: { maxDeliveryAttempts } }),
  },
  {
    what: 'A9: attempts by their other name',
    field: 'properties.retryPolicy.maxNumberOfAttempts',
    least: 1,
    most: 30,
    body: (maxNumberOfAttempts) => ({ retryPolicy: { maxNumberOfAttempts } }),
  },
  {
    what: 'A9: minutes to live',
    field: 'properties.retryPolicy.eventTimeToLiveInMinutes',
    least: 1,
    most: 1_440,
    body: (eventTimeToLiveInMinutes) => ({ retryPolicy: { eventTimeToLiveInMinutes } }),
  },
  {
    what: 'A11: events in a batch',
    field: 'properties.destination.properties.maxEventsPerBatch',
    least: 1,
    most: 5_000,
    body: (maxEventsPerBatch) => webhook({ maxEventsPerBatch }),
  },
  {
    what: 'A11: kilobytes of a batch',
    field: 'properties.destination.properties.preferredBatchSizeInKilobytes',
    least: 1,
    most: 1_024,
    body: (preferredBatchSizeInKilobytes) => webhook({ preferredBatchSizeInKilobytes }),
  },
  {
    what: 'A20: headers',
    field: 'properties.destination.properties.deliveryAttributeMappings',
    most: 10,
    body: (count) =>
      webhook({ deliveryAttributeMappings: Array.from({ length: count }, (_, index) => header('v', `X-${index}`)) }),
  },
  {
    what: 'A20: bytes of a header',
    field: 'properties.destination.properties.deliveryAttributeMappings[0]',
    most: 4_096,
    body: (bytes) => webhook({ deliveryAttributeMappings: [header('v'.repeat(bytes))] }),
  },
  {
    what: 'advanced filters',
    field: 'properties.filter.advancedFilters[25]',
    most: 25,
    body: (count) => filters(times(count, { operatorType: 'IsNotNull', key: 'data.a' })),
  },
  {
    what: 'operands over all of them',
    field: 'properties.filter.advancedFilters[1].values',
    most: 25,
    body: (count) => filters([stringIn(times(13, 'a')), stringIn(times(count - 13, 'b'))]),
  },
  {
    what: 'characters of an operand',
    field: 'properties.filter.advancedFilters[0].values',
    most: 512,
    body: (length) => filters([stringIn(['a'.repeat(length)])]),
  },
  {
    what: 'characters of a key',
    field: 'properties.filter.advancedFilters[0].key',
    most: 512,
    body: (length) => filters([stringIn(['a'], 'k'.repeat(length))]),
  },
]

const problemsOf = (body: Json): readonly string[] => {
  const parsed = parseSubscription({ id: 'a', topics: ['orders'], properties: { ...webhook({}), ...body } })
  return parsed.kind === 'invalid' ? parsed.problems.map(({ message }) => message) : []
}

describe.each(limits)('$what', ({ field, least, most, body }) => {
  test('at the edge', () => {
    expect(problemsOf(body(most))).toEqual([])
    if (least !== undefined) expect(problemsOf(body(least))).toEqual([])
  })

  test('one beyond it is refused by name', () => {
    for (const amount of [most + 1, ...(least === undefined ? [] : [least - 1, -1, 1.5, NaN, most * 1e6])]) {
      const problems = problemsOf(body(amount))
      expect(problems, String(amount)).toEqual([expect.stringContaining(field)])
    }
  })
})
