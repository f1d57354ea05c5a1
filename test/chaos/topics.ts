import type { KafkaRecord } from '@barnabas/core'
import type { KafkaClient, LogReader } from '@barnabas/kafka'
import type { Fate, Letter, Sent } from './ledger.ts'

/** Follows the dead letters of a run. */
export function letterReader(kafka: KafkaClient, onLetter: (letter: Letter) => void): LogReader {
  return reader(kafka, 'barnabas.dead-letter', (record) => onLetter(letterOf(record)))
}

function reader(kafka: KafkaClient, topic: string, onRecord: (record: KafkaRecord) => void) {
  return kafka.logReader({ topic, from: 'beginning', onRecord })
}

function letterOf(record: KafkaRecord): Letter {
  const text = (name: string): string => {
    const value = record.headers[name]
    return Buffer.isBuffer(value) ? value.toString() : ''
  }
  return {
    id: text('ce_id'),
    attempts: Number(text('barnabas-attempts')),
    reason: text('barnabas-dead-letter-reason'),
    at: record.timestamp,
  }
}

/** What really stands on the source topics: a producer that tries again may have written an event twice. */
export async function sentEvents(
  kafka: KafkaClient,
  topics: readonly string[],
  fates: readonly Fate[],
): Promise<ReadonlyMap<string, Sent>> {
  const copies = new Map<string, number>()
  for (const topic of topics) {
    const source = reader(kafka, topic, ({ headers }) => {
      const id = String(headers['ce_id'])
      copies.set(id, (copies.get(id) ?? 0) + 1)
    })
    await source.start()
    await source.stop()
  }
  return new Map(fates.map((fate, index) => [String(index), { fate, copies: copies.get(String(index)) ?? 0 }]))
}
