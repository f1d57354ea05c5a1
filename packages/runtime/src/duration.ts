const millisecondsPerUnit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Milliseconds of a duration as people write it everywhere in Barnabas: `500ms`, `30s`, `5m`, `12h`, `1d`.
 * Whole numbers only, one unit, no sign; anything else is null.
 */
export function durationInMs(text: string): number | null {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text)
  if (match === null) return null
  return Number(match[1]) * millisecondsPerUnit[match[2] as keyof typeof millisecondsPerUnit]
}
