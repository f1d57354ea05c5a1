import { jsonElements, jsonMembers, stringAt } from './json-members.ts'

/** The way to a value in a JSON document: names of members and places in arrays, from 0. */
export type JsonPath = readonly (string | number)[]

const lengthMax = 1_024
const stepsMax = 32
const stepPattern = /\.?([^.[\]'"\s$]+)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y

/**
 * Reads a path such as `$.data.customer['e-mail'][0]`; null when it is none. It is the part of JSONPath that leads to
 * one value: no wild cards, filters or scripts. The `$` may be left out, as Event Grid's `sourceField` does.
 */
export function parseJsonPath(text: string): JsonPath | null {
  if (text.length > lengthMax) return null
  const steps: (string | number)[] = []
  let at = text.startsWith('$') ? 1 : 0
  // After `$` a name has its dot; at the very beginning it has none.
  const isBare = at === 0
  while (at < text.length) {
    stepPattern.lastIndex = at
    const found = stepPattern.exec(text)
    const isFirstBare = isBare && at === 0
    if (found === null || steps.length === stepsMax) return null
    const [whole, name, index, single, double] = found
    if (name !== undefined && whole.startsWith('.') === isFirstBare) return null
    steps.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index))
    at += whole.length
  }
  return steps.length === 0 ? null : steps
}

/** The bytes of the value that the path leads to in valid JSON; null when there is none. Of doubled names the last counts. */
export function jsonAt(json: Buffer, path: JsonPath): Buffer | null {
  const found: (Buffer | null)[] = [null]
  findEach(json, [{ path, index: 0 }], 0, found)
  return found[0] ?? null
}

/**
 * The bytes of the values that several paths lead to in a JSON object, each as `jsonAt` finds it. The JSON is walked once,
 * however many paths there are; white space or a byte order mark may stand before it.
 */
export function jsonAtEach(json: Buffer, paths: readonly JsonPath[]): readonly (Buffer | null)[] {
  const found: (Buffer | null)[] = paths.map(() => null)
  const start = json.indexOf('{')
  const end = json.lastIndexOf('}') + 1
  findEach(
    json.subarray(start, end),
    paths.map((path, index) => ({ path, index })),
    0,
    found,
  )
  return found
}

interface Sought {
  readonly path: JsonPath
  readonly index: number
}

function findEach(json: Buffer, sought: readonly Sought[], depth: number, found: (Buffer | null)[]): void {
  const below = new Map<string | number, Sought[]>()
  for (const each of sought) {
    const step = each.path[depth]
    if (step === undefined) {
      found[each.index] = json
      continue
    }
    const beside = below.get(step)
    if (beside === undefined) below.set(step, [each])
    else beside.push(each)
  }
  if (below.size === 0) return
  for (const [step, { start, end }] of childrenAt(json, below)) {
    findEach(json.subarray(start, end), below.get(step) ?? [], depth + 1, found)
  }
}

/** Where the children with these names, or at these places, stand; of doubled names the last. */
function childrenAt(json: Buffer, steps: ReadonlyMap<string | number, unknown>) {
  const children = new Map<string | number, { readonly start: number; readonly end: number }>()
  const first = String.fromCharCode(json[0] ?? 0)
  if (first === '{') {
    for (const member of jsonMembers(json)) if (steps.has(member.name)) children.set(member.name, member)
  } else if (first === '[') {
    let place = 0
    for (const element of jsonElements(json)) {
      if (steps.has(place)) children.set(place, element)
      place += 1
    }
  }
  return children
}

/** A string's text, or a number or boolean as it is written (`1.0` stays `1.0`); null for anything else. */
export function scalarText(json: Buffer): string | null {
  switch (String.fromCharCode(json[0] ?? 0)) {
    case '{':
    case '[':
    case 'n':
      return null
    case '"': {
      const text = stringAt(json, 0, json.length)
      return text.isWellFormed() ? text : null
    }
    default:
      return json.toString('latin1')
  }
}
