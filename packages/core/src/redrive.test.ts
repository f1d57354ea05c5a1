import { expect, test } from 'vitest'
import { deadLetterRecords } from './dead-letter.ts'
import { decodeRetryHeaders } from './delivery-headers.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RecordHeaders } from './record.ts'
import { planRedrive } from './redrive.ts'
import { tierPartition } from './tier-choice.ts'

const now = Date.parse('2026-12-01T08:00:00.000Z')
const source = { topic: 'orders', partition: 2, offset: 17 }
const state: DeliveryState = {
  subscriptionId: 'billing',
  generation: 5,
  source,
  publishTime: now - 86_400_000,
  attempts: 11,
  firstAttemptTime: now - 80_000_000,
  lastAttemptTime: now - 70_000_000,
  expiryTime: now - 1,
  lastOutcome: 'Busy',
  lastStatus: 503,
  lastError: 'busy',
  skips: 3,
  redrives: 0,
  hops: 14,
}
const binary = bytes({ ce_specversion: '1.0', ce_id: 'one', ce_source: '/s', ce_type: 't', 'x-own': 'kept' })
const structured = bytes({ 'content-type': 'application/cloudevents+json', ce_publishtime: 'of somebody else' })

function bytes(headers: Record<string, string>): RecordHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
}

function letter(headers: RecordHeaders, changes: Partial<DeliveryState> = {}) {
  const [record] = deadLetterRecords({
    topic: 'letters',
    key: Buffer.from('k'),
    value: Buffer.from([0xff, 0]),
    headers,
    state: { ...state, ...changes },
    reason: 'MaxDeliveryAttemptsExceeded',
    time: now - 60_000,
    destination: 'https://example.com/',
    responseBody: Buffer.from('no'),
  })
  return record
}

const options = {
  recipientOf: (id: string, generation: number) => (id === 'billing' && generation === 5 ? { id, generation } : null),
  redrivesMax: 5,
  to: { topic: 'barnabas.retry.now', partitions: 8 },
  now,
}

test('B8: begins at attempt 1 with a fresh schedule and time to live, counted, and keeps its first publication', () => {
  const planned = planRedrive(letter(binary), 'MaxDeliveryAttemptsExceeded', options)
  if (planned.kind !== 'redrive') throw new Error(planned.because)
  const { topic, partition, key, value, headers } = planned.record
  expect({ topic, partition }).toEqual({ topic: options.to.topic, partition: tierPartition('billing', source, 8) })
  expect([key, value]).toEqual([Buffer.from('k'), Buffer.from([0xff, 0])])
  expect(decodeRetryHeaders(headers)).toEqual({
    kind: 'state',
    dueAt: now,
    state: {
      subscriptionId: 'billing',
      generation: 5,
      source,
      publishTime: state.publishTime,
      attempts: 0,
      firstAttemptTime: null,
      lastAttemptTime: null,
      expiryTime: null,
      lastOutcome: null,
      lastStatus: null,
      lastError: null,
      skips: 0,
      redrives: 1,
      hops: 1,
    },
  })
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('barnabas-'))
  expect(Object.fromEntries(others)).toEqual(binary)
})

test('of a structured event nothing is taken away that the dead letter did not add', () => {
  const planned = planRedrive(letter(structured), 'MaxDeliveryAttemptsExceeded', options)
  if (planned.kind !== 'redrive') throw new Error(planned.because)
  const others = Object.entries(planned.record.headers).filter(([name]) => !name.startsWith('barnabas-'))
  expect(Object.fromEntries(others)).toEqual(structured)
})

test.each([
  [0, 'redrive'],
  [4, 'redrive'],
  [5, 'left'],
  [6, 'left'],
] as const)('what was sent again %i times is %s', (redrives, kind) => {
  const planned = planRedrive(letter(binary, { redrives }), 'MaxDeliveryAttemptsExceeded', options)
  expect(planned.kind).toBe(kind)
  if (planned.kind === 'left') expect(planned.because).toBe('too-many-redrives')
  else expect(planned.state.redrives).toBe(redrives + 1)
})

test('what has no subscription any more, no value or no whole headers stays where it is', () => {
  const reason = 'MaxDeliveryAttemptsExceeded'
  expect(planRedrive(letter(binary, { generation: 4 }), reason, options)).toMatchObject({
    because: 'subscription-gone',
  })
  expect(planRedrive(letter(binary), 'RecordTooLarge', options)).toEqual({
    kind: 'left',
    because: 'value-lost',
    detail: 'its value stands at orders/2/17 alone',
  })
  for (const name of [
    'barnabas-subscription',
    'barnabas-subscription-generation',
    'barnabas-publish-time',
    'barnabas-source-topic',
    'barnabas-source-partition',
    'barnabas-source-offset',
  ]) {
    const whole = letter(binary)
    const without = { ...whole, headers: { ...whole.headers, [name]: Buffer.from([0xff]) } }
    expect(planRedrive(without, reason, options)).toMatchObject({
      because: 'headers-damaged',
      detail: `it does not say ${name}`,
    })
  }
  // A count that cannot be read must not begin at 0 again.
  const uncounted = letter(binary, { redrives: 3 })
  expect(
    planRedrive(
      { ...uncounted, headers: { ...uncounted.headers, 'barnabas-redrives': Buffer.from('x') } },
      reason,
      options,
    ),
  ).toMatchObject({ because: 'headers-damaged', detail: 'it does not say barnabas-redrives' })
})
