import type { ProduceResult } from '@barnabas/kafka'
import { expect, test } from 'vitest'
import { reportOf } from './produce-report.ts'

const sink = { cluster: 'audit', topic: 'copies' }

test.each<[result: ProduceResult, outcome: string, status: number | null, isNoRequest?: true]>([
  [{ kind: 'acknowledged', partition: 1, offset: 5 }, 'Delivered', null],
  [{ kind: 'refused', code: 'RECORD_TOO_LARGE', message: 'large' }, 'PayloadTooLarge', 413],
  [{ kind: 'refused', code: 'INVALID', message: 'no key' }, 'BadRequest', 400],
  [{ kind: 'refused', code: 'NOT_AUTHORIZED', message: 'no' }, 'GenericError', null, true],
  [{ kind: 'unavailable', message: 'x', isMissing: true }, 'GenericError', null, true],
  [{ kind: 'unavailable', message: 'x', because: 'time-out' }, 'TimedOut', null],
  [{ kind: 'unavailable', message: 'x', because: 'name' }, 'ResolutionError', null],
  [{ kind: 'unavailable', message: 'x', because: 'replicas' }, 'Busy', null],
  [{ kind: 'unavailable', message: 'connect ECONNREFUSED' }, 'SocketError', null],
])('B3: %j comes to %s', (result, outcome, status, isNoRequest) => {
  const report = reportOf(result, sink, { startedAt: 1, endedAt: 2 })
  expect(report).toMatchObject({ outcome, status, startedAt: 1, endedAt: 2 })
  expect(report.isNoRequest).toBe(isNoRequest)
  if (isNoRequest === true) expect(report.error).toMatch(/^sink: topic copies of the cluster audit/)
})
