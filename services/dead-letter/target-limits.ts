import type { KafkaRecord } from '@barnabas/core'
import { unavailable } from './target-write.ts'
import type { TargetWrite } from './target.ts'

/** What the work comes to, or, as soon as `signal` is given, that it was cut off; the work itself goes on. */
export async function unlessStopped(
  letters: readonly KafkaRecord[],
  signal: AbortSignal,
  work: () => Promise<readonly TargetWrite[]>,
): Promise<readonly TargetWrite[]> {
  const cut = letters.map(() => unavailable('cut off by our own stop'))
  if (signal.aborted) return cut
  const { promise: stopped, resolve: stop } = Promise.withResolvers<readonly TargetWrite[]>()
  const onAbort = () => stop(cut)
  signal.addEventListener('abort', onAbort)
  const writes = await Promise.race([work(), stopped])
  signal.removeEventListener('abort', onAbort)
  return writes
}

/** Waits until all of it has closed, and no longer than that for what does not answer. */
export async function closedWithin(limitMs: number, closing: Iterable<Promise<void>>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, limitMs)))
  await Promise.race([Promise.all(closing), late])
  clearTimeout(timer)
}
