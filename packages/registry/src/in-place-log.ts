import { claimsToBeInPlace, parseInPlaceEvent, progressKey, progressPosition } from '@barnabas/core'
import type { EventPosition, InPlaceEvent, KafkaRecord } from '@barnabas/core'

/** The events that stay where they are, from what is read and from what this process itself wrote. Per key the highest offset counts. Pure. */
export interface InPlaceLog {
  /** Which subscription the record says something new of; null for none. `isDamaged`: it says nothing that can be read. */
  apply(
    record: Pick<KafkaRecord, 'key' | 'value' | 'offset'>,
  ): { readonly id: string; readonly isDamaged: boolean } | null
  /** Of one life of a subscription, by topic, partition and offset. */
  of(subscriptionId: string, generation: number): readonly InPlaceEvent[]
  /** Of every life of it. */
  positionsOf(subscriptionId: string): readonly EventPosition[]
}

export function createInPlaceLog(): InPlaceLog {
  const bySubscription = new Map<string, Map<string, { readonly offset: number; readonly event: InPlaceEvent }>>()

  return {
    apply({ key, value, offset }) {
      const name = key?.toString('utf8') ?? ''
      const position = progressPosition(name)
      if (position === null) return null
      const id = position.subscriptionId
      const known = bySubscription.get(id)
      if (offset <= (known?.get(name)?.offset ?? -1)) return null
      if (value === null) {
        if (known?.delete(name) !== true) return null
        if (known.size === 0) bySubscription.delete(id)
        return { id, isDamaged: false }
      }
      const event = parseInPlaceEvent(name, value)
      // What is known of it stands: whoever wrote over it, did not take the event away.
      if (event === null) return claimsToBeInPlace(value) ? { id, isDamaged: true } : null
      const events = known ?? new Map<string, { readonly offset: number; readonly event: InPlaceEvent }>()
      bySubscription.set(id, events.set(name, { offset, event }))
      return { id, isDamaged: false }
    },
    of(subscriptionId, generation) {
      const events = [...(bySubscription.get(subscriptionId)?.values() ?? [])].map(({ event }) => event)
      return events.filter(({ state }) => state.generation === generation).toSorted(byPosition)
    },
    positionsOf: (subscriptionId) =>
      [...(bySubscription.get(subscriptionId)?.values() ?? [])].map(({ event: { state } }) => state),
  }
}

function byPosition({ state: one }: InPlaceEvent, { state: other }: InPlaceEvent): number {
  if (one.source.topic !== other.source.topic) return progressKey(one) < progressKey(other) ? -1 : 1
  return one.source.partition - other.source.partition || one.source.offset - other.source.offset
}
