import { isSplit, isSuccess, touches, wasHeard } from './attempt.ts'
import type { Attempt, Ledger, Letter, Sent, Turn } from './ledger.ts'
import { violation } from './violation.ts'
import type { Violation } from './violation.ts'

/**
 * What came out of turn. In a lane nothing of an event is attempted before all that stand before it have ended: were
 * taken, or became dead letters. What has ended may come again after a fault, also behind what was begun meanwhile;
 * that lets nothing else overtake. Where a process stood still, what it had under way comes when it likes.
 */
export function outOfTurn(ledger: Ledger): readonly Violation[] {
  const attempts = Map.groupBy(ledger.attempts, ({ id }) => id)
  const letters = Map.groupBy(ledger.letters, ({ id }) => id)
  const events = [...ledger.sent].flatMap(([id, sent]) =>
    sent.turn === undefined
      ? []
      : [
          eventOf(
            id,
            sent,
            sent.turn,
            (attempts.get(id) ?? []).filter((each) => !isSplit(each)),
            letters.get(id) ?? [],
          ),
        ],
  )
  return [...Map.groupBy(events, ({ turn }) => turn.lane).values()].flatMap((lane) => {
    const inTurn = lane.toSorted((a, b) => a.turn.offset - b.turn.offset)
    return [...overtaking(ledger, inTurn), ...comingAgain(ledger, inTurn)]
  })
}

interface LaneEvent {
  readonly id: string
  readonly sent: Sent
  readonly turn: Turn
  readonly attempts: readonly Attempt[]
  readonly endedAt: number
}

function eventOf(
  id: string,
  sent: Sent,
  turn: Turn,
  attempts: readonly Attempt[],
  letters: readonly Letter[],
): LaneEvent {
  const ends = [...attempts.filter(isSuccess).map(goneAt), ...letters.map(({ at }) => at)]
  // That it is lost is said elsewhere: what comes after the last that was seen of it is not out of turn for that.
  const endedAt = ends.length > 0 ? Math.min(...ends) : Math.max(...attempts.map(goneAt))
  return { id, sent, turn, attempts, endedAt }
}

function overtaking({ windows }: Ledger, lane: readonly LaneEvent[]): readonly Violation[] {
  const zombies = windows.filter(({ leavesZombie }) => leavesZombie === true)
  let last: LaneEvent | undefined
  return lane.flatMap((event) => {
    const before = last
    if (before === undefined || event.endedAt > before.endedAt) last = event
    if (before === undefined) return []
    const first = event.attempts.find(
      ({ at }) => at < before.endedAt && !zombies.some((window) => touches(window, at, at)),
    )
    if (first === undefined) return []
    const message = `attempt ${first.number} came ${before.endedAt - first.at} ms before event ${before.id} had ended`
    return [violation(event.id, 'order', `${message}, the one before it in ${event.turn.lane}`)]
  })
}

function comingAgain({ windows, policy }: Ledger, lane: readonly LaneEvent[]): readonly Violation[] {
  let begun: { readonly id: string; readonly at: number } | undefined
  return lane.toReversed().flatMap(({ id, sent, turn, attempts, endedAt }) => {
    const behind = begun
    for (const { at } of attempts) if (begun === undefined || at < begun.at) begun = { id, at }
    // A copy that the producer made by trying again stands behind others, and has its turn there.
    if (behind === undefined || sent.copies > 1) return []
    const again = attempts.find(
      (attempt) =>
        attempt.at > endedAt &&
        attempt.notBefore > behind.at &&
        // Whose sender has given it up may have been on its way for long.
        wasHeard(attempt, policy) &&
        !windows.some(
          (window) =>
            touches(window, endedAt, endedAt) ||
            touches(window, attempt.at, attempt.answeredAt ?? attempt.at + policy.timeoutMs),
        ),
    )
    if (again === undefined) return []
    const message = `attempt ${again.number} came again after event ${behind.id} was begun`
    return [violation(id, 'order', `${message}, the one behind it in ${turn.lane}, and no fault excuses it`)]
  })
}

function goneAt({ at, answeredAt }: Attempt): number {
  return answeredAt ?? at
}
