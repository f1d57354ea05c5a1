import { parseTargetRefusal } from '@barnabas/core'
import type { TargetRefusal } from '@barnabas/core'
import type { Cluster } from './cluster.ts'

/** What targets refuse for good, the newest last, each once; empty where the topic is not there yet. */
export async function readRefusals({
  kafka,
  names,
}: Pick<Cluster, 'kafka' | 'names'>): Promise<readonly TargetRefusal[]> {
  const byKey = new Map<string, TargetRefusal>()
  for (const { topic, partition, low, high } of await kafka.admin.offsets([names.refusals])) {
    for await (const { records } of kafka.readRange({ topic, partition, from: low, to: high })) {
      for (const { key, value } of records) {
        const refusal = parseTargetRefusal(value)
        if (refusal !== null) byKey.set(String(key), refusal)
      }
    }
  }
  return [...byKey.values()].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}
