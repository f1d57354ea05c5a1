import { quoted } from './event-attributes.ts'
import { attributesOf, metadataVersionDefault } from './event-grid-members.ts'
import type { EventGridEnvelope } from './event-grid-members.ts'
import type { ForeignEvent } from './event.ts'
import { jsonMembers, stringAt } from './json-members.ts'
import type { JsonMember } from './json-members.ts'
import { soleJsonObject } from './json-text.ts'

type Decoded =
  { readonly kind: 'event'; readonly event: ForeignEvent } | { readonly kind: 'malformed'; readonly message: string }

/**
 * Reads a value as one event in Event Grid's schema, an object or an array of one. As its publish API does, it wants
 * `id`, `eventType`, `subject` and `eventTime`; `topic` and `metadataVersion` are stamped where the publisher left
 * them out (spec page §1.3, §6). Other members are not looked at.
 */
export function decodeEventGridEvent(value: Buffer | null, sourceTopic: string): Decoded {
  const found = soleJsonObject(value)
  if (found.kind === 'malformed') return found
  const { json } = found
  const members = new Map<string, JsonMember>()
  // As with JSON.parse, the last of several members of one name counts.
  for (const member of jsonMembers(json)) members.set(member.name, member)

  const problems: string[] = []
  const textOf = (name: string): string | null => {
    const member = members.get(name)
    const first = member === undefined ? 'n' : String.fromCharCode(json[member.start] ?? 0)
    if (member === undefined || first === 'n') return null
    const text = first === '"' ? stringAt(json, member.start, member.end) : null
    if (text?.isWellFormed()) return text
    problems.push(`\`${name}\` is ${quoted(json.toString('utf8', member.start, member.end))}, not text`)
    return null
  }
  const required = (name: string, mayBeEmpty = false): string => {
    const before = problems.length
    const text = textOf(name)
    if (text !== null && (mayBeEmpty || text !== '')) return text
    if (problems.length === before) problems.push(`\`${name}\` is ${text === null ? 'missing' : 'empty'}`)
    return ''
  }
  const topic = textOf('topic')
  const metadataVersion = textOf('metadataVersion')
  const envelope: EventGridEnvelope = {
    id: required('id'),
    topic: topic === null || topic === '' ? sourceTopic : topic,
    subject: required('subject', true),
    eventType: required('eventType'),
    eventTime: required('eventTime'),
    dataVersion: textOf('dataVersion'),
    metadataVersion: metadataVersion === null || metadataVersion === '' ? metadataVersionDefault : metadataVersion,
  }
  const [problem] = problems
  if (problem !== undefined) return { kind: 'malformed', message: `no event in Event Grid's schema: ${problem}` }
  const data = members.get('data')
  return {
    kind: 'event',
    event: {
      mode: 'event-grid',
      attributes: attributesOf(envelope),
      value: topic === envelope.topic && metadataVersion === envelope.metadataVersion ? json : stamped(json, envelope),
      envelope,
      data: data === undefined ? null : json.subarray(data.start, data.end),
    },
  }
}

/** With `topic` and `metadataVersion` as they count, in the place of whatever stood for them; every other member as it stands. */
function stamped(json: Buffer, { topic, metadataVersion }: EventGridEnvelope): Buffer {
  const parts: Buffer[] = [Buffer.from(`{"topic":${JSON.stringify(topic)}`)]
  for (const { name, start, end } of jsonMembers(json)) {
    if (name === 'topic' || name === 'metadataVersion') continue
    parts.push(Buffer.from(`,${JSON.stringify(name)}:`), json.subarray(start, end))
  }
  parts.push(Buffer.from(`,"metadataVersion":${JSON.stringify(metadataVersion)}}`))
  return Buffer.concat(parts)
}
