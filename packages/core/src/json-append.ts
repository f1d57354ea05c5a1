import { jsonMembers } from './json-members.ts'

/** UTF-8 that `JSON.parse` accepts. */
export type JsonText = Buffer

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * The object with these members behind its own, whose values stay byte for byte; a member of its own with the name of an
 * added one is left out, also where the added one is undefined and says nothing.
 */
export function withMembers(
  object: JsonText,
  added: readonly (readonly [name: string, value: JsonText | undefined])[],
): JsonText {
  const replaced = new Set(added.map(([name]) => name))
  const members: (readonly [string, JsonText])[] = jsonMembers(object)
    .filter(({ name }) => !replaced.has(name))
    .map(({ name, start, end }) => [name, object.subarray(start, end)])
  for (const [name, value] of added) if (value !== undefined) members.push([name, value])
  const parts = members.flatMap(([name, value], index) => [
    Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`),
    value,
  ])
  return Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')])
}
