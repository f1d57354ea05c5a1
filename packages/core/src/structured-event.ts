import { problemOfAttributes, problemOfVersion, quoted } from './event-attributes.ts'
import { jsonMembers, stringAt, type JsonMember } from './json-members.ts'
import { parseJson } from './json-text.ts'
import { isJsonMediaType } from './media-type.ts'

/** A CloudEvent in the JSON format, as far as it must be read: its attributes, and where its data stands. */
export interface StructuredContent {
  readonly kind: 'content'
  readonly attributes: ReadonlyMap<string, string>
  readonly data: StructuredData
}

/** `start` and `end` (exclusive) are places in the bytes of the record's value. */
export type StructuredData =
  | { readonly kind: 'none' }
  /** The data is this JSON text. */
  | { readonly kind: 'json'; readonly start: number; readonly end: number }
  /** The data is the text that this JSON string literal stands for. */
  | { readonly kind: 'text'; readonly start: number; readonly end: number }
  /** The data is the bytes that this JSON string literal spells in base64. */
  | { readonly kind: 'base64'; readonly start: number; readonly end: number }

interface Malformed {
  readonly kind: 'malformed'
  readonly message: string
}

/** By the value's buffer: an event is decoded, filtered and delivered, but parsed once. */
const known = new WeakMap<Buffer, StructuredContent>()

/** Reads a value as one CloudEvent in the JSON format (CloudEvents JSON format 1.0.2). The message is one line. */
export function structuredContent(value: Buffer): StructuredContent | Malformed {
  const before = known.get(value)
  if (before !== undefined) return before
  const content = readContent(value)
  if (content.kind === 'content') known.set(value, content)
  return content
}

function readContent(value: Buffer): StructuredContent | Malformed {
  const problem = problemOfJson(value)
  if (problem !== null) return malformed(problem)
  // As with JSON.parse, the last of several members of one name counts.
  const members = new Map<string, JsonMember>()
  for (const member of jsonMembers(value)) members.set(member.name, member)
  const dataMember = take(members, 'data')
  const base64Member = take(members, 'data_base64')
  // The version first: it tells a CloudEvent from any other JSON object, and which rules hold for the rest.
  const versionMember = members.get('specversion')
  const version = versionMember === undefined ? ({ kind: 'absent' } as const) : attributeText(value, versionMember)
  if (version.kind === 'malformed') return version
  if (version.kind === 'absent') return malformed(problemOfVersion(undefined))
  if (version.text !== '1.0') return malformed(problemOfVersion(version.text))

  const attributes = new Map<string, string>()
  for (const [name, member] of members) {
    const read = attributeText(value, member)
    if (read.kind === 'malformed') return read
    if (read.kind === 'text' && !(name === 'datacontenttype' && read.text === '')) attributes.set(name, read.text)
  }
  const attributeProblem = problemOfAttributes(attributes)
  if (attributeProblem !== null) return malformed(attributeProblem)

  const data = dataOf(value, attributes.get('datacontenttype'), dataMember, base64Member)
  return data.kind === 'malformed' ? data : { kind: 'content', attributes, data }
}

function problemOfJson(value: Buffer): string | null {
  const parsed = parseJson(value)
  if (parsed.kind === 'malformed') return parsed.message
  const { root } = parsed
  if (typeof root === 'object' && root !== null && !Array.isArray(root)) return null
  return `the value is JSON, but ${Array.isArray(root) ? 'an array' : 'no object'}`
}

function take(members: Map<string, JsonMember>, name: string): JsonMember | undefined {
  const member = members.get(name)
  members.delete(name)
  return member
}

/** Numbers and booleans as they are written: `1.0` stays `1.0`. Null is the same as absent (JSON format §2.2). */
function attributeText(
  value: Buffer,
  { name, start, end }: JsonMember,
): Malformed | { readonly kind: 'absent' } | { readonly kind: 'text'; readonly text: string } {
  switch (String.fromCharCode(value[start]!)) {
    case '{':
    case '[':
      return malformed(`attribute ${quoted(name)} is an object or array; attributes are strings, numbers or booleans`)
    case 'n':
      return { kind: 'absent' }
    case '"': {
      const text = stringAt(value, start, end)
      if (text.isWellFormed()) return { kind: 'text', text }
      return malformed(`attribute ${quoted(name)} holds half of a surrogate pair, which no UTF-8 can carry`)
    }
    default:
      return { kind: 'text', text: value.toString('latin1', start, end) }
  }
}

function dataOf(
  value: Buffer,
  contentType: string | undefined,
  data: JsonMember | undefined,
  base64: JsonMember | undefined,
): StructuredData | Malformed {
  if (base64 !== undefined && !isNull(value, base64)) {
    if (data !== undefined) return malformed('`data` and `data_base64` are both there; only one can be')
    const { start, end } = base64
    if (value[start] === 0x22 && isBase64(stringAt(value, start, end))) return { kind: 'base64', start, end }
    return malformed('`data_base64` is not a string of base64')
  }
  if (data === undefined) return { kind: 'none' }
  const { start, end } = data
  if (contentType === undefined || isJsonMediaType(contentType)) return { kind: 'json', start, end }
  // Only where the type says JSON is null a payload of its own (JSON format §3.1.1).
  if (isNull(value, data)) return { kind: 'none' }
  // A string of another type is the text itself (§3.1.2). Anything else there is kept as it is written.
  if (value[start] !== 0x22) return { kind: 'json', start, end }
  if (stringAt(value, start, end).isWellFormed()) return { kind: 'text', start, end }
  return malformed('`data` holds half of a surrogate pair, which no UTF-8 can carry')
}

function isNull(value: Buffer, member: JsonMember): boolean {
  return value[member.start] === 0x6e
}

/** RFC 4648, §4: the standard alphabet with its padding. */
function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding))
}

function malformed(message: string): Malformed {
  return { kind: 'malformed', message }
}
