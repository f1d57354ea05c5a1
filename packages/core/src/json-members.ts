/** A member of a JSON object: its name, and where its value stands in the bytes (`end` exclusive). */
export interface JsonMember {
  readonly name: string
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * The members of a JSON object in their order, duplicates included, so that a value can be cut out exactly as it
 * stands. It finds places and judges nothing: `json` must be UTF-8 that `JSON.parse` accepts, with an object at
 * its root. Nesting costs no stack.
 */
export function jsonMembers(json: Buffer): JsonMember[] {
  const members: JsonMember[] = []
  // Before the brace there can only be white space and a byte order mark.
  let at = skipWhiteSpace(json, json.indexOf(openBrace) + 1)
  while (json[at] === quote) {
    const nameEnd = endOfString(json, at)
    const start = skipWhiteSpace(json, skipWhiteSpace(json, nameEnd) + 1)
    const end = endOfValue(json, start)
    members.push({ name: stringAt(json, at, nameEnd), start, end })
    at = skipWhiteSpace(json, end)
    if (json[at] === comma) at = skipWhiteSpace(json, at + 1)
  }
  return members
}

/** Where the elements of a JSON array stand, in their order. As with `jsonMembers`, `json` must be valid. */
export function* jsonElements(json: Buffer): Generator<{ readonly start: number; readonly end: number }> {
  let start = skipWhiteSpace(json, json.indexOf(openBracket) + 1)
  while (json[start] !== closeBracket && start < json.length) {
    const end = endOfValue(json, start)
    yield { start, end }
    const next = skipWhiteSpace(json, end)
    start = json[next] === comma ? skipWhiteSpace(json, next + 1) : next
  }
}

/** The JSON string literal between two places, its escapes resolved. */
export function stringAt(json: Buffer, start: number, end: number): string {
  const text = json.toString('utf8', start + 1, end - 1)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

function endOfValue(json: Buffer, start: number): number {
  const first = json[start]
  if (first === quote) return endOfString(json, start)
  if (first !== openBrace && first !== openBracket) return endOfLiteral(json, start)
  let depth = 0
  let at = start
  while (at < json.length) {
    const byte = json[at]
    if (byte === quote) {
      at = endOfString(json, at)
      continue
    }
    at += 1
    if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) break
    }
  }
  return at
}

function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at + 1
}

function endOfLiteral(json: Buffer, start: number): number {
  let at = start
  while (at < json.length && !endsLiteral(json[at])) at += 1
  return at
}

function endsLiteral(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isWhiteSpace(byte)
}

function skipWhiteSpace(json: Buffer, start: number): number {
  let at = start
  while (isWhiteSpace(json[at])) at += 1
  return at
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
