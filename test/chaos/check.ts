import { isSplit, isSuccess, touches, wasHeard } from './attempt.ts'
import { outOfTurn } from './check-order.ts'
import type { Attempt, Ending, Fate, Ledger, Letter, Sent } from './ledger.ts'
import { violation } from './violation.ts'
import type { Rule, Violation } from './violation.ts'

/**
 * Everything that is wrong with a run: the services that ended, then event by event, then what came out of turn. Nothing
 * is wrong with an empty list.
 */
export function check(ledger: Ledger): readonly Violation[] {
  const attempts = Map.groupBy(ledger.attempts, ({ id }) => id)
  const letters = Map.groupBy(ledger.letters, ({ id }) => id)
  const unknown = [...new Set([...attempts.keys(), ...letters.keys()])].filter((id) => !ledger.sent.has(id))
  return [
    ...ledger.endings.map(endedByItself),
    ...unknown.map((id) => violation(id, 'unknown', 'was never sent')),
    ...[...ledger.sent].flatMap(([id, sent]) =>
      checkEvent(ledger, { id, sent, attempts: attempts.get(id) ?? [], letters: letters.get(id) ?? [] }),
    ),
    ...outOfTurn(ledger),
  ]
}

interface EventHistory {
  readonly id: string
  readonly sent: Sent
  readonly attempts: readonly Attempt[]
  readonly letters: readonly Letter[]
}

function checkEvent(ledger: Ledger, history: EventHistory): readonly Violation[] {
  const { id, sent, letters } = history
  // A copy that the producer made by trying again is an event of its own with the same id: what is extra cannot be told.
  const attempts = history.attempts.filter((attempt) => !isSplit(attempt)).toSorted((a, b) => a.at - b.at)
  const delivered = attempts.some(isSuccess)
  const found: Violation[] = []
  const say = (rule: Rule, message: string): void => void found.push(violation(id, rule, message))

  if (!delivered && letters.length === 0) {
    say('lost', `neither delivered nor dead-lettered after ${attempts.length} attempts`)
  }
  for (const { number } of attempts) {
    if (number > ledger.policy.maxAttempts)
      say('above-maximum', `attempt ${number} of at most ${ledger.policy.maxAttempts}`)
  }
  for (const letter of letters) {
    const isExhausted = letter.reason === 'MaxDeliveryAttemptsExceeded'
    if (letter.attempts > ledger.policy.maxAttempts || (isExhausted && letter.attempts < ledger.policy.maxAttempts)) {
      say('above-maximum', `a dead letter (${letter.reason}) after ${letter.attempts} attempts`)
    }
  }
  found.push(...earlyAttempts(ledger, id, attempts))
  if (sent.copies > 1) return found

  // A split that nobody heard was an attempt to its sender.
  const cutAnswers = history.attempts.filter(
    (attempt) => attempt.answeredAt !== null && !wasHeard(attempt, ledger.policy),
  ).length
  const excused = excusedBy(ledger, attempts, letters) + cutAnswers
  const extraAttempts = extraAttemptsOf(attempts)
  const extraLetters = Math.max(0, letters.length - (delivered ? 0 : 1))
  if (extraAttempts > excused || extraLetters > excused) {
    say(
      'extra',
      `${extraAttempts} attempts and ${extraLetters} dead letters more than there should be, ` +
        `faults excuse ${excused}: ${told(attempts)}, ${letters.length} dead letters`,
    )
  }
  if (excused > 0) return found
  const numbers = attempts.map(({ number }) => number)
  if (numbers.some((number, index) => number !== index + 1)) say('out-of-order', told(attempts))
  if (letters.length > 0 && !isHopeless(sent.fate)) say('given-up', `a dead letter after ${told(attempts)}`)
  return found
}

/** Against every attempt before it with the number before its own: one of them must have ended long enough ago. */
function earlyAttempts({ policy }: Ledger, id: string, attempts: readonly Attempt[]): readonly Violation[] {
  return attempts.flatMap((attempt) => {
    const before = attempts.filter(({ number, at }) => number === attempt.number - 1 && at <= attempt.at)
    const delayMs = policy.delaysMs[Math.min(attempt.number - 2, policy.delaysMs.length - 1)] ?? 0
    if (attempt.number < 2 || before.length === 0) return []
    // Of what its sender did not hear it knew no sooner than it was on its way.
    const knownAt = (each: Attempt): number => (wasHeard(each, policy) ? each.answeredAt! : each.notBefore)
    const dueAt = Math.min(...before.map((each) => knownAt(each) + delayMs))
    if (attempt.at >= dueAt) return []
    return [violation(id, 'early', `attempt ${attempt.number} came ${dueAt - attempt.at} ms before it was due`)]
  })
}

/** Attempts whose number was there already or that follow a success. */
function extraAttemptsOf(attempts: readonly Attempt[]): number {
  const seen = new Set<number>()
  const first = attempts.find(isSuccess)
  let extra = 0
  for (const attempt of attempts) {
    const isAfterSuccess = first !== undefined && attempt !== first && attempt.at > (first.answeredAt ?? first.at)
    if (seen.has(attempt.number) || isAfterSuccess) extra += 1
    seen.add(attempt.number)
  }
  return extra
}

/**
 * How many extra attempts are excused: one by each window that overlaps an attempt or the writes that belong to it; in
 * the outage of some brokers one for each attempt number.
 */
function excusedBy({ windows, policy }: Ledger, attempts: readonly Attempt[], letters: readonly Letter[]): number {
  const spans = [
    ...attempts.map(({ number, at, answeredAt }) => ({ number, from: at, to: answeredAt ?? at + policy.timeoutMs })),
    ...letters.map(({ at, attempts: number }) => ({ number, from: at, to: at })),
  ]
  return windows
    .map((window) => {
      const touched = spans.filter(({ from, to }) => touches(window, from, to))
      const numbers = new Set(touched.map(({ number }) => number)).size
      return window.isPartialOutage === true ? numbers : Math.min(1, numbers)
    })
    .reduce((sum, excused) => sum + excused, 0)
}

function isHopeless(fate: Fate): boolean {
  return fate.kind === 'always-fails'
}

function told(attempts: readonly Attempt[]): string {
  return attempts.map(({ number, status }) => `${number} (${status ?? 'no answer'})`).join(', ') || 'no attempt'
}

function endedByItself({ service, pid, status, lastLine }: Ending): Violation {
  return violation(null, 'ended', `a ${service} (${pid}) ended by itself with status ${status}: ${lastLine}`)
}
