import type { KafkaRecord } from '@barnabas/core'
import type { PartitionOffsets } from '@barnabas/kafka'
import type { Cluster } from './cluster.ts'
import type { DeadLetterRecord, InputOf } from './dead-letter-record.ts'
import { readDeadLetter } from './dead-letter-record.ts'
import { deadLetterTopics } from './read-dead-letters.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'

/** The topic that was named, which must exist, or all that dead letters go to and that exist. */
export async function presentDeadLetterTopics(
  cluster: Cluster,
  store: Store,
  topic: string | undefined,
): Promise<readonly string[]> {
  const existing = await cluster.kafka.admin.topics()
  if (topic === undefined) return deadLetterTopics(cluster, store).filter((each) => existing.has(each))
  if (existing.has(topic)) return [topic]
  throw new Refusal(`topic ${topic} does not exist`)
}

/**
 * Every dead letter of these partitions up to the ends that they had, partition by partition, in the order of their
 * offsets and in small pieces: memory stays flat. `readRecords` counts what was read before and with this piece.
 */
export async function* storedDeadLetters(
  { kafka }: { readonly kafka: Pick<Cluster['kafka'], 'readRange'> },
  partitions: readonly PartitionOffsets[],
  inputOf: InputOf,
): AsyncGenerator<{ readonly letters: Iterable<DeadLetterRecord>; readonly readRecords: number }> {
  let before = 0
  for (const { topic, partition, low, high } of partitions) {
    for await (const { records, nextOffset } of kafka.readRange({ topic, partition, from: low, to: high })) {
      yield { letters: lettersAmong(records, inputOf), readRecords: before + nextOffset - low }
    }
    before += high - low
  }
}

/** One after the other, when they are asked for: decoded, a piece is many times as large. */
function* lettersAmong(records: readonly KafkaRecord[], inputOf: InputOf): Generator<DeadLetterRecord> {
  for (const record of records) {
    const letter = readDeadLetter(record, inputOf)
    if (letter !== null) yield letter
  }
}
