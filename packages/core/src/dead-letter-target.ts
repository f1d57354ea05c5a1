import { isClusterName } from './kafka-clusters.ts'
import { topicNameProblem } from './names.ts'
import type { KafkaRecord } from './record.ts'
import type { Report } from './subscription-field.ts'
import { readText, shown } from './subscription-field.ts'

/** What dead letters can be carried to (row B7). A Kafka topic is one of another cluster: on this one it is `deadLetter.topic`. */
export const targetKinds = ['kafka', 'rocketmq', 'mns', 'eventbridge'] as const
export type TargetKind = (typeof targetKinds)[number]

/** Where dead letters are carried from their topic. */
export interface DeadLetterTarget {
  readonly kind: TargetKind
  /** Under which name the services know its endpoint and credentials. */
  readonly connection: string
  /** The topic, queue or bus. */
  readonly resource: string
}

export type ReadTarget =
  | { readonly kind: 'target'; readonly target: DeadLetterTarget }
  /** `problem` follows the text that was read: "is …". */
  | { readonly kind: 'invalid'; readonly problem: string }

const targetLengthMax = 1_000
/** Targets that one process carries to; each has a consumer of its own. */
export const targetsMax = 100

/** Those of the spec page's §1.8 and §8, and each system's own. */
const resourceRules: Readonly<Record<TargetKind, readonly [name: string, (resource: string) => string | null]>> = {
  kafka: ['topic', topicNameProblem],
  rocketmq: ['topic', rule(/^[a-zA-Z0-9%|_-]{1,127}$/, 'has 1 to 127 letters, digits, "%", "|", "_" and "-"')],
  mns: ['queue', rule(/^[a-zA-Z0-9][a-zA-Z0-9-]{0,119}$/, 'has 1 to 120 letters, digits and "-"')],
  eventbridge: [
    'bus',
    rule(
      /^(?!eventbridge-reserved-)[a-zA-Z0-9][a-zA-Z0-9-]{0,126}$/,
      'has 1 to 127 letters, digits and "-", and does not begin with eventbridge-reserved-',
    ),
  ],
}

/** The spec page's §4.1; with and without the slash, for both are written. */
const arnForms: readonly {
  readonly service: string
  readonly kind: TargetKind
  readonly resource: RegExp
  readonly example: string
}[] = [
  {
    service: 'alikafka',
    kind: 'kafka',
    resource: /^\/?instances?\/([^/:]+)\/topic\/([^/:]+)$/i,
    example: 'acs:alikafka:REGION:ACCOUNT:instance/INSTANCE/topic/TOPIC',
  },
  {
    service: 'mq',
    kind: 'rocketmq',
    resource: /^\/?instances?\/([^/:]+)\/topic\/([^/:]+)$/i,
    example: 'acs:mq:REGION:ACCOUNT:/instances/INSTANCE/topic/TOPIC',
  },
  {
    service: 'mns',
    kind: 'mns',
    resource: /^\/?queues\/([^/:]+)$/i,
    example: 'acs:mns:REGION:ACCOUNT:/queues/QUEUE',
  },
  {
    service: 'eventbridge',
    kind: 'eventbridge',
    resource: /^\/?eventbus\/([^/:]+)$/i,
    example: 'acs:eventbridge:REGION:ACCOUNT:eventbus/BUS',
  },
]

const otherClouds: readonly (readonly [RegExp, string])[] = [
  [/^arn:aws/i, 'AWS'],
  [/^\/?subscriptions\//i, 'Azure'],
  [/^(\/\/[a-z-]+\.googleapis\.com\/)?projects\//i, 'Google Cloud'],
  [/^qcs:/i, 'Tencent Cloud'],
  [/^arn:/i, 'another cloud'],
]

const forms =
  'kafka://CLUSTER/TOPIC, rocketmq://CONNECTION/TOPIC, mns://CONNECTION/QUEUE, eventbridge://CONNECTION/BUS, or an ARN of one of them'

/**
 * Reads what `deadLetter.target` says: `KIND://CONNECTION/RESOURCE`, or an ARN of Alibaba Cloud (spec page §4.1). The
 * connection of an ARN is its instance, or `ACCOUNT.REGION` where there are none.
 */
export function parseDeadLetterTarget(text: string): ReadTarget {
  if (/^acs:/i.test(text)) return fromArn(text)
  const cloud = otherClouds.find(([pattern]) => pattern.test(text))?.[1]
  if (cloud !== undefined)
    return invalid(`names something of ${cloud}, where no dead letters are carried; write ${forms}`)
  const [, scheme = '', connection = '', resource = ''] = /^([a-z]+):\/\/([^/]*)\/(.*)$/.exec(text) ?? []
  const kind = targetKinds.find((each) => each === scheme)
  if (kind !== undefined) return checked(kind, connection, resource)
  if (text.startsWith('kafka:')) return invalid('is a topic of this Kafka; write deadLetter.topic instead of target')
  return invalid(`is no target; write ${forms}`)
}

/** Reads the field `deadLetter.target`; what comes out is what was written. */
export function readDeadLetterTarget(value: unknown, report: Report): string | undefined {
  const text = readText(value, report, targetLengthMax)
  if (text === undefined) return undefined
  const read = parseDeadLetterTarget(text)
  if (read.kind === 'invalid') return report(`${shown(text)} ${read.problem}`)
  return text
}

function fromArn(arn: string): ReadTarget {
  const [, service = '', region = '', account = '', ...rest] = arn.split(':')
  const form = arnForms.find((each) => each.service === service.toLowerCase())
  if (form === undefined) {
    return invalid(`is an ARN of ${shown(service)}, where no dead letters are carried; write ${forms}`)
  }
  const [, first = '', second] = form.resource.exec(rest.join(':')) ?? []
  if (first === '') return invalid(`is not an ARN of ${form.service}, which looks like ${form.example}`)
  if (second !== undefined) return checked(form.kind, first, second)
  if (region === '' || account === '') return invalid(`names no region or no account; write ${form.example}`)
  return checked(form.kind, `${account}.${region}`, first)
}

function checked(kind: TargetKind, connection: string, resource: string): ReadTarget {
  if (!isClusterName(connection)) {
    return invalid(
      `has no name of a connection: ${shown(connection)} is none, which has 1 to 64 letters, digits, "_", "." and "-"`,
    )
  }
  const [name, problemOf] = resourceRules[kind]
  const problem = problemOf(resource)
  if (problem !== null) return invalid(`has no ${name}: ${shown(resource)} ${problem}`)
  return { kind: 'target', target: { kind, connection, resource } }
}

function rule(pattern: RegExp, what: string): (resource: string) => string | null {
  return (resource) => (pattern.test(resource) ? null : `is none, which ${what}`)
}

function invalid(problem: string): ReadTarget {
  return { kind: 'invalid', problem }
}

/** As `barnabas-dead-letter-target` writes it, whichever way it was written: the same for the same target. */
export function targetText({ kind, connection, resource }: DeadLetterTarget): string {
  return `${kind}://${connection}/${resource}`
}

/** What the name of the consumer group of this target's reader ends with. No connection has a "/": none is two. */
export function targetGroup({ kind, connection, resource }: DeadLetterTarget): string {
  return `${kind}.${connection}/${resource}`
}

/** To which target a record of a dead-letter topic is carried; null for none: others write there too. */
export function targetOfLetter({ headers }: Pick<KafkaRecord, 'headers'>): string | null {
  const target = headers['barnabas-dead-letter-target']
  return Buffer.isBuffer(target) ? target.toString('utf8') : null
}
