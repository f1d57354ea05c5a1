import { kafkaSinkOf } from './kafka-sink.ts'

/** A path segment longer than this may be a secret (chat services put their tokens there). */
const segmentLengthMax = 20
const segmentLengthShown = 4

/**
 * A sink as it may be shown to people and written into `barnabas-destination`: a Kafka topic as it is; of a URL scheme, host and path, path segments
 * of over 20 characters cut to their first four and "…". User info, query and fragment are left out: they carry
 * credentials. Text that is no URL gives "(no URL)", since nobody knows which part of it is secret.
 */
export function destinationForDisplay(url: string): string {
  // A topic is no secret, and half of its name would be another one.
  if (kafkaSinkOf(url) !== null) return url
  const parsed = URL.parse(url)
  if (parsed === null) return '(no URL)'
  const path = parsed.pathname.split('/').map(shortened).join('/')
  const authority = parsed.host === '' ? '' : `//${parsed.host}`
  return `${parsed.protocol}${authority}${path}`
}

function shortened(segment: string): string {
  if (segment.length <= segmentLengthMax) return segment
  // A cut through `%C3` would leave half an escape behind.
  return `${segment.slice(0, segmentLengthShown).replace(/%.?$/, '')}…`
}
