import { rfc3339 } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import { pause } from './pause.ts'
import type { RefusalLog } from './refusal-log.ts'
import type { Target, TargetWrite } from './target.ts'

export interface TargetCounts {
  /** So many dead letters that the target has taken. */
  carried(target: string, letters: number): void
  /** One that it refuses for good. */
  refusedByTarget(target: string, subscriptionId: string): void
}

export interface TargetWriterOptions {
  /** As `targetText` writes it. */
  readonly target: string
  readonly to: Pick<Target, 'write'>
  readonly counts: TargetCounts
  readonly refusals: Pick<RefusalLog, 'write'>
  /** ms since the epoch. */
  readonly now: () => number
  readonly logger: Logger
}

export interface TargetWriter {
  /**
   * Resolves with true when each dead letter is accepted or refused for good, with false when `signal` was given or
   * `isLost` says that others write them.
   */
  write(letters: readonly KafkaRecord[], isLost: () => boolean, signal: AbortSignal): Promise<boolean>
}

/** Pauses while a target takes nothing, in ms: doubled from the first to the longest. */
export const targetPauses = { firstMs: 1_000, longestMs: 60_000 } as const

/**
 * Writes dead letters until each has its end: what is accepted or refused stays so, and what may pass is tried again
 * without end, so that a target that is away loses nothing (row B7). The pauses are real time: they are no delays of a
 * subscription.
 */
export function createTargetWriter({ target, to, counts, refusals, now, logger }: TargetWriterOptions): TargetWriter {
  let isFailing = false

  /** Gives those that are to be tried again, and why. */
  async function settled(letters: readonly KafkaRecord[], writes: readonly TargetWrite[], signal: AbortSignal) {
    const left: KafkaRecord[] = []
    let why = 'it gave no answer'
    let accepted = 0
    for (const [index, letter] of letters.entries()) {
      const write = writes[index]
      if (write?.kind === 'accepted') accepted += 1
      else if (write?.kind === 'refused' && (await isListed(letter, write, signal))) continue
      else {
        left.push(letter)
        if (write !== undefined) why = write.message
      }
    }
    if (accepted > 0) counts.carried(target, accepted)
    return { left, why }
  }

  /** False when our own stop came first: then it is not over. */
  async function isListed(
    letter: KafkaRecord,
    { code, message }: TargetWrite & { readonly kind: 'refused' },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { topic, partition, offset, headers } = letter
    const id = headers['barnabas-subscription']
    const subscription = Buffer.isBuffer(id) ? id.toString('utf8') : null
    const refusal = { target, topic, partition, offset, subscription, code, message, at: rfc3339(now()) }
    if (!(await refusals.write(refusal, signal))) return false
    const position = `${topic}/${partition}/${offset}`
    const named = subscription ?? '(unknown)'
    counts.refusedByTarget(target, named)
    logger.error(
      { target, subscription: named, position, code, error: message },
      `${target} refuses the dead letter ${position} of ${named} for good: ${message}; it stays in its topic`,
    )
    return true
  }

  function tell(why: string | null): void {
    if (why !== null && !isFailing) {
      logger.warn({ target, error: why }, `cannot carry dead letters to ${target}: ${why}; trying again`)
    }
    if (why === null && isFailing) logger.info({ target }, `dead letters are carried to ${target} again`)
    isFailing = why !== null
  }

  return {
    async write(letters, isLost, signal) {
      let pending = letters
      let pauseMs: number = targetPauses.firstMs
      for (;;) {
        const [first, ...others] = pending
        if (first === undefined) return true
        if (signal.aborted || isLost()) return false
        const { left, why } = await settled(pending, await to.write([first, ...others], signal), signal)
        if (left.length > 0 && signal.aborted) return false
        tell(left.length === 0 ? null : why)
        if (left.length === 0) return true
        // What is making its way through is not slowed down.
        if (left.length < pending.length) pauseMs = targetPauses.firstMs
        pending = left
        await pause(pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, targetPauses.longestMs)
      }
    },
  }
}
