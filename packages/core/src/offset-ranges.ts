/** Offsets from `from` up to and without `to`. */
export interface OffsetRange {
  readonly from: number
  readonly to: number
}

/**
 * Ranges of done offsets at or beyond `start` as run lengths in base 36: what is open, what is done, what is open …
 * ("1.2.1.4": one open, two done, one open, four done). Of ranges that would need more than `charactersMax` the
 * last are left out, which only costs duplicates. Ranges are in order.
 */
export function encodeRanges(start: number, ranges: readonly OffsetRange[], charactersMax: number): string {
  let text = ''
  let cursor = start
  for (const { from, to } of ranges) {
    const runs = `${text === '' ? '' : '.'}${(from - cursor).toString(36)}.${(to - from).toString(36)}`
    if (text.length + runs.length > charactersMax) break
    text += runs
    cursor = to
  }
  return text
}

/** The ranges that were encoded, or null when the text is damaged. */
export function decodeRanges(start: number, text: string): readonly OffsetRange[] | null {
  if (text === '') return []
  const runs = text.split('.')
  if (runs.length % 2 !== 0 || !runs.every((run) => /^[0-9a-z]{1,11}$/.test(run))) return null
  const ranges: OffsetRange[] = []
  let cursor = start
  for (let index = 0; index < runs.length; index += 2) {
    const from = cursor + Number.parseInt(runs[index] ?? '', 36)
    const to = from + Number.parseInt(runs[index + 1] ?? '', 36)
    if (!Number.isSafeInteger(to) || to === from) return null
    ranges.push({ from, to })
    cursor = to
  }
  return ranges
}

/** How many offsets from `from` up to and without `to` are in none of the ranges, which are in order. */
export function offsetsOutside(ranges: readonly OffsetRange[], from: number, to: number): number {
  const inside = ranges.map((range) => Math.max(0, Math.min(range.to, to) - Math.max(range.from, from)))
  return Math.max(0, to - from) - inside.reduce((sum, count) => sum + count, 0)
}
