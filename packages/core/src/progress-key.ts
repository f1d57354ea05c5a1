import type { DeliveryState } from './delivery-state.ts'

/** Whose event it is, and where it came from. */
export type EventPosition = Pick<DeliveryState, 'subscriptionId' | 'generation' | 'source'>

/** The key of an event's record in `barnabas.progress`: no part of it can contain a `/`. */
export function progressKey({
  subscriptionId,
  generation,
  source: { topic, partition, offset },
}: EventPosition): string {
  return `${subscriptionId}/${generation}/${topic}/${partition}/${offset}`
}

/** The position that the key names, null for any other text. */
export function progressPosition(key: string): EventPosition | null {
  const position = /^([a-z0-9-]{1,63})\/(\d{1,15})\/([\w.-]{1,249})\/(\d{1,10})\/(\d{1,15})$/.exec(key)
  if (position === null) return null
  const [, subscriptionId = '', generation, topic = '', partition, offset] = position
  const source = { topic, partition: Number(partition), offset: Number(offset) }
  return { subscriptionId, generation: Number(generation), source }
}
