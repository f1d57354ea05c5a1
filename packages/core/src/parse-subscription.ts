import type { ApiDestinations } from './api-destinations.ts'
import { eventTypeDefault } from './custom-event.ts'
import { parseDeadLetterTarget } from './dead-letter-target.ts'
import { parseDuration } from './duration.ts'
import { isEventGrid } from './event-grid-envelope.ts'
import { translateEventGrid } from './event-grid-notation.ts'
import { isEventBridge, translateEventBridge } from './eventbridge-notation.ts'
import { atOrigin } from './notation-place.ts'
import type { Origin } from './notation-place.ts'
import { names } from './names.ts'
import { probationPolicyOf } from './probation-policy.ts'
import { rateOf } from './rate.ts'
import { retryPolicyOf, withEventGridDefaults } from './retry-policy.ts'
import type { EventGridDefaults } from './retry-policy.ts'
import type { Subscription } from './subscription.ts'
import type { SubscriptionProblem } from './subscription-field.ts'
import { isMapping, problemAt, problemsOfIssue, shown } from './subscription-field.ts'
import { batchOf, batchWarnings, problemsOfOrder } from './subscription-batch.ts'
import { problemsOfHandshake } from './subscription-handshake.ts'
import { deliveryAttributesOf, warningsAboutHeaders } from './subscription-headers.ts'
import { probationSpecOf } from './subscription-probation.ts'
import type { KafkaClusters } from './kafka-clusters.ts'
import { problemsOfKafkaSink } from './kafka-sink.ts'
import { problemsOfTransform, transformOf } from './subscription-transform.ts'
import { retrySpecOf } from './subscription-schedule.ts'
import { problemsOfSchemas, schemasOfWritten, warningsAboutSchemas } from './subscription-schemas.ts'
import type { WrittenSubscription } from './subscription-schema.ts'
import { knownFields, subscriptionSchema } from './subscription-schema.ts'

export interface ParseOptions {
  /** `BARNABAS_PREFIX`; decides the default dead-letter topic and which topics are Barnabas's own. */
  readonly prefix?: string
  /** `BARNABAS_TIME_SCALE`: multiplies every duration. Limits are those of what was written. */
  readonly timeScale?: number
  /** `BARNABAS_EVENT_GRID_…`: what Event Grid's notations fall to. Those of the schedules when absent. */
  readonly eventGrid?: EventGridDefaults
  /** `KAFKA_BROKERS`, which a document in EventBridge's notation may name. */
  readonly brokers?: readonly string[] | null
  /** `BARNABAS_CLUSTERS_FILE`, of which it may name the brokers. */
  readonly clusters?: KafkaClusters | null
  /** `BARNABAS_DESTINATIONS_FILE`, of which it may name an entry. */
  readonly destinations?: ApiDestinations | null
  /** Unknown fields are a person's mistake in a file, and a newer version's work in the topic. Default: refuse. */
  readonly unknownFields?: 'refuse' | 'ignore-with-warning'
}

export interface InvalidSubscription {
  readonly kind: 'invalid'
  readonly problems: readonly SubscriptionProblem[]
}

/** What was written and what it means. */
export interface ReadSubscription {
  readonly kind: 'valid'
  /** Without its life (generation 0, revision 0, no start offsets) unless it comes from the topic. */
  readonly subscription: Subscription
  readonly written: WrittenSubscription
  readonly warnings: readonly string[]
  /** Where its fields stand in the document, if that is in Event Grid's notation (`problemOf`). */
  readonly origins: readonly Origin[]
}

export interface ValidSubscription extends ReadSubscription {
  /** The revision that the file was taken from: if it is not the present one, somebody else changed it. */
  readonly expected: ExpectedRevision | null
}

export interface ExpectedRevision {
  readonly revision: number
  /** null when the file names none. */
  readonly generation: number | null
}

/**
 * Reads a subscription as a person wrote it (YAML or JSON, already an object), in our notation, in Event Grid's or in
 * EventBridge's. `generation`, `revision`,
 * `startOffsets`, `createdPausedBy` and `status`, which `barnabas get` prints, are accepted: the first two say what the file was taken
 * from, the others are dropped. Never throws, whatever the input.
 */
export function parseSubscription(input: unknown, options: ParseOptions = {}): ValidSubscription | InvalidSubscription {
  if (!isMapping(input)) return { kind: 'invalid', problems: [problemAt([], `${shown(input)} is not a mapping`)] }
  const { generation, revision, startOffsets: _offsets, createdPausedBy: _by, status: _status, ...fields } = input
  const problems: SubscriptionProblem[] = []
  if (revision !== undefined && !isPositive(revision)) {
    problems.push(problemAt(['revision'], `${shown(revision)} is not a revision; leave it out, or as get wrote it`))
  }
  if (generation !== undefined && !isPositive(generation)) {
    problems.push(problemAt(['generation'], `${shown(generation)} is not a generation; leave it out`))
  }
  const read = readSubscription(fields, options)
  if (read.kind === 'invalid') return { kind: 'invalid', problems: [...problems, ...read.problems] }
  if (problems.length > 0) return { kind: 'invalid', problems }
  const expected = isPositive(revision) ? { revision, generation: isPositive(generation) ? generation : null } : null
  return { ...read, expected }
}

/** What is wrong with a field of a subscription beyond its text, where it stands and as it is called in its document. */
export function problemOf(
  { origins }: Pick<ReadSubscription, 'origins'>,
  field: string,
  message: string,
): SubscriptionProblem {
  return atOrigin(problemAt([field], message), origins)
}

/** The common part of file and topic: the fields that a person writes. */
export function readSubscription(
  fields: Readonly<Record<string, unknown>>,
  options: ParseOptions,
): ReadSubscription | InvalidSubscription {
  const translation = isEventBridge(fields)
    ? translateEventBridge(fields, {
        brokers: options.brokers ?? null,
        clusters: options.clusters ?? null,
        destinations: options.destinations ?? null,
      })
    : isEventGrid(fields)
      ? translateEventGrid(fields)
      : null
  if (translation === null) return readOwnNotation(fields, options)
  if (translation.kind === 'invalid') return translation
  const read = readOwnNotation(translation.fields, options)
  if (read.kind === 'valid') {
    return { ...read, origins: translation.origins, warnings: [...translation.warnings, ...read.warnings] }
  }
  return { kind: 'invalid', problems: read.problems.map((problem) => atOrigin(problem, translation.origins)) }
}

function readOwnNotation(
  fields: Readonly<Record<string, unknown>>,
  options: ParseOptions,
): ReadSubscription | InvalidSubscription {
  const parsed = parseFields(fields, options.unknownFields ?? 'refuse')
  if (parsed.kind === 'invalid') return parsed
  const resolved = resolve(parsed.written, options)
  if (resolved.kind === 'invalid') return resolved
  return { ...resolved, written: parsed.written, origins: [], warnings: [...parsed.warnings, ...resolved.warnings] }
}

type ParsedFields =
  | { readonly kind: 'valid'; readonly written: WrittenSubscription; readonly warnings: readonly string[] }
  | InvalidSubscription

function parseFields(
  fields: Readonly<Record<string, unknown>>,
  unknownFields: 'refuse' | 'ignore-with-warning',
): ParsedFields {
  const parsed = subscriptionSchema.safeParse(fields)
  if (parsed.success) return { kind: 'valid', written: parsed.data, warnings: [] }
  const problems: SubscriptionProblem[] = []
  const unknown: SubscriptionProblem[] = []
  for (const issue of parsed.error.issues) {
    const found = problemsOfIssue(issue, knownFields).map(({ path, message }) => problemAt(path, message))
    if (issue.code === 'unrecognized_keys') unknown.push(...found)
    else problems.push(...found)
  }
  if (unknownFields === 'refuse' || unknown.length === 0)
    return { kind: 'invalid', problems: [...problems, ...unknown] }
  // Whatever else is wrong is found again.
  const known = parseFields(without(fields, unknown), 'refuse')
  return known.kind === 'invalid'
    ? known
    : { ...known, warnings: unknown.map(({ message }) => `${message}; it is ignored`) }
}

/** The mapping without the fields that the problems name. */
function without(
  fields: Readonly<Record<string, unknown>>,
  unknown: readonly SubscriptionProblem[],
): Readonly<Record<string, unknown>> {
  const drop = (value: unknown, path: readonly (string | number)[]): unknown => {
    const below = unknown.filter((each) => path.every((step, index) => each.path[index] === step))
    // No deeper than they stand: what anybody wrote may be nested without end.
    if (below.length === 0 || !isMapping(value)) return value
    const unknownNames = new Set(
      below.map((each) => (each.path.length === path.length + 1 ? each.path[path.length] : undefined)),
    )
    const kept = Object.entries(value).filter(([name]) => !unknownNames.has(name))
    return Object.fromEntries(kept.map(([name, each]) => [name, drop(each, [...path, name])]))
  }
  return drop(fields, []) as Readonly<Record<string, unknown>>
}

type Resolved =
  | { readonly kind: 'valid'; readonly subscription: Subscription; readonly warnings: readonly string[] }
  | InvalidSubscription

function resolve(
  written: WrittenSubscription,
  { prefix = 'barnabas', timeScale = 1, eventGrid }: ParseOptions,
): Resolved {
  const own = names(prefix)
  const { spec: ofRetry, problems: retryProblems } = retrySpecOf(written.retry ?? {})
  const beside = { ...ofRetry, endpoint: written.endpoint, notation: written.notation }
  const spec = eventGrid === undefined ? beside : withEventGridDefaults(beside, eventGrid)
  const problems = [
    ...retryProblems,
    ...problemsOfSchemas(written),
    ...problemsOfHandshake(written),
    ...problemsOfTransform(written),
    ...problemsOfKafkaSink(written, own.prefix),
    ...problemsOfOrder(written),
  ]
  const deadLetter = deadLetterOf(written, own.deadLetter)

  for (const [index, topic] of written.topics.entries()) {
    if (own.isInternal(topic)) {
      problems.push(problemAt(['topics', index], `${shown(topic)} is one of Barnabas's own topics and holds no events`))
    } else if (topic === deadLetter?.topic) {
      const mend = 'name another deadLetter.topic, or set deadLetter: none'
      problems.push(
        problemAt(['topics', index], `${shown(topic)} is where this subscription's dead letters go; ${mend}`),
      )
    }
  }
  if (deadLetter !== null && own.isInternal(deadLetter.topic)) {
    const message = `${shown(deadLetter.topic)} is one of Barnabas's own topics; name another`
    problems.push(problemAt(['deadLetter', 'topic'], message))
  }
  if (problems.length > 0) return { kind: 'invalid', problems }

  const schemas = schemasOfWritten(written)
  const headers = deliveryAttributesOf(written.headers)
  const transform = transformOf(written.transform)
  const timeoutMs = parseDuration(written.timeout) ?? (spec.schedule === 'event-grid-kubernetes' ? 60_000 : 30_000)
  return {
    kind: 'valid',
    subscription: {
      id: written.id,
      generation: 0,
      revision: 0,
      topics: written.topics,
      sink: written.sink,
      startOffsets: {},
      types: written.types ?? [],
      filters: written.filters ?? [],
      timeoutMs: Math.max(1, Math.round(timeoutMs * timeScale)),
      ...schemas,
      headers,
      ...(transform === undefined ? {} : { transform }),
      concurrency: written.concurrency ?? 64,
      rate: rateOf(written.rate, timeScale),
      batch: batchOf(written.batch, written.notation, eventGrid, timeScale),
      retry: retryPolicyOf(spec, timeScale),
      ...(written.faultTolerance === 'prohibited' ? { faultTolerance: 'prohibited' } : {}),
      ...(written.order === undefined || written.order === 'none' ? {} : { order: written.order }),
      handshake: written.handshake ?? 'none',
      probation: written.probation === 'none' ? null : probationPolicyOf(probationSpecOf(written.probation), timeScale),
      deadLetter,
    },
    warnings: [
      ...warningsOf(written, deadLetter),
      ...warningsAboutSchemas(schemas, eventTypeDefault),
      ...warningsAboutHeaders(headers),
    ],
  }
}

function deadLetterOf({ deadLetter }: WrittenSubscription, defaultTopic: string): Subscription['deadLetter'] {
  if (deadLetter === 'none') return null
  return {
    topic: deadLetter?.topic ?? defaultTopic,
    responseBody: deadLetter?.responseBody ?? true,
    ...(deadLetter?.blob === undefined ? {} : { blob: deadLetter.blob }),
    ...targetOf(deadLetter?.target),
  }
}

function targetOf(text: string | undefined): Pick<NonNullable<Subscription['deadLetter']>, 'target'> {
  const read = text === undefined ? null : parseDeadLetterTarget(text)
  return read?.kind === 'target' ? { target: read.target } : {}
}

function warningsOf(written: WrittenSubscription, deadLetter: Subscription['deadLetter']): string[] {
  const warnings: string[] = []
  if (deadLetter === null && written.faultTolerance !== 'prohibited') {
    warnings.push('deadLetter: none: events whose retries are exhausted will be discarded, and only counted')
  }
  warnings.push(...batchWarnings(written))
  if (written.sink.includes('#')) warnings.push('sink: what follows # is never sent')
  return warnings
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
