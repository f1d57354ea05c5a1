/**
 * The known name that somebody who wrote `written` probably meant, null when none is near. Case and the
 * separators `-`, `_`, `.` do not count; otherwise up to a third of the letters may be wrong, missing or swapped.
 */
export function nearestName(written: string, known: readonly string[]): string | null {
  if (written.length > 100) return null
  const plainWritten = plain(written)
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const name of known) {
    const distance = editDistance(plainWritten, plain(name))
    const allowed = Math.max(1, Math.floor(Math.max(plainWritten.length, name.length) / 3))
    if (distance <= allowed && (best === null || distance < best.distance)) best = { name, distance }
  }
  return best === null ? null : best.name
}

/** ` (did you mean X?)`, or nothing when no known name is near. */
export function didYouMean(written: unknown, known: readonly string[]): string {
  const name = typeof written === 'string' ? nearestName(written, known) : null
  return name === null ? '' : ` (did you mean ${name}?)`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '')
}

/** Damerau–Levenshtein with adjacent swaps. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}
