import { destinationForDisplay, formatDuration, placeText, rfc3339 } from '@barnabas/core'
import type { StatusRecord, Subscription, WrittenSubscription } from '@barnabas/core'
import type { PartitionProgress } from '../group-progress.ts'
import { fields } from './fields.ts'
import { printable } from './printable.ts'
import { rateText, shownRate } from './rate.ts'
import { delaysText, limitsText } from './retry.ts'
import { grouped } from './sent.ts'
import type { ShownSubscription } from './subscription.ts'
import { statusWord, subscriptionJson } from './subscription.ts'
import { table } from './table.ts'

/** Everything known about one subscription. */
export interface Description {
  readonly shown: ShownSubscription
  readonly group: string
  readonly progress: readonly PartitionProgress[]
  /** Due retries that may not be attempted now. */
  readonly held: number
  /** Records in the topic that its dead letters go to, those of others included; null when there is no such topic. */
  readonly deadLetterRecords: number | null
}

export function descriptionText(description: Description): string {
  const { shown, group, progress, held, deadLetterRecords } = description
  const { id, stored, status } = shown
  const life = stored.life
  const head: (readonly [string, string])[] = [
    ['id', id],
    ['status', statusText(statusWord(stored, status), status)],
    ['revision', life === null ? '' : `${life.revision}, created ${rfc3339(life.generation)}`],
  ]
  const heldField = ['held', `${grouped(held)} due retries wait for their turn`] as const
  const skipped = status?.skippedOffsets ?? 0
  const skippedField = ['skipped', `${grouped(skipped)} offsets were gone before they could be read`] as const
  const parked = status?.parked ?? 0
  const parkedField = ['parked', `${grouped(parked)} events wait for a retry`] as const
  const waiting = [
    ...probationFields(status),
    ...(parked > 0 ? [parkedField] : []),
    ...(held > 0 ? [heldField] : []),
    ...(skipped > 0 ? [skippedField] : []),
  ]
  const parts = [
    stored.kind === 'valid'
      ? fields([
          ...head,
          ...resolvedFields(stored.subscription, stored.written, status),
          ['dead letters', deadLetterText(stored.subscription, deadLetterRecords)],
          ...waiting,
          ['group', group],
        ])
      : fields([
          ...head,
          ['problems', stored.problems.map(({ message }) => message).join('\n')],
          ...waiting,
          ['group', group],
        ]),
  ]
  if (status !== null && status.blocked.length > 0) parts.push(blockedTable(status))
  if (progress.length > 0) parts.push(progressTable(progress))
  if (status !== null && status.history.length > 0) parts.push(historyTable(status))
  return parts.join('\n\n')
}

function probationFields(status: StatusRecord | null): (readonly [string, string])[] {
  if (status?.probation == null) return []
  const { cause, since, until } = status.probation
  const isOver = Date.parse(until) <= Date.now()
  const end = isOver
    ? `over since ${until}; the next attempt is a trial`
    : `until ${until}; until then nothing is attempted`
  return [['probation', `because of ${cause}, since ${since}, ${end}`]]
}

export function descriptionJson({ shown, group, progress, held, deadLetterRecords }: Description): unknown {
  const valid = shown.stored.kind === 'valid' ? shown.stored.subscription : null
  return {
    ...subscriptionJson(shown),
    resolved: valid === null ? null : { ...resolvedJson(valid), ratePerMinute: shownRate(valid, shown.status) },
    group,
    partitions: progress,
    held,
    deadLetters: valid?.deadLetter ? { ...valid.deadLetter, records: deadLetterRecords } : null,
  }
}

function resolvedFields(
  subscription: Subscription,
  written: WrittenSubscription,
  status: StatusRecord | null,
): (readonly [string, string])[] {
  const { topics, sink, types, filters, mode, timeoutMs, concurrency, retry } = subscription
  const neverOn = [...retry.neverOn].toSorted((one, other) => one - other)
  return [
    ['notation', subscription.notation],
    ['topics', topics.join(', ')],
    ['sink', destinationForDisplay(sink)],
    ['from', written.from ?? 'latest'],
    ['types', types.length === 0 ? 'all' : types.join(', ')],
    ['filters', filters.length === 0 ? 'none' : filters.map((filter) => JSON.stringify(filter)).join('\n')],
    ['mode', mode],
    ['timeout', `${formatDuration(timeoutMs)} for one attempt`],
    ['concurrency', `${concurrency} attempts in flight, per process`],
    ['rate', rateText(shownRate(subscription, status), written.rate)],
    ['order', subscription.order === undefined ? 'none' : `one after the other within a ${subscription.order}`],
    ['schedule', `${retry.schedule}: ${delaysText(retry)}`],
    ['minimum waits', minimumWaitsText(retry)],
    ['ends after', limitsText(retry)],
    ['when exhausted', exhaustedText(subscription)],
    ['never retried', neverOn.length === 0 ? 'no status' : neverOn.join(', ')],
  ]
}

function exhaustedText({ faultTolerance, deadLetter }: Subscription): string {
  if (faultTolerance === 'prohibited') return 'stops at the event until somebody resolves it (prohibited)'
  return `goes on, and the event ${deadLetter === null ? 'is discarded' : 'becomes a dead letter'} (allowed)`
}

function minimumWaitsText({ minimumWaits, endpoint }: Subscription['retry']): string {
  if (!minimumWaits) return 'none'
  return `by status, as Event Grid has them${endpoint === 'azure' ? ' for Azure resource endpoints' : ''}`
}

function resolvedJson({ retry, ...subscription }: Subscription) {
  const { timeoutMs, concurrency, mode, types, filters, faultTolerance = 'allowed', order = 'none' } = subscription
  const { maxAttempts, neverOn } = retry
  const unlimited = maxAttempts === Number.MAX_SAFE_INTEGER
  return {
    timeoutMs,
    concurrency,
    mode,
    types,
    filters,
    faultTolerance,
    order,
    retry: {
      schedule: retry.schedule,
      delays: retry.delays,
      repeatLast: retry.repeatLast,
      maxAttempts: unlimited ? null : maxAttempts,
      timeToLiveMs: retry.timeToLiveMs,
      neverOn: [...neverOn].toSorted((one, other) => one - other),
      minimumWaits: retry.minimumWaits,
      endpoint: retry.endpoint,
    },
  }
}

function statusText(word: string, status: StatusRecord | null): string {
  if (status === null) return `${word}: no dispatcher has answered yet`
  return `${word} since ${status.since}${status.reason === '' ? '' : `: ${status.reason}`}`
}

function deadLetterText({ deadLetter }: Subscription, records: number | null): string {
  if (deadLetter === null) return 'none: exhausted events are discarded and counted'
  const bodies = deadLetter.responseBody ? '' : '; without response bodies'
  if (records === null) return `to ${deadLetter.topic}, which does not exist yet${bodies}`
  return `to ${deadLetter.topic}, which holds ${grouped(records)}, those of other subscriptions included${bodies}`
}

function progressTable(progress: readonly PartitionProgress[]): string {
  return table(
    ['PARTITION', 'COMMITTED', 'END', 'LAG'],
    progress.map(({ topic, partition, committed, end, lag }) => [
      `${topic}/${partition}`,
      committed === null ? '' : String(committed),
      String(end),
      String(lag),
    ]),
  )
}

function blockedTable({ blocked }: StatusRecord): string {
  return table(
    ['BLOCKED AT', 'EVENT', 'ATTEMPTS', 'LAST OUTCOME', 'SINCE'],
    blocked.map((each) => [
      placeText(each),
      printable(each.eventId ?? ''),
      String(each.attempts),
      each.lastOutcome ?? '',
      each.since,
    ]),
  )
}

function historyTable({ history }: StatusRecord): string {
  return table(
    ['TIME', 'FROM', 'TO', 'REASON'],
    history.map(({ time, from, to, reason }) => [time, from ?? '', to, reason]),
  )
}
