/**
 * What is written beside a committed offset: the version of this format and which life of the subscription it
 * belongs to, so that a subscription that was deleted and made again does not go on where its namesake stood.
 */
export function encodeCommitMetadata(generation: number): string {
  return `barnabas/1 generation=${generation}`
}

/** The generation of a commit that we wrote; null for one that some other tool wrote (`kafka-consumer-groups --reset-offsets`). */
export function decodeCommitMetadata(metadata: string): number | null {
  const match = /^barnabas\/\d+ generation=(\d{1,16})(?: |$)/.exec(metadata)
  return match === null ? null : Number(match[1])
}
