const unitsBytes = { B: 1, KB: 1_024, MB: 1_048_576 } as const

/** The bytes that a size such as `512B`, `64KB` or `1MB` stands for (1,024 each); null when it is none. */
export function parseSize(text: unknown): number | null {
  if (typeof text !== 'string') return null
  const match = /^(\d{1,9})(B|KB|MB)$/.exec(text)
  return match === null ? null : Number(match[1]) * unitsBytes[match[2] as keyof typeof unitsBytes]
}

/** Prints bytes in the largest unit that shows them exactly: 65,536 is `64KB`. */
export function formatSize(sizeBytes: number): string {
  if (sizeBytes === 0) return '0B'
  for (const unit of ['MB', 'KB'] as const) {
    if (sizeBytes % unitsBytes[unit] === 0) return `${sizeBytes / unitsBytes[unit]}${unit}`
  }
  return `${sizeBytes}B`
}
