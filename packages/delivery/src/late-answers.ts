import type { AttemptResult, DeliveryState, LateSuccess } from '@barnabas/core'
import type { Logger } from './logger.ts'

/** Where it is known that a receiver took an event after all (row A7). */
export interface LateSuccesses {
  write(late: LateSuccess): Promise<void>
  lateSuccessOf(state: DeliveryState): LateSuccess | null
}

/**
 * Waits for the answer to an attempt that has timed out, and makes a success known to whoever comes to the queued
 * retry. Whatever else is answered by then says nothing that a time-out did not.
 */
export async function awaitLateAnswer(
  lateAnswer: Promise<AttemptResult | null>,
  { subscriptionId, generation, source, redrives, attempts }: DeliveryState,
  successes: LateSuccesses,
  logger: Logger,
): Promise<void> {
  const answer = await lateAnswer
  if (answer === null || answer.outcome !== 'Delivered' || answer.status === null) return
  const { status, endedAt } = answer
  const { topic, partition, offset } = source
  logger.debug(
    { subscription: subscriptionId, topic, partition, offset, attempts, status },
    `${subscriptionId}: attempt ${attempts} was answered ${status} after its deadline; its retry is withdrawn if it is still queued`,
  )
  await successes.write({ subscriptionId, generation, source, redrives, attempt: attempts, status, at: endedAt })
}
