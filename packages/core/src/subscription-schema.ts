import * as z from 'zod'
import { blobAccountProblem, blobContainerProblem } from './dead-letter-blob.ts'
import { readDeadLetterTarget } from './dead-letter-target.ts'
import { formatDuration, parseDuration } from './duration.ts'
import { readKafkaSink } from './kafka-sink.ts'
import { handshakeForms } from './handshake-form.ts'
import { topicNameProblem } from './names.ts'
import { didYouMean } from './nearest-name.ts'
import { deliverySchemas, eventInputs, notations } from './schemas.ts'
import { probationAfterMax } from './probation-policy.ts'
import { batchSchema } from './subscription-batch.ts'
import { readFilters } from './subscription-filters.ts'
import { endpointKinds } from './retry-policy.ts'
import { readRate } from './rate.ts'
import type { Report } from './subscription-field.ts'
import { field, mapping, readList, readNumber, readText, shown } from './subscription-field.ts'
import { readHeaders } from './subscription-headers.ts'
import { readClientErrors, readProbationLengths, readProbationSteps } from './subscription-probation.ts'
import { readNeverOn, readSchedule } from './subscription-schedule.ts'
import { kafkaRecordSchema } from './subscription-kafka-record.ts'
import { transformSchema } from './subscription-transform.ts'
import { readInputSchemaMapping } from './subscription-schemas.ts'

const topicsMax = 100
const typesMax = 1_000
const typeLengthMax = 1_024
const sinkLengthMax = 2_048
const timeoutMinMs = 100
const timeoutMaxMs = 600_000
export const concurrencyMax = 10_000

const retrySchema = mapping({
  schedule: field(readSchedule).optional(),
  maxAttempts: field((value, report) => readNumber(value, report, 1, 10_000)).optional(),
  timeToLive: field(readDuration).optional(),
  neverOn: field(readNeverOn).optional(),
})

const blobSchema = mapping({
  account: field((value, report) => readName(value, report, 'a storage account', blobAccountProblem)),
  container: field((value, report) => readName(value, report, 'a container', blobContainerProblem)),
})

const probationSchema = mapping({
  after: field((value, report) => readNumber(value, report, 1, probationAfterMax)).optional(),
  steps: field(readProbationSteps).optional(),
  lengths: field(readProbationLengths).optional(),
  clientErrors: field(readClientErrors).optional(),
})

const deadLetterSchema = mapping({
  topic: field((value, report) => readTopic(value, report)).optional(),
  responseBody: field(readBoolean).optional(),
  blob: blobSchema.optional(),
  target: field(readDeadLetterTarget).optional(),
})

/**
 * A subscription as a person writes it, field by field. Nothing is filled in: what comes out is what was written,
 * and that is what is stored. Fields of later versions are accepted with their default alone.
 */
export const subscriptionSchema = mapping({
  id: field(readId),
  topics: field(readTopics),
  sink: field(readSink),
  from: oneOf(['latest', 'earliest']),
  input: oneOf(eventInputs),
  types: field(readTypes).optional(),
  filters: field(readFilters).optional(),
  headers: field(readHeaders).optional(),
  timeout: field(readTimeout).optional(),
  schema: oneOf(deliverySchemas),
  mode: oneOf(['binary', 'structured']),
  concurrency: field((value, report) => readNumber(value, report, 1, concurrencyMax)).optional(),
  retry: retrySchema.optional(),
  faultTolerance: oneOf(['allowed', 'prohibited']),
  order: oneOf(['none', 'key', 'partition']),
  batch: batchSchema.optional(),
  endpoint: oneOf(endpointKinds),
  notation: oneOf(notations),
  inputSchemaMapping: field(readInputSchemaMapping).optional(),
  kafkaRecord: noneOr(kafkaRecordSchema).optional(),
  probation: noneOr(probationSchema).optional(),
  handshake: oneOf(handshakeForms),
  rate: field(readRate).optional(),
  transform: transformSchema.optional(),
  deadLetter: noneOr(deadLetterSchema).optional(),
})

export type WrittenSubscription = Readonly<z.output<typeof subscriptionSchema>>

/** The known fields of the mapping that a path leads to. */
export function knownFields(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(subscriptionSchema.shape)
  if (path[0] === 'retry') return Object.keys(retrySchema.shape)
  if (path[0] === 'batch') return Object.keys(batchSchema.shape)
  if (path[0] === 'kafkaRecord') return Object.keys(kafkaRecordSchema.shape)
  if (path[0] === 'transform') return Object.keys(transformSchema.shape)
  if (path[0] === 'probation') return Object.keys(probationSchema.shape)
  if (path[0] !== 'deadLetter') return []
  return Object.keys(path[1] === 'blob' ? blobSchema.shape : deadLetterSchema.shape)
}

function noneOr<Schema extends z.ZodType>(schema: Schema) {
  return z.unknown().transform((value, context): 'none' | z.output<Schema> => {
    if (value === 'none') return 'none'
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

/** One of a few words; those of `later` are refused by name. */
function oneOf<const Word extends string>(words: readonly Word[], later: readonly string[] = []) {
  return field((value, report): Word | undefined => {
    const word = words.find((each) => each === value)
    if (word !== undefined) return word
    if (typeof value === 'string' && later.includes(value)) {
      return report(`${value} is not available in this version; only ${words.join(', ')}`)
    }
    const allowed = words.length === 1 ? `only ${words[0]} is possible` : `one of ${words.join(', ')}`
    return report(`${shown(value)} is not known; ${allowed}${didYouMean(value, words)}`)
  }).optional()
}

function readId(value: unknown, report: Report): string | undefined {
  const id = readText(value, report, 63)
  if (id === undefined || /^[a-z0-9][a-z0-9-]*$/.test(id)) return id
  return report(`${shown(id)} is not an id; lower-case letters, digits and "-", beginning with a letter or digit`)
}

function readTopics(value: unknown, report: Report): readonly string[] | undefined {
  const list = readList(value, report, topicsMax, '[orders]')
  if (list === undefined) return undefined
  if (list.length === 0) return report('is empty; name at least one topic')
  const topics = list.map((entry, index) => readTopic(entry, report, [index]))
  for (const [index, topic] of topics.entries()) {
    if (topic !== undefined && topics.indexOf(topic) < index) report(`${shown(topic)} stands twice`, index)
  }
  return topics.filter((topic) => topic !== undefined)
}

function readTopic(value: unknown, report: Report, below: readonly number[] = []): string | undefined {
  const topic = readText(value, report, 10_000, below)
  const problem = topic === undefined ? null : topicNameProblem(topic)
  if (problem !== null) return report(`${shown(topic)} is not a topic: it ${problem}`, ...below)
  return topic
}

function readName(
  value: unknown,
  report: Report,
  what: string,
  problemOf: (name: string) => string | null,
): string | undefined {
  const name = readText(value, report, 10_000)
  const problem = name === undefined ? null : problemOf(name)
  return problem === null ? name : report(`${shown(name)} is not the name of ${what}: ${problem}`)
}

function readSink(value: unknown, report: Report): string | undefined {
  const sink = readText(value, report, sinkLengthMax)
  if (sink === undefined) return undefined
  const url = URL.parse(sink)
  // Not shown: they are a secret, and the message goes to logs and the status topic.
  if (url !== null && (url.username !== '' || url.password !== '')) {
    return report('user name and password may not stand in the URL, because everybody who reads topics sees them')
  }
  if (sink.startsWith('kafka:')) return readKafkaSink(sink, report)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return report(`${shown(sink)} is not an http(s) URL; write for example https://billing.example.com/hook`)
  }
  return sink
}

function readTypes(value: unknown, report: Report): readonly string[] | undefined {
  const list = readList(value, report, typesMax, '[com.example.paid], or [] for all')
  return list?.map((entry, index) => readText(entry, report, typeLengthMax, [index]) ?? '')
}

function readDuration(value: unknown, report: Report): string | undefined {
  if (parseDuration(value) !== null) return value as string
  return report(`${shown(value)} is not a duration; a whole number with ms, s, m, h or d, such as 30s`)
}

function readTimeout(value: unknown, report: Report): string | undefined {
  const text = readDuration(value, report)
  if (text === undefined) return undefined
  const timeoutMs = parseDuration(text) ?? 0
  if (timeoutMs >= timeoutMinMs && timeoutMs <= timeoutMaxMs) return text
  return report(`${text} is not from ${formatDuration(timeoutMinMs)} to ${formatDuration(timeoutMaxMs)}`)
}

function readBoolean(value: unknown, report: Report): boolean | undefined {
  if (typeof value === 'boolean') return value
  return report(`${shown(value)} is neither true nor false`)
}
