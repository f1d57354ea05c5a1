import type { ProducedMany } from '../produce-many.ts'

export interface Sent extends Pick<ProducedMany, 'acknowledged' | 'partitions'> {
  readonly topic: string
  readonly firstId: string
  readonly lastId: string
}

/** What was sent, for a person or as JSON; of a single event its position. */
export function sentSummary(sent: Sent, elapsedMs: number, isJson: boolean): string {
  const { topic, firstId, lastId, acknowledged } = sent
  const partitions = [...sent.partitions].toSorted(([one], [other]) => one - other)
  const only = acknowledged === 1 ? partitions[0] : undefined
  if (only !== undefined) {
    const [partition, { firstOffset: offset }] = only
    if (isJson) return JSON.stringify({ id: firstId, topic, partition, offset }, null, 2)
    return `sent ${firstId} to ${topic}/${partition}/${offset}`
  }
  if (isJson) {
    const shares = partitions.map(([partition, share]) => ({ partition, ...share }))
    return JSON.stringify({ topic, sent: acknowledged, firstId, lastId, partitions: shares }, null, 2)
  }
  return [
    `sent ${grouped(acknowledged)} events to ${topic}, ${firstId} to ${lastId}, in ${(elapsedMs / 1_000).toFixed(1)} s`,
    ...partitions.map(([partition, { count, firstOffset, lastOffset }]) => {
      const offsets = firstOffset === lastOffset ? String(firstOffset) : `${firstOffset} to ${lastOffset}`
      return `  ${topic}/${partition}: ${grouped(count)}, offset${firstOffset === lastOffset ? '' : 's'} ${offsets}`
    }),
  ].join('\n')
}

export function progressOf(sent: number, count: number, elapsedMs: number): string {
  const perSecond = elapsedMs === 0 ? 0 : Math.round((sent * 1_000) / elapsedMs)
  return `sent ${grouped(sent)} of ${grouped(count)} (${grouped(perSecond)}/s)`
}

/** 1,234,567 */
export function grouped(number: number): string {
  return number.toLocaleString('en-US')
}
