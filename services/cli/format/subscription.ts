import { destinationForDisplay } from '@barnabas/core'
import type { StatusRecord, StoredSubscription, WrittenSubscription } from '@barnabas/core'
import { stringify } from 'yaml'
import { age } from './age.ts'
import { printable } from './printable.ts'
import { table } from './table.ts'

/** One subscription as the topics tell it. */
export interface ShownSubscription {
  readonly id: string
  readonly stored: Exclude<StoredSubscription, { kind: 'absent' }>
  readonly status: StatusRecord | null
}

/** The columns of the table, and one subscription's cells in them. */
export interface SubscriptionColumns {
  readonly header: readonly string[]
  readonly row: (subscription: ShownSubscription, now: number) => readonly string[]
}

/** The notation is told where a subscription is written in another one than ours. */
export function subscriptionColumns(subscriptions: readonly ShownSubscription[]): SubscriptionColumns {
  const withNotation = subscriptions.some((each) => !['', 'barnabas'].includes(notationOf(each)))
  return {
    header: ['ID', 'STATUS', 'TOPICS', 'SINK', 'SCHEDULE', ...(withNotation ? ['NOTATION'] : []), 'AGE', 'REVISION'],
    row: (each, now) => subscriptionRow(each, now, withNotation),
  }
}

export function subscriptionTable(subscriptions: readonly ShownSubscription[], now: number): string {
  const { header, row } = subscriptionColumns(subscriptions)
  return table(
    header,
    subscriptions.map((each) => row(each, now)),
  )
}

function notationOf({ stored }: ShownSubscription): string {
  return stored.kind === 'valid' ? stored.subscription.notation : ''
}

/** The sink without its secrets; of a subscription that does not validate what is known. */
function subscriptionRow(shown: ShownSubscription, now: number, withNotation: boolean): readonly string[] {
  const { id, stored, status } = shown
  const valid = stored.kind === 'valid' ? stored : null
  return [
    id,
    statusWord(stored, status),
    valid?.written.topics.join(',') ?? '',
    valid === null ? '' : destinationForDisplay(valid.written.sink),
    valid === null ? '' : scheduleText(valid.written),
    ...(withNotation ? [notationOf(shown)] : []),
    stored.life === null ? '' : age(stored.life.generation, now),
    stored.life === null ? '' : String(stored.life.revision),
  ]
}

/** The present status, or that no dispatcher has seen this revision yet. */
export function statusWord(stored: ShownSubscription['stored'], status: StatusRecord | null): string {
  if (status !== null && isOfThisLife(stored, status)) {
    return status.revision < (stored.life?.revision ?? 0)
      ? `${status.status} (revision ${status.revision})`
      : status.status
  }
  return stored.kind === 'invalid' ? 'Invalid' : 'Unknown'
}

function isOfThisLife({ life }: ShownSubscription['stored'], status: StatusRecord): boolean {
  return life === null || status.generation === life.generation
}

export function scheduleText({ retry }: WrittenSubscription): string {
  const { schedule = 'event-grid' } = retry ?? {}
  return typeof schedule === 'string' ? schedule : `[${schedule.join(', ')}]`
}

/** The stored record, and its status beside it. What does not validate shows its problems instead of its fields. */
export function subscriptionJson({ id, stored, status }: ShownSubscription): Readonly<Record<string, unknown>> {
  if (stored.kind === 'valid') return { ...stored.written, ...stored.life, status }
  return { id, ...stored.life, problems: stored.problems.map(({ message }) => message), status }
}

/** What a person wrote and which revision it is: `apply` takes it again. */
export function subscriptionYaml({ id, stored }: ShownSubscription): string {
  if (stored.kind === 'valid') {
    const value = { ...stored.written, revision: stored.life.revision }
    const text = stringify(value, { lineWidth: 0 })
    // In double quotes an escape of what a terminal must not see means the same.
    const isPlain = printable(text) === text
    return (isPlain ? text : printable(stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }))).trimEnd()
  }
  const reasons = stored.problems.flatMap(({ message }) => message.split('\n').map((line) => `#   ${line}`))
  return [`# ${JSON.stringify(id)} does not validate:`, ...reasons].join('\n')
}
