import type { BlockedEvent } from './status.ts'

/** Which block an operator means: the one that is named, or the only one there is. */
export type ChosenBlock =
  | { readonly kind: 'block'; readonly block: BlockedEvent }
  /** Nothing is blocked, or not that one, or it must be said which: a sentence for a person. */
  | { readonly kind: 'refused'; readonly message: string }

/** `event` is `TOPIC/PARTITION/OFFSET` as it was written on a command line, undefined when it was left out. */
export function chosenBlock(blocked: readonly BlockedEvent[], event: string | undefined): ChosenBlock {
  const places = blocked.map(placeText)
  const [only] = blocked
  if (only === undefined) return refused('it is not blocked')
  if (event === undefined) {
    if (blocked.length === 1) return { kind: 'block', block: only }
    return refused(`it is blocked at ${blocked.length} events; say which with --event: ${places.join(', ')}`)
  }
  const named = blocked.find((each) => placeText(each) === event)
  if (named !== undefined) return { kind: 'block', block: named }
  if (!/^[\w.-]{1,249}\/\d{1,10}\/\d{1,15}$/.test(event)) {
    return refused(
      `--event ${JSON.stringify(event)} is not TOPIC/PARTITION/OFFSET; it is blocked at ${places.join(', ')}`,
    )
  }
  return refused(`it is not blocked at ${event}, but at ${places.join(', ')}`)
}

/** As it is written on a command line. */
export function placeText({ topic, partition, offset }: Pick<BlockedEvent, 'topic' | 'partition' | 'offset'>): string {
  return `${topic}/${partition}/${offset}`
}

function refused(message: string): ChosenBlock {
  return { kind: 'refused', message }
}
