const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** How long ago, in the largest unit that fits at least twice (once for seconds): 90 s are `90s`, 3 h are `3h`. */
export function age(sinceMs: number, now: number): string {
  const elapsedMs = Math.max(0, now - sinceMs)
  for (const [unit, unitMs] of units) {
    if (elapsedMs >= 2 * unitMs || unit === 's') return `${Math.floor(elapsedMs / unitMs)}${unit}`
  }
  return '0s'
}
