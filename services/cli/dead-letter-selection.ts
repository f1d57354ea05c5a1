import { deadLetterReasons, nearestName, outcomes, parseDuration, parseRfc3339, topicNameProblem } from '@barnabas/core'
import type { Command } from 'commander'
import type { DeadLetterRecord } from './dead-letter-record.ts'
import { usageError } from './refusal.ts'

/** Which dead letters are meant: those that are all of what is said. `list`, `redrive` and `export` have the same. */
export interface DeadLetterSelection {
  readonly subscription: string | null
  readonly reason: string | null
  readonly outcome: string | null
  readonly eventId: string | null
  readonly source: { readonly topic: string; readonly partition: number | null; readonly offset: number | null } | null
  /** Times at which they became dead letters, ms since the epoch: from `since` on, before `until`. */
  readonly since: number | null
  readonly until: number | null
}

/** As the command line has them. */
export interface SelectionOptions {
  readonly subscription?: string
  readonly reason?: string
  readonly outcome?: string
  readonly eventId?: string
  readonly source?: string
  readonly since?: string
  readonly until?: string
  readonly topic?: string
}

export function addSelectionOptions(command: Command): Command {
  return command
    .option('--subscription <id>', 'only those of this subscription')
    .option('--reason <reason>', 'only those with this reason, for example MaxDeliveryAttemptsExceeded')
    .option('--outcome <outcome>', 'only those whose last outcome it was, for example Busy')
    .option('--event-id <id>', 'only those of the event with this id')
    .option('--source <position>', 'only those from TOPIC, TOPIC/PARTITION or TOPIC/PARTITION/OFFSET')
    .option('--since <time>', 'only those from this time on: 2026-12-01T08:00:00Z, or 2h for two hours ago')
    .option('--until <time>', 'only those before this time')
    .option('--topic <topic>', 'only those in this dead-letter topic (default: all that subscriptions name)')
}

/** Throws a `Refusal` (2) that names the option, what was said and what is possible. `now`: ms since the epoch. */
export function readSelection(options: SelectionOptions, now: number): DeadLetterSelection {
  const { subscription = null, reason, outcome, eventId = null, source, since, until, topic } = options
  const topicProblem = topic === undefined ? null : topicNameProblem(topic)
  if (topicProblem !== null) throw usageError(`--topic: ${JSON.stringify(topic)} is not a topic: it ${topicProblem}`)
  const selection = {
    subscription,
    reason: reason === undefined ? null : oneOf('--reason', reason, deadLetterReasons),
    outcome: outcome === undefined ? null : oneOf('--outcome', outcome, outcomes),
    eventId,
    source: source === undefined ? null : sourceOf(source),
    since: since === undefined ? null : timeOf('--since', since, now),
    until: until === undefined ? null : timeOf('--until', until, now),
  }
  if (selection.since !== null && selection.until !== null && selection.since >= selection.until) {
    throw usageError(`--since ${since} is not before --until ${until}`)
  }
  return selection
}

/** What was said, by option: for the record of what operators did. */
export function selectionText(options: SelectionOptions): Readonly<Record<string, string>> {
  const { reason, outcome, eventId, source, since, until, topic } = options
  const said = { reason, outcome, eventId, source, since, until, topic }
  return Object.fromEntries(
    Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value.slice(0, 1_000)]])),
  )
}

export function selectsAll(selection: DeadLetterSelection): boolean {
  return Object.values(selection).every((value) => value === null)
}

export function isSelected(letter: DeadLetterRecord, selection: DeadLetterSelection): boolean {
  const { subscription, reason, outcome, eventId, source, since, until } = selection
  if (subscription !== null && letter.subscription !== subscription) return false
  if (reason !== null && letter.reason !== reason) return false
  if (outcome !== null && letter.lastOutcome !== outcome) return false
  if (source !== null) {
    if (letter.source.topic !== source.topic) return false
    if (source.partition !== null && letter.source.partition !== source.partition) return false
    if (source.offset !== null && letter.source.offset !== source.offset) return false
  }
  if (eventId !== null && letter.event?.attributes.get('id') !== eventId) return false
  if (since === null && until === null) return true
  const time = Date.parse(letter.time)
  // A time that cannot be read is in no span.
  if (Number.isNaN(time)) return false
  return (since === null || time >= since) && (until === null || time < until)
}

/** That there is none, for a person. */
export function noneText(options: SelectionOptions, topics: readonly string[]): string {
  const { subscription, topic: _topic, ...others } = options
  const isNarrower = ['reason', 'outcome', 'eventId', 'source', 'since', 'until'].some((name) => name in others)
  const which = isNarrower ? ' that are selected' : ''
  return `no dead letters${subscription === undefined ? '' : ` of ${subscription}`}${which} in ${topics.join(', ')}`
}

function oneOf(option: string, value: string, known: readonly string[]): string {
  if (known.includes(value)) return value
  const nearest = nearestName(value, known)
  const hint = nearest === null ? `write one of ${known.join(', ')}` : `did you mean ${nearest}?`
  throw usageError(`${option}: ${JSON.stringify(value)} is none; ${hint}`)
}

function sourceOf(text: string): NonNullable<DeadLetterSelection['source']> {
  const match = /^([^/]+)(?:\/(\d{1,9})(?:\/(\d{1,15}))?)?$/.exec(text)
  if (match === null || topicNameProblem(match[1]!) !== null) {
    throw usageError(`--source: ${JSON.stringify(text)} is neither TOPIC, TOPIC/PARTITION nor TOPIC/PARTITION/OFFSET`)
  }
  const number = (digits: string | undefined) => (digits === undefined ? null : Number(digits))
  return { topic: match[1]!, partition: number(match[2]), offset: number(match[3]) }
}

/** RFC 3339, a day, or how long ago. */
function timeOf(option: string, text: string, now: number): number {
  const time = parseRfc3339(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text.toUpperCase())
  if (time !== undefined) return time
  const agoMs = parseDuration(text)
  if (agoMs !== null) return now - agoMs
  throw usageError(
    `${option}: ${JSON.stringify(text)} is no time; write 2026-12-01T08:00:00Z, 2026-12-01 (midnight UTC), or 2h for two hours ago`,
  )
}
