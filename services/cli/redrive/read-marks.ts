import { parseRedriveMark } from '@barnabas/core'
import type { Cluster } from '../cluster.ts'
import { createOffsetSet } from './offset-set.ts'
import type { OffsetSet } from './offset-set.ts'

/**
 * Which dead letters were sent again, as it stands now. Marks of a topic that was deleted and made anew do not count:
 * its offsets have begun again. `topicIds` as it is now, by topic.
 */
export async function readRedriveMarks(
  { kafka, names }: Pick<Cluster, 'kafka' | 'names'>,
  topicIds: ReadonlyMap<string, string>,
): Promise<OffsetSet> {
  const marks = createOffsetSet()
  const partitions = await kafka.admin.offsets([names.redrives])
  for (const { topic, partition, low, high } of partitions) {
    for await (const { records } of kafka.readRange({ topic, partition, from: low, to: high })) {
      for (const { key, value } of records) {
        const mark = parseRedriveMark(key, value)
        if (mark === null) continue
        const present = topicIds.get(mark.topic) ?? null
        if (mark.topicId !== null && present !== null && mark.topicId !== present) continue
        marks.add(mark.topic, mark.partition, mark.offset)
      }
    }
  }
  return marks
}
