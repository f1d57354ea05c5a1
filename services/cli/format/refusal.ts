import type { TargetRefusal } from '@barnabas/core'
import { positionText } from '../dead-letter-record.ts'
import { table } from './table.ts'

export function refusalTable(refusals: readonly TargetRefusal[]): string {
  return table(
    ['TIME', 'SUBSCRIPTION', 'TARGET', 'POSITION', 'CODE', 'MESSAGE'],
    refusals.map((refusal) => [
      refusal.at,
      refusal.subscription ?? '',
      refusal.target,
      positionText(refusal),
      refusal.code,
      refusal.message,
    ]),
  )
}
