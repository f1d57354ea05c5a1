import { placeText } from './chosen-block.ts'
import { rfc3339 } from './delivery-headers.ts'
import type { InPlaceEvent } from './in-place-event.ts'
import type { BlockedEvent } from './status.ts'
import type { Subscription } from './subscription.ts'

/** The events that a subscription is blocked at (row B5): none where it goes on without what is exhausted; then `inPlace` is not asked. */
export function blocksOf(
  { faultTolerance }: Pick<Subscription, 'faultTolerance'>,
  inPlace: () => readonly InPlaceEvent[],
): readonly BlockedEvent[] {
  if (faultTolerance !== 'prohibited') return []
  return inPlace().flatMap(({ state, eventId, standing }) => {
    if (standing.kind !== 'blocked') return []
    const { attempts, lastOutcome } = state
    return [{ ...placeOf(state.source), eventId, attempts, lastOutcome, since: rfc3339(standing.since) }]
  })
}

/** Why it does not go on, and with which command it does. */
export function blockedText(id: string, blocked: readonly BlockedEvent[]): string {
  const [first] = blocked
  if (first === undefined) return ''
  const { eventId, attempts, lastOutcome } = first
  // It stands in a sentence for a person, and anybody may have written it.
  const event = eventId !== null && /^[!-~]{1,128}$/.test(eventId) ? `event ${eventId}` : 'an event'
  const outcome = lastOutcome === null ? '' : `, the last one ${lastOutcome}`
  const after = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${outcome}`
  const place = placeText(first)
  const others = blocked.length === 1 ? '' : `, and at ${blocked.length - 1} more`
  const named = blocked.length === 1 ? '' : ` --event ${place}`
  return (
    `blocked at ${event} (${place}) after ${after}${others}: mend its receiver and say ` +
    `\`barnabas start ${id}${named}\`, or go on without it with \`barnabas skip ${id}${named}\``
  )
}

function placeOf({ topic, partition, offset }: InPlaceEvent['state']['source']) {
  return { topic, partition, offset }
}
