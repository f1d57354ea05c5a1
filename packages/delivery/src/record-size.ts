import type { KafkaRecord } from '@barnabas/core'
import { recordOverheadBytes, retryOverheadBytes } from './limits.ts'

/** What a record of a source topic counts for in the limits of memory. */
export function sourceRecordBytes(record: KafkaRecord): number {
  return recordOverheadBytes + sizeOf(record)
}

/** What a retry record counts for. */
export function retryRecordBytes(record: KafkaRecord): number {
  return retryOverheadBytes + sizeOf(record)
}

/** Key and value are looked at only where nothing else tells: they may have to be decoded for it. */
function sizeOf(record: KafkaRecord): number {
  return record.bytes ?? (record.key?.length ?? 0) + (record.value?.length ?? 0)
}
