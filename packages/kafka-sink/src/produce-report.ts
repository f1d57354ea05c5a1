import { oneLine } from '@barnabas/core'
import type { AttemptReport, KafkaSink, Outcome } from '@barnabas/core'
import type { ProduceResult } from '@barnabas/kafka'
import { missingText, sinkName } from './problem-of-sink.ts'

/**
 * What the answer to a record comes to (docs/delivery.md, "Outcomes"). One that the topic refuses for good counts as the
 * status that a webhook would answer, so that `neverOn` rules there too.
 */
export function reportOf(
  result: ProduceResult,
  sink: KafkaSink,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): AttemptReport {
  switch (result.kind) {
    case 'acknowledged':
      return { outcome: 'Delivered', error: null, status: null, responseBody: null, startedAt, endedAt }
    case 'refused': {
      const { code, message } = result
      if (code === 'NOT_AUTHORIZED') return noRequest(`sink: ${sinkName(sink)}: ${message}`, startedAt, endedAt)
      const isTooLarge = code === 'RECORD_TOO_LARGE'
      const refused = notAttempted(isTooLarge ? 'PayloadTooLarge' : 'BadRequest', message, startedAt, endedAt)
      return { ...refused, status: isTooLarge ? 413 : 400 }
    }
    case 'unavailable': {
      if (result.isMissing === true) return noRequest(missingText(sink), startedAt, endedAt)
      return notAttempted(outcomeOf[result.because ?? 'other'], result.message, startedAt, endedAt)
    }
    default:
      return result satisfies never
  }
}

const outcomeOf = {
  'time-out': 'TimedOut',
  name: 'ResolutionError',
  replicas: 'Busy',
  other: 'SocketError',
} as const satisfies Record<string, Outcome>

/** No attempt, for a reason that no retry can mend. */
export function noRequest(message: string, startedAt: number, endedAt = startedAt): AttemptReport {
  return { ...notAttempted('GenericError', message, startedAt, endedAt), isNoRequest: true }
}

export function notAttempted(outcome: Outcome, message: string, startedAt: number, endedAt = startedAt): AttemptReport {
  return { outcome, error: oneLine(message), status: null, responseBody: null, startedAt, endedAt }
}
