import { parseDeadLetterTarget, readDeadLetterTarget } from './dead-letter-target.ts'
import { ignoreAt, isSaid, networkFields, openedAt } from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt } from './notation-place.ts'
import { isMapping, shown } from './subscription-field.ts'

/**
 * Reads `RunOptions.DeadLetterQueue`: a topic of the source's own instance is a topic of this Kafka, everything else a
 * target (row B7). Undefined without one, which is EventBridge's "off" (row B6).
 */
export function translateDeadLetterQueue(
  place: Place,
  sourceInstance: string | undefined,
): { readonly topic: string } | { readonly target: string } | undefined {
  const opened = openedAt(place)
  if (!isSaid(opened)) return undefined
  const fields = fieldsAt(opened, ['Arn', ...networkFields])
  const { Arn } = fields
  ignoreAt(
    networkFields.map((each) => fields[each]),
    'ignored',
  )
  if (!isMapping(opened.value)) return undefined
  const { value } = Arn
  const arn = readDeadLetterTarget(typeof value === 'string' ? value.trim() : value, reportAt(Arn))
  if (arn === undefined) return undefined
  if (!/^acs:/i.test(arn)) {
    return reportAt(Arn)(`${shown(arn)} is no ARN; write deadLetter: { target: ${arn} } beside RunOptions`)
  }
  const read = parseDeadLetterTarget(arn)
  if (read.kind === 'target' && read.target.kind === 'kafka' && read.target.connection === sourceInstance) {
    comesFrom(Arn, 'deadLetter', 'topic')
    return { topic: read.target.resource }
  }
  comesFrom(Arn, 'deadLetter', 'target')
  return { target: arn }
}
