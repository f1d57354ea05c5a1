import { parseHealth } from '@barnabas/core'
import type { HealthRecord, KafkaRecord } from '@barnabas/core'

/** The health topic as a map, from what is read and from what this process itself wrote. Per key the highest offset counts. Pure. */
export interface HealthLog {
  /** What the record changed, null for nothing. `now` is when it was heard. */
  apply(record: Pick<KafkaRecord, 'key' | 'value' | 'offset'>, now: number): HealthChange | null
  /** Of one subscription, whatever their life and process. */
  of(subscription: string): readonly HealthRecord[]
  subscriptions(): readonly string[]
  /** Those that have said that they live, and not that they have left. */
  processes(): readonly string[]
  /** When the process was last heard to live; null when it has left, or never was. */
  presentAt(process: string): number | null
}

export interface HealthChange {
  readonly subscription: string
  readonly process: string
  readonly isThere: boolean
}

export function createHealthLog(): HealthLog {
  const offsets = new Map<string, number>()
  const records = new Map<string, Map<string, HealthRecord>>()
  const present = new Map<string, number>()

  return {
    apply({ key, value, offset }, now) {
      const said = parseHealth(key, value)
      if (said === null || key === null) return null
      const name = key.toString('utf8')
      if (offset <= (offsets.get(name) ?? -1)) return null
      offsets.set(name, offset)
      if (said.kind === 'presence') {
        if (said.isThere) present.set(said.process, now)
        else present.delete(said.process)
        return null
      }
      const { subscription, process, record } = said
      const ofSubscription = records.get(subscription) ?? new Map<string, HealthRecord>()
      if (record !== null) ofSubscription.set(process, record)
      else ofSubscription.delete(process)
      if (ofSubscription.size > 0) records.set(subscription, ofSubscription)
      else records.delete(subscription)
      return { subscription, process, isThere: record !== null }
    },
    of: (subscription) => [...(records.get(subscription)?.values() ?? [])],
    subscriptions: () => [...records.keys()],
    processes: () => [...present.keys()],
    presentAt: (process) => present.get(process) ?? null,
  }
}
