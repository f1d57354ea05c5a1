import { createHash } from 'node:crypto'
import { blobPath } from '@barnabas/core'

/** A dead letter on its way into a blob. */
export interface WindowMember {
  readonly offset: number
  /** Of its record, ms since the epoch. */
  readonly timestamp: number
  readonly subscriptionId: string
  /** When it became a dead letter. */
  readonly time: number
  /** As it stands in the blob. */
  readonly json: Buffer
}

/** What one blob is made of. */
export interface Blob {
  readonly subscriptionId: string
  readonly path: string
  readonly body: Buffer
  readonly events: number
  /** When its first dead letter was due to be written, ms since the epoch. */
  readonly dueAt: number
  /** `topic/partition/offset` of the first one. */
  readonly position: string
}

/**
 * The blobs of a window, which is a piece of one partition: one for each subscription, in the order of their first dead
 * letters. Path and content follow from the window alone, so that one that is written twice is the same file.
 */
export function blobsOf(
  { topic, partition }: { readonly topic: string; readonly partition: number },
  members: readonly WindowMember[],
  delayMs: number,
): readonly Blob[] {
  const bySubscription = Map.groupBy(members, ({ subscriptionId }) => subscriptionId)
  return [...bySubscription].map(([subscriptionId, letters]) => {
    const [first] = letters as [WindowMember, ...WindowMember[]]
    const dueAt = first.time + delayMs
    const guid = guidOf([`${topic}/${partition}`, ...letters.map(({ offset, timestamp }) => `${offset}@${timestamp}`)])
    return {
      subscriptionId,
      path: blobPath(subscriptionId, dueAt, guid),
      body: arrayOf(letters.map(({ json }) => json)),
      events: letters.length,
      dueAt,
      position: `${topic}/${partition}/${first.offset}`,
    }
  })
}

/**
 * A name from the coordinates of what is in the blob, in the form of a UUID (RFC 9562, version 8). The timestamps tell a
 * topic from one that was deleted and made again under its name.
 */
function guidOf(coordinates: readonly string[]): string {
  const bytes = createHash('sha256').update(coordinates.join('\n')).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function arrayOf(elements: readonly Buffer[]): Buffer {
  const parts = elements.flatMap((element, index) => [Buffer.from(index === 0 ? '[' : ','), element])
  return Buffer.concat([...parts, Buffer.from(']')])
}
