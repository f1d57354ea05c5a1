const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * The milliseconds that a duration such as `500ms`, `30s`, `5m`, `12h` or `1d` stands for; null when it is none.
 * A whole number and one unit, nothing else: what is ambiguous is refused rather than guessed.
 */
export function parseDuration(text: unknown): number | null {
  if (typeof text !== 'string') return null
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text)
  if (match === null) return null
  const milliseconds = Number(match[1]) * unitsMs[match[2] as keyof typeof unitsMs]
  return Number.isSafeInteger(milliseconds) ? milliseconds : null
}

/** Prints whole milliseconds in the largest unit that shows them exactly: 90,000 is `90s`, 3,600,000 is `1h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s'
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (durationMs % unitsMs[unit] === 0) return `${durationMs / unitsMs[unit]}${unit}`
  }
  return `${durationMs}ms`
}
