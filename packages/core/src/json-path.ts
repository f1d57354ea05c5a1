import { jsonElement, jsonMembers, stringAt } from './json-members.ts'

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
  let value = json
  for (const step of path) {
    const first = String.fromCharCode(value[0] ?? 0)
    const isObject = first === '{' && typeof step === 'string'
    const isArray = first === '[' && typeof step === 'number'
    if (!isObject && !isArray) return null
    const found = isObject ? jsonMembers(value).findLast(({ name }) => name === step) : jsonElement(value, Number(step))
    if (found === undefined) return null
    value = value.subarray(found.start, found.end)
  }
  return value
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
