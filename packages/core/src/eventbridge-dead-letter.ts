import { ignoreAt, isSaid, networkFields, openedAt } from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, textAt } from './notation-place.ts'
import { shown } from './subscription-field.ts'

const arnLengthMax = 1_000

/** What an ARN of the spec page's §4.1 names. */
export type DeadLetterTarget =
  | { readonly kind: 'kafka'; readonly instance: string; readonly topic: string }
  | { readonly kind: 'rocketmq' | 'smq' | 'bus' }

const patterns: readonly (readonly [RegExp, DeadLetterTarget['kind']])[] = [
  [/^acs:alikafka:[^:]*:[^:]*:\/?instances?\/([^/:]+)\/topic\/([^/:]+)$/i, 'kafka'],
  [/^acs:mq:[^:]*:[^:]*:\/?instances?\/([^/:]+)\/topic\/([^/:]+)$/i, 'rocketmq'],
  [/^acs:mns:[^:]*:[^:]*:\/?queues\/([^/:]+)$/i, 'smq'],
  [/^acs:eventbridge:[^:]*:[^:]*:\/?eventbus\/([^/:]+)$/i, 'bus'],
]

const named = {
  kafka: 'a Kafka topic of another instance',
  rocketmq: 'RocketMQ',
  smq: 'Simple Message Queue',
  bus: 'an event bus',
}

/** Reads an ARN; null for what is none of a dead-letter target. */
export function parseDeadLetterArn(arn: string): DeadLetterTarget | null {
  for (const [pattern, kind] of patterns) {
    const [found, instance = '', topic = ''] = pattern.exec(arn) ?? []
    if (found !== undefined) return kind === 'kafka' ? { kind, instance, topic } : { kind }
  }
  return null
}

/**
 * Reads `RunOptions.DeadLetterQueue`: a topic of the source's own instance is a topic of this Kafka. Undefined without
 * one, which is EventBridge's "off" (row B6).
 */
export function translateDeadLetterQueue(
  place: Place,
  sourceInstance: string | undefined,
): { readonly topic: string } | undefined {
  const opened = openedAt(place)
  if (!isSaid(opened)) return undefined
  const fields = fieldsAt(opened, ['Arn', ...networkFields])
  const { Arn } = fields
  ignoreAt(
    networkFields.map((each) => fields[each]),
    'ignored',
  )
  if (Arn.value === undefined) return reportAt(Arn)('is missing')
  const arn = textAt(Arn, arnLengthMax)
  if (arn === undefined) return undefined
  const target = parseDeadLetterArn(arn)
  comesFrom(Arn, 'deadLetter', 'topic')
  const mend = 'leave DeadLetterQueue out, and write `deadLetter: {}` beside `RunOptions` for the dead-letter topic'
  if (target === null) {
    const form = 'acs:alikafka:REGION:ACCOUNT:instance/INSTANCE/topic/TOPIC'
    return reportAt(Arn)(
      `${shown(arn)} is not the ARN of a queue, topic or bus of Alibaba Cloud, such as ${form}; ${mend}`,
    )
  }
  if (target.kind === 'kafka' && target.instance === sourceInstance) return { topic: target.topic }
  return reportAt(Arn)(`${named[target.kind]} for dead letters is not available in this version; ${mend}`)
}
