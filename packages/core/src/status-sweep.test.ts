/** Every status from 100 to 599, for every preset, endpoint and notation: rows A3, A4, A16, A18, A19, C2. */
import { expect, test } from 'vitest'
import { outcomeOfStatus } from './outcome.ts'
import { retryPolicyOf } from './retry-policy.ts'
import type { RetrySpec } from './retry-policy.ts'
import { verdictAfterAttempt } from './verdict.ts'

const handling = { faultTolerance: 'allowed', deadLettering: true, order: 'none' } as const
const list = { delaysMs: [1_000, 2_000], repeatLast: false }
const reasons: Readonly<Record<number, string>> = {
  400: 'UndeliverableDueToHttpBadRequest',
  401: 'UndeliverableDueToHttpUnauthorized',
  403: 'UndeliverableDueToHttpForbidden',
  410: 'UndeliverableDueToHttpGone',
  413: 'UndeliverableDueToHttpRequestEntityTooLarge',
}
const webhookWaits = { 408: 120, 503: 30 }
const azureWaits = { 401: 300, 404: 300, 408: 120, 503: 30 }

interface Expected {
  readonly spec: RetrySpec
  readonly never: readonly number[]
  /** Seconds until the first retry, and those after some statuses. */
  readonly waits: number
  readonly longer?: Readonly<Record<number, number>>
}

const grid = { schedule: 'event-grid' } as const
const table: readonly (Expected & { readonly title: string })[] = [
  { title: 'event-grid', spec: grid, never: [400, 401, 403, 410, 413], waits: 10, longer: webhookWaits },
  {
    title: 'event-grid to an Azure resource endpoint',
    spec: { ...grid, endpoint: 'azure' },
    never: [400, 403, 410, 413],
    waits: 10,
    longer: azureWaits,
  },
  {
    title: 'event-grid in its own notation, which retries 410',
    spec: { ...grid, notation: 'event-grid' },
    never: [400, 401, 403, 413],
    waits: 10,
    longer: webhookWaits,
  },
  {
    title: 'event-grid in its own notation to an Azure resource endpoint',
    spec: { ...grid, notation: 'event-grid', endpoint: 'azure' },
    never: [400, 403, 413],
    waits: 10,
    longer: azureWaits,
  },
  {
    title: 'event-grid that retries everything',
    spec: { ...grid, neverOn: [] },
    never: [],
    waits: 10,
    longer: webhookWaits,
  },
  { title: 'event-grid-kubernetes', spec: { schedule: 'event-grid-kubernetes' }, never: [], waits: 60 },
  {
    title: 'event-grid-kubernetes to an Azure resource endpoint',
    spec: { schedule: 'event-grid-kubernetes', notation: 'event-grid-kubernetes', endpoint: 'azure' },
    never: [],
    waits: 60,
  },
  { title: 'backoff', spec: { schedule: 'backoff' }, never: [], waits: 10 },
  { title: 'exponential-decay', spec: { schedule: 'exponential-decay' }, never: [], waits: 1 },
  { title: 'a list', spec: { schedule: list }, never: [400, 401, 403, 410, 413], waits: 1 },
  {
    title: 'a list to an Azure resource endpoint',
    spec: { schedule: list, endpoint: 'azure' },
    never: [400, 403, 410, 413],
    waits: 1,
  },
]

test.each(table)('$title', ({ spec, never, waits, longer = {} }) => {
  const policy = retryPolicyOf(spec, 1)
  for (let status = 100; status <= 599; status += 1) {
    const outcome = outcomeOfStatus(status)
    const result = { outcome, status, error: null, responseBody: null, startedAt: 0, endedAt: 0 }
    const verdict = verdictAfterAttempt(result, 1, policy, handling, 0)
    const isSuccess = status >= 200 && status <= 204
    const expected = isSuccess
      ? { kind: 'done' }
      : never.includes(status)
        ? { kind: 'dead-letter', reason: reasons[status] }
        : { kind: 'retry', dueAt: (longer[status] ?? waits) * 1_000 }
    expect({ status, ...verdict }).toEqual({ status, ...expected })
    expect(outcome === 'Delivered', String(status)).toBe(isSuccess)
  }
})
