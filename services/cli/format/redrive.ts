import type { RedriveTally } from '../redrive/redrive.ts'
import { grouped } from './sent.ts'

/** One line of how far it is. */
export function redriveProgress(
  { sent, readRecords, records }: RedriveTally,
  isDryRun: boolean,
  elapsedMs: number,
): string {
  const perSecond = elapsedMs === 0 ? 0 : Math.round((sent * 1_000) / elapsedMs)
  const sending = isDryRun ? `would send ${grouped(sent)}` : `sent ${grouped(sent)} (${grouped(perSecond)}/s)`
  return `${sending}, read ${grouped(readRecords)} of ${grouped(records)}`
}

export function redriveText(
  { selected, sent, alreadySent, left }: RedriveTally,
  isDryRun: boolean,
  elapsedMs: number,
): string {
  const inTime = isDryRun ? '' : ` in ${(elapsedMs / 1_000).toFixed(1)} s`
  const lines = [
    `${isDryRun ? 'would send' : 'sent'} ${grouped(sent)} of ${grouped(selected)} dead letters again${inTime}`,
  ]
  if (alreadySent > 0) lines.push(`  ${grouped(alreadySent)} were sent again before`)
  for (const [because, { count, first, detail }] of left) {
    lines.push(`  ${grouped(count)} left: ${because}; the first is ${first}: ${detail}`)
  }
  return lines.join('\n')
}

export function redriveJson(
  { selected, sent, alreadySent, left }: RedriveTally,
  isDryRun: boolean,
  elapsedMs: number,
): string {
  const leftJson = [...left].map(([because, { count, first, detail }]) => ({ because, count, first, detail }))
  const seconds = elapsedMs / 1_000
  return JSON.stringify({ dryRun: isDryRun, selected, sent, alreadySent, seconds, left: leftJson }, null, 2)
}
