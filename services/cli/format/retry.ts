import { formatDuration } from '@barnabas/core'
import type { DelayStep, RetryPolicy } from '@barnabas/core'

/** The delays in words: `10s, 30s, 1m, then every 12h`; equal ones in a row as `167 × 512s`. */
export function delaysText({ delays, repeatLast }: Pick<RetryPolicy, 'delays' | 'repeatLast'>): string {
  const runs: { text: string; count: number }[] = []
  for (const step of repeatLast ? delays.slice(0, -1) : delays) {
    const text = stepText(step)
    const last = runs.at(-1)
    if (last?.text === text) last.count += 1
    else runs.push({ text, count: 1 })
  }
  const words = runs.map(({ text, count }) => (count === 1 ? text : `${count} × ${text}`))
  const last = delays.at(-1)
  if (repeatLast && last !== undefined) words.push(`${words.length === 0 ? '' : 'then '}every ${stepText(last)}`)
  return words.length === 0 ? 'none' : words.join(', ')
}

function stepText({ baseMs, spreadMs }: DelayStep): string {
  return spreadMs === 0 ? formatDuration(baseMs) : `${formatDuration(baseMs)} (+ up to ${formatDuration(spreadMs)})`
}

/** When it ends: `30 attempts, 1d after the first`. */
export function limitsText({ maxAttempts, timeToLiveMs }: Pick<RetryPolicy, 'maxAttempts' | 'timeToLiveMs'>): string {
  const attempts =
    maxAttempts === Number.MAX_SAFE_INTEGER ? null : `${maxAttempts} attempt${maxAttempts === 1 ? '' : 's'}`
  const time = timeToLiveMs === null ? null : `${formatDuration(timeToLiveMs)} after the first attempt`
  return [attempts, time].filter((limit) => limit !== null).join(', or ')
}
