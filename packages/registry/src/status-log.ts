import { parseStatus } from '@barnabas/core'
import type { KafkaRecord, StatusRecord } from '@barnabas/core'

/**
 * The status topic as a map, from what is read and from what this process itself wrote (which it knows before it
 * reads it back). Per id the highest offset counts. Pure.
 */
export interface StatusLog {
  /** The id whose status changed with this record, null for none. */
  apply(record: Pick<KafkaRecord, 'key' | 'value' | 'offset'>): string | null
  get(id: string): StatusRecord | null
  /** Whether anything stands under the id, be it damaged. */
  has(id: string): boolean
  all(): readonly StatusRecord[]
}

export function createStatusLog(): StatusLog {
  const stands = new Map<
    string,
    { readonly offset: number; readonly status: StatusRecord | null; readonly there: boolean }
  >()

  return {
    apply({ key, value, offset }) {
      if (key === null) return null
      const id = key.toString('utf8')
      const present = stands.get(id)
      if (present !== undefined && offset <= present.offset) return null
      stands.set(id, { offset, status: parseStatus(value, id), there: value !== null })
      return id
    },
    get: (id) => stands.get(id)?.status ?? null,
    has: (id) => stands.get(id)?.there ?? false,
    all: () => [...stands.values()].flatMap(({ status }) => status ?? []),
  }
}
