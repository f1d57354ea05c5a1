import type { Cluster } from './cluster.ts'
import type { DeadLetterRecord, InputOf } from './dead-letter-record.ts'
import { readDeadLetter } from './dead-letter-record.ts'
import type { DeadLetterSelection } from './dead-letter-selection.ts'
import { isSelected, selectsAll } from './dead-letter-selection.ts'
import { createPatience } from './patience.ts'
import type { Store } from './store.ts'

export interface DeadLetterQuery {
  readonly topics: readonly string[]
  readonly selection: DeadLetterSelection
  readonly inputOf: InputOf
  /** The newest so many. */
  readonly limit: number
}

export interface FoundDeadLetters {
  /** The newest last. */
  readonly letters: readonly DeadLetterRecord[]
  /** Whether older ones were left out. */
  readonly isCut: boolean
}

/** Every topic that dead letters go to: the default one and those that subscriptions name. */
export function deadLetterTopics({ names }: Pick<Cluster, 'names'>, { subscriptions }: Store): readonly string[] {
  const named = subscriptions.ids().flatMap((id) => {
    const stored = subscriptions.stored(id)
    return stored.kind === 'valid' && stored.subscription.deadLetter !== null
      ? [stored.subscription.deadLetter.topic]
      : []
  })
  return [...new Set([names.deadLetter, ...named])]
}

/** As subscriptions read now; one that is gone, or made anew with another `input`, does not say how it read then. */
export function inputsOf({ subscriptions }: Pick<Store, 'subscriptions'>): InputOf {
  return (id) => {
    const stored = subscriptions.stored(id)
    return stored.kind === 'valid' ? stored.subscription : null
  }
}

/**
 * The newest dead letters that fit the query. Without a selection only the ends of the partitions are read, as far as
 * `limit` of them may reach back; with one, or when those were too few, everything.
 */
export async function readDeadLetters(
  cluster: Cluster,
  query: DeadLetterQuery,
  onProgress: (readRecords: number, ofRecords: number) => void,
): Promise<FoundDeadLetters> {
  const offsets = await cluster.kafka.admin.offsets(query.topics)
  const startsAt = (reachBack: number) =>
    offsets.map((each) => ({ ...each, start: Math.max(each.low, each.high - reachBack) }))
  if (selectsAll(query.selection)) {
    const partial = await readFrom(cluster, query, startsAt(query.limit + 1), onProgress)
    if (partial.isCut || offsets.every(({ low, high }) => high - low <= query.limit + 1)) return partial
  }
  return await readFrom(cluster, query, startsAt(Infinity), onProgress)
}

interface PartitionStart {
  readonly topic: string
  readonly partition: number
  readonly high: number
  readonly start: number
}

async function readFrom(
  { kafka }: Cluster,
  { selection, limit, inputOf }: DeadLetterQuery,
  partitions: readonly PartitionStart[],
  onProgress: (readRecords: number, ofRecords: number) => void,
): Promise<FoundDeadLetters> {
  const ofRecords = partitions.reduce((sum, { high, start }) => sum + high - start, 0)
  let readRecords = 0
  let isCut = false
  let letters: DeadLetterRecord[] = []
  const newest = () => {
    letters.sort((one, other) => compare(one.time, other.time) || one.record.offset - other.record.offset)
    isCut ||= letters.length > limit
    letters = letters.slice(-limit)
  }
  for (const [topic, ofTopic] of Map.groupBy(partitions, (each) => each.topic)) {
    const patience = createPatience()
    const reader = kafka.logReader({
      topic,
      onTrouble: (trouble) => patience.onTrouble(trouble),
      from: (partition) => ofTopic.find((each) => each.partition === partition)?.start,
      onRecord(record) {
        readRecords += 1
        onProgress(readRecords, ofRecords)
        const letter = readDeadLetter(record, inputOf)
        if (letter === null || !isSelected(letter, selection)) return
        letters.push(letter)
        // Sorted now and then, so that millions of them never stand in memory.
        if (letters.length >= 2 * limit + 1_000) newest()
      },
    })
    await patience.while(reader.start())
    await reader.stop()
  }
  newest()
  return { letters, isCut }
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}
