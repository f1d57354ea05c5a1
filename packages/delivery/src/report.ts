import { rfc3339 } from '@barnabas/core'
import type { DeliveryReport } from './deliver.ts'
import type { Logger } from './logger.ts'

/** What is counted of deliveries (row A21). */
export interface DeliveryCounts {
  attempt(attempt: { readonly subscription: string; readonly outcome: string; readonly durationMs: number }): void
  /** With the first attempt of an event. */
  matched(subscription: string): void
  verdict(subscription: string, verdict: string): void
  /** A retry that was not made, for a success had come after the deadline. */
  withdrawn(subscription: string): void
  /** It waits for its next attempt. */
  parked(subscription: string, publishTime: number, dueAt: number): void
  deadLettered(subscription: string, reason: string): void
  dropped(subscription: string, reason: string): void
  late(latenessMs: number): void
}

const unknownSubscription = '(unknown)'

/**
 * Tells of each delivery once: one wide log line (a success at debug, all else at info) and the counts.
 * The lines of some subscriptions may be left to somebody else, who tells them to people.
 */
export function createReporter(
  logger: Logger,
  counts: DeliveryCounts,
  isToldElsewhere: (subscriptionId: string) => boolean = () => false,
): (report: DeliveryReport) => void {
  return function report(delivery) {
    const { verdict, result, state, latenessMs } = delivery
    const subscription = state.subscriptionId ?? unknownSubscription
    if (result !== null) {
      counts.attempt({ subscription, outcome: result.outcome, durationMs: result.endedAt - result.startedAt })
      if (state.attempts === 1) counts.matched(subscription)
    }
    // It was let through, and would have been attempted.
    const isInvalid = 'reason' in verdict && verdict.reason === 'DestinationInvalid'
    if (isInvalid && state.attempts === 0) counts.matched(subscription)
    if (latenessMs !== null) counts.late(latenessMs)
    counts.verdict(subscription, verdict.kind)
    if (verdict.kind === 'dead-letter') counts.deadLettered(subscription, verdict.reason)
    if (verdict.kind === 'drop') counts.dropped(subscription, verdict.reason)
    if (verdict.kind === 'done' && result === null) counts.withdrawn(subscription)
    if ((verdict.kind === 'retry' || verdict.kind === 'park') && state.publishTime !== undefined) {
      counts.parked(subscription, state.publishTime, verdict.dueAt)
    }

    if (isToldElsewhere(subscription)) return
    const isWaiting = (verdict.kind === 'park' && result === null) || verdict.kind === 'hold'
    const level = verdict.kind === 'done' || isWaiting ? 'debug' : 'info'
    // Most deliveries are successes and most loggers leave out debug: then the line is not even put together.
    if (logger.isLevelEnabled?.(level) ?? true)
      logger[level](fieldsOf(delivery), `${subscription}: ${sentenceOf(delivery)}`)
  }
}

/** The fields of the log line, named as the headers are. */
function fieldsOf({ state, event, result, verdict, latenessMs }: DeliveryReport): Record<string, unknown> {
  return {
    subscription: state.subscriptionId,
    eventId: event?.attributes.get('id'),
    eventSource: event?.attributes.get('source'),
    eventType: event?.attributes.get('type'),
    sourceTopic: state.source?.topic,
    sourcePartition: state.source?.partition,
    sourceOffset: state.source?.offset,
    attempts: state.attempts,
    outcome: result?.outcome ?? state.lastOutcome ?? undefined,
    status: result?.status ?? undefined,
    durationMs: result === null ? undefined : result.endedAt - result.startedAt,
    latenessMs: latenessMs ?? undefined,
    verdict: verdict.kind,
    dueTime: 'dueAt' in verdict ? rfc3339(verdict.dueAt) : undefined,
    reason: 'reason' in verdict ? verdict.reason : undefined,
    error: state.lastError ?? undefined,
  }
}

/** The line's sentence for a person: "attempt 2: Busy (503), next attempt at 2026-11-30T12:00:30.000Z". */
export function sentenceOf({ state, result, verdict }: DeliveryReport): string {
  const status = result?.status === null || result === null ? '' : ` (${result.status})`
  const attempt = result === null ? '' : `attempt ${state.attempts}: ${result.outcome}${status}, `
  switch (verdict.kind) {
    case 'done':
      if (result === null) return `attempt ${state.attempts}: Delivered after its deadline, no more attempts`
      return `attempt ${state.attempts}: ${result.outcome}${status}`
    case 'retry':
    case 'retry-in-place':
      return `${attempt}next attempt at ${rfc3339(verdict.dueAt)}`
    case 'park':
      return `${attempt}waits until ${rfc3339(verdict.dueAt)}`
    case 'hold':
      return `due, and waits ${heldFor[verdict.because]}`
    case 'dead-letter':
      return `${attempt}dead letter: ${verdict.reason}`
    case 'drop':
      return `${attempt}dropped: ${verdict.reason}`
    case 'block':
      return `${attempt}blocked: ${verdict.reason}`
    default:
      return verdict satisfies never
  }
}

const heldFor = {
  stopped: 'until its subscription goes on',
  rate: 'for its turn in the rate',
  'window-full': 'for a place in the window',
} as const
