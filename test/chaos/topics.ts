import type { KafkaRecord } from '@barnabas/core'
import type { KafkaClient, LogReader } from '@barnabas/kafka'
import type { Fate, Letter, Sent, Turn } from './ledger.ts'

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

/**
 * What really stands on the source topics: a producer that tries again may have written an event twice. `turnOf` is asked
 * of the first of them.
 */
export async function sentEvents(
  kafka: KafkaClient,
  topics: readonly string[],
  fates: readonly Fate[],
  turnOf: (index: number, record: KafkaRecord) => Turn | null,
): Promise<ReadonlyMap<string, Sent>> {
  const sent = new Map<string, Sent>(fates.map((fate, index) => [String(index), { fate, copies: 0 }]))
  for (const topic of topics) {
    const source = reader(kafka, topic, (record) => {
      const id = String(record.headers['ce_id'])
      const known = sent.get(id)
      if (known === undefined) return
      const turn = known.turn ?? turnOf(Number(id), record)
      sent.set(id, { ...known, copies: known.copies + 1, ...(turn === null ? {} : { turn }) })
    })
    await source.start()
    await source.stop()
  }
  return sent
}
