/** Per topic and partition, the first offset that a subscription reads. Partitions that are not named start at their beginning. */
export type StartOffsets = Readonly<Record<string, Readonly<Record<string, number>>>>

/**
 * Where the subscription starts on this partition, undefined for its beginning. A topic may be named `constructor`;
 * what is inherited under such a name has no numbers in it.
 */
export function startOffsetOf(startOffsets: StartOffsets, topic: string, partition: number): number | undefined {
  return startOffsets[topic]?.[String(partition)]
}

/** The stored start offsets as they came from JSON, or null when they are damaged. */
export function parseStartOffsets(value: unknown): StartOffsets | null {
  if (!isRecord(value)) return null
  const topics: [string, Record<string, number>][] = []
  for (const [topic, partitions] of Object.entries(value)) {
    if (!isRecord(partitions)) return null
    const offsets: [string, number][] = []
    for (const [partition, offset] of Object.entries(partitions)) {
      if (!/^(0|[1-9]\d{0,8})$/.test(partition) || !Number.isSafeInteger(offset) || (offset as number) < 0) return null
      offsets.push([partition, offset as number])
    }
    topics.push([topic, Object.fromEntries(offsets)])
  }
  // `fromEntries` makes own properties also of names such as `__proto__`.
  return Object.fromEntries(topics)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
