import { nearestName } from '@barnabas/core'

const namesMax = 3

/** Up to three names that somebody who wrote `written` may have meant: near in spelling, or one a part of the other. */
export function similarNames(written: string, names: readonly string[]): readonly string[] {
  const nearest = nearestName(written, names)
  const parts = names.filter((name) => written.length > 1 && name.length > 1 && isPart(written.toLowerCase(), name))
  return [...new Set([...(nearest === null ? [] : [nearest]), ...parts.toSorted()])].slice(0, namesMax)
}

function isPart(written: string, name: string): boolean {
  return name.includes(written) || written.includes(name)
}
