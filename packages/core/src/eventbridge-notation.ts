import { idOf } from './event-grid-envelope.ts'
import { ignoreAt, isSaid, openedAt } from './eventbridge-place.ts'
import { translateRunOptions } from './eventbridge-run-options.ts'
import { translateSink } from './eventbridge-sink.ts'
import type { EventBridgeSurroundings } from './eventbridge-sink.ts'
import { translateSource } from './eventbridge-source.ts'
import { isOwn, merged } from './notation-own.ts'
import type { Translation } from './notation-own.ts'
import type { Findings, Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt } from './notation-place.ts'
import { isMapping, problemAt } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of a `CreateEventStreaming` body. */
const bodyFields = [
  'EventStreamingName',
  'Description',
  'FilterPattern',
  'Source',
  'Sink',
  'RunOptions',
  'Transforms',
  'Tags',
  'Metadata',
  // Of an answer to `GetEventStreaming`, and of the request around the body.
  'Status',
  'DetailedStatus',
  'EventStreamingARN',
  'Action',
  'Version',
  'RegionId',
  'ClientToken',
] as const

/** Whether somebody means an event stream of EventBridge. */
export function isEventBridge(fields: Fields): boolean {
  return ['EventStreamingName', 'Source', 'Sink', 'RunOptions'].some((name) => Object.hasOwn(fields, name))
}

/**
 * Translates the body of `CreateEventStreaming` (its RPC spelling with JSON in strings, or plain JSON), or the `Data` of an
 * answer to `GetEventStreaming`, into a subscription as a person would write it here. Names that begin with a capital
 * are EventBridge's; our own fields may stand beside them, and win: mappings field by field, all others as a whole.
 * Never throws, whatever the input.
 */
export function translateEventBridge(document: Fields, surroundings: EventBridgeSurroundings): Translation {
  const findings: Findings = { product: 'EventBridge', problems: [], warnings: [], origins: [] }
  const { body, own } = openBody(document, findings)
  const fields = fieldsAt(body, bodyFields)
  ignoreAt([fields.Description, openedAt(fields.Tags), fields.Metadata], 'not kept')
  refuseFunctions(openedAt(fields.Transforms))
  const source = translateSource(fields.Source, surroundings.brokers)
  const hasOwnSink = Object.hasOwn(own, 'sink') && fields.Sink.value === undefined
  const sink = hasOwnSink ? undefined : translateSink(fields.Sink, surroundings)
  const filters = filtersOf(fields.FilterPattern)
  const runOptions = translateRunOptions(fields.RunOptions, {
    sourceInstance: source?.kafkaRecord.instance,
    isKafkaSink: sink?.sink?.startsWith('kafka:') === true,
  })
  const id = Object.hasOwn(own, 'id') ? own['id'] : idOf(fields.EventStreamingName, '`EventStreamingName`')
  if (id === null && !isSaid(fields.EventStreamingName)) {
    findings.problems.push(problemAt(['EventStreamingName'], 'is missing; write it, or add --id ID'))
  }
  if (findings.problems.length > 0) return { kind: 'invalid', problems: findings.problems }
  const translated = {
    id,
    ...source,
    ...sink,
    ...filters,
    mode: 'structured',
    ...runOptions,
    notation: 'eventbridge',
  }
  return {
    kind: 'translated',
    fields: merged(translated, own),
    warnings: findings.warnings,
    origins: findings.origins.filter(({ ours }) => !isOwn(ours, own)),
  }
}

function openBody(document: Fields, findings: Findings): { readonly body: Place; readonly own: Fields } {
  const entries = Object.entries(document)
  const isTheirs = (name: string) => /^[A-Z]/.test(name)
  return {
    body: { path: [], value: Object.fromEntries(entries.filter(([name]) => isTheirs(name))), findings },
    own: Object.fromEntries(entries.filter(([name]) => !isTheirs(name))),
  }
}

function refuseFunctions(transforms: Place): void {
  if (!isSaid(transforms)) return
  reportAt(transforms)('functions between source and sink are not called here; let the receiver do their work')
}

/** `FilterPattern` is a string that holds JSON; empty and `{}` match everything. */
function filtersOf(place: Place): Fields {
  const opened = openedAt(place)
  if (opened.value === undefined) return {}
  if (!isMapping(opened.value)) {
    reportAt(place)('is not a pattern, which is a JSON object such as {"source":["acs:alikafka"]}')
    return {}
  }
  if (Object.keys(opened.value).length === 0) return {}
  comesFrom(place, 'filters')
  comesFrom(place, 'filters', 0)
  comesFrom(place, 'filters', 0, 'pattern')
  return { filters: [{ pattern: opened.value }] }
}
