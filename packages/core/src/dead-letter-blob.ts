import { parseRfc3339 } from './delivery-headers.ts'
import type { KafkaRecord, RecordHeaders } from './record.ts'

/** Where dead letters are written as files: a container of a storage account (issue 5, point 9; row A13). */
export interface BlobTarget {
  readonly account: string
  readonly container: string
}

/** What is wrong with the name of a storage account, null when nothing is. Azure's own rule. */
export function blobAccountProblem(account: string): string | null {
  return /^[a-z0-9]{3,24}$/.test(account) ? null : 'it has 3 to 24 characters, lower-case letters and digits'
}

/** What is wrong with the name of a container, null when nothing is. Azure's own rule, without its special containers. */
export function blobContainerProblem(container: string): string | null {
  if (/^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/.test(container)) return null
  return 'it has 3 to 63 characters: lower-case letters, digits, and single hyphens between them'
}

/** As `barnabas-dead-letter-blob` writes it. */
export function blobTargetText({ account, container }: BlobTarget): string {
  return `${account}/${container}`
}

/** What the name of the consumer group of this target's reader ends with. */
export function blobGroupTarget({ account, container }: BlobTarget): string {
  return `blob.${account}.${container}`
}

/** A dead letter that belongs into a blob. */
export interface BlobLetter {
  /** `account/container`. */
  readonly target: string
  readonly subscriptionId: string
  /** When it became a dead letter, ms since the epoch, from 1970 to 9999. */
  readonly time: number
}

/**
 * Reads what decides into which blob a record of a dead-letter topic goes; null for one that goes into none: others write
 * there too, and a name that could lead out of its folder is no subscription's.
 */
export function blobLetterOf(record: Pick<KafkaRecord, 'headers' | 'timestamp'>): BlobLetter | null {
  const target = textOf(record.headers, 'barnabas-dead-letter-blob')
  const subscriptionId = textOf(record.headers, 'barnabas-subscription')
  if (target === undefined || subscriptionId === undefined) return null
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(subscriptionId)) return null
  const written = textOf(record.headers, 'barnabas-dead-letter-time')
  const time = (written === undefined ? undefined : parseRfc3339(written)) ?? record.timestamp
  return { target, subscriptionId, time: Math.min(Math.max(time, 0), latestTime) }
}

/**
 * The path of a blob in its container as Event Grid forms it: `ORDERS/2026/8/8/5/<guid>.json`, by the hour in UTC and
 * without leading zeros (spec/event-grid.md §3).
 */
export function blobPath(subscriptionId: string, time: number, guid: string): string {
  const at = new Date(time)
  const hour = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours()]
  return `${subscriptionId.toUpperCase()}/${hour.join('/')}/${guid}.json`
}

const latestTime = Date.parse('9999-12-31T23:59:59.999Z')

function textOf(headers: RecordHeaders, name: string): string | undefined {
  const value = headers[name]
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined
}
