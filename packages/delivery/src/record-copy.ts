import type { HeaderValue, KafkaRecord } from '@barnabas/core'

/** The record with bytes of its own: one that is kept pins its whole fetch response otherwise. */
export function copiedRecord(record: KafkaRecord): KafkaRecord {
  const headers = Object.create(null) as Record<string, HeaderValue | readonly HeaderValue[]>
  for (const [name, value] of Object.entries(record.headers)) {
    headers[name] = Array.isArray(value) ? value.map(copy) : copy(value as Buffer | null)
  }
  const { topic, partition, offset, timestamp, key, value } = record
  return { topic, partition, offset, timestamp, key: copy(key), value: copy(value), headers }
}

function copy(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
