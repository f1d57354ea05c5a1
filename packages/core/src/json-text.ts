import { utf8Text } from './utf8.ts'

interface Malformed {
  readonly kind: 'malformed'
  readonly message: string
}

/** Reads a value as JSON, to be judged; what is delivered is cut out of its bytes. The message is one line. */
export function parseJson(value: Buffer): { readonly kind: 'json'; readonly root: unknown } | Malformed {
  const text = utf8Text(value)
  if (text === undefined) return malformed('the value is not UTF-8')
  try {
    // A byte order mark may be ignored (RFC 8259, §8.1).
    return { kind: 'json', root: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // V8 quotes the text around the error, line breaks and all.
    return malformed(`the value is not JSON: ${reason.replaceAll(/\p{Cc}+/gu, ' ')}`)
  }
}

/** What stands in a record of one of our own topics, to be checked by a schema; undefined where it is no JSON. */
export function jsonOf(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'))
  } catch {
    return undefined
  }
}

/**
 * The one JSON object that a record carries, as its bytes stand. An array of one is what Event Grid's publish API
 * takes and what it posts to a webhook, so that a bridge may well have put it on the topic as it came.
 */
export function soleJsonObject(value: Buffer | null): { readonly kind: 'object'; readonly json: Buffer } | Malformed {
  if (value === null || value.length === 0) return malformed('the value is empty')
  const parsed = parseJson(value)
  if (parsed.kind === 'malformed') return parsed
  const { root } = parsed
  if (Array.isArray(root) && root.length !== 1) {
    return malformed(`the value is an array of ${root.length}; a record carries one event`)
  }
  const only: unknown = Array.isArray(root) ? root[0] : root
  if (typeof only !== 'object' || only === null || Array.isArray(only)) {
    return malformed(`the value is JSON, but ${Array.isArray(root) ? 'no array of one object' : 'no object'}`)
  }
  return { kind: 'object', json: value.subarray(value.indexOf('{'), value.lastIndexOf('}') + 1) }
}

function malformed(message: string): Malformed {
  return { kind: 'malformed', message }
}
