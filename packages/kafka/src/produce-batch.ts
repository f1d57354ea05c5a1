import type { OutgoingRecord } from '@barnabas/core'

/** At most so many records in one request, so that one that is refused or lost is not much to send again. */
export const BATCH_RECORDS_MAX = 500

/** At most so many bytes in one request, below the 1,048,588 that a broker takes by default; a larger record goes alone. */
export const BATCH_BYTES_MAX = 900_000

/** Framing of a record and of a header: variable-length integers, rounded up. */
const RECORD_OVERHEAD_BYTES = 32
const HEADER_OVERHEAD_BYTES = 10

/** How many records from the head of the queue travel together: at least one, unless the queue is empty. */
export function batchLength(queue: readonly OutgoingRecord[]): number {
  let bytes = 0
  let count = 0
  for (const record of queue) {
    bytes += recordBytes(record)
    if (count > 0 && bytes > BATCH_BYTES_MAX) break
    count += 1
    if (count === BATCH_RECORDS_MAX) break
  }
  return count
}

/** Roughly the bytes that the record takes in a request; never less. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = RECORD_OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, values] of Object.entries(headers)) {
    for (const one of [values].flat() as (Buffer | null)[]) {
      bytes += HEADER_OVERHEAD_BYTES + Buffer.byteLength(name) + (one?.length ?? 0)
    }
  }
  return bytes
}
